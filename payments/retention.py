"""Retention of snapshots, challenges and events."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef

from payments.models import HoldingSnapshot, Payment, PaymentEvent, SpentChallenge

# For staff, as an explanation of tiers. The newest snapshot that a tier depends on is kept at any age: a wallet that
# was inactive for a month and still holds as much keeps its tier.
SNAPSHOT_RETENTION = timedelta(days=7)
# Of payments that were released because nothing was sent.
EVENT_RETENTION = timedelta(days=30)


def purge_expired(*, now: datetime) -> None:
    before = now - timedelta(seconds=settings.TIER_UPGRADE_AGE_S)
    HoldingSnapshot.objects.superseded_at(before).filter(read_at__lt=now - SNAPSHOT_RETENTION).delete()
    SpentChallenge.objects.filter(expires_at__lt=now).delete()
    is_released = ~Exists(Payment.objects.filter(pk=OuterRef("payment_id")))
    PaymentEvent.objects.filter(is_released, at__lt=now - EVENT_RETENTION).delete()

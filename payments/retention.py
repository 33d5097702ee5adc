"""Forgets what payments keep for a while."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef

from payments.models import HoldingSnapshot, Payment, PaymentEvent, SpentChallenge

# Staff see for so long how a tier came about. What a tier is judged by stays however old it is: a wallet that was
# quiet for a month and still holds as much is not to begin anew.
SNAPSHOTS_KEPT = timedelta(days=7)
# Of payments that were let go because nothing was sent.
EVENTS_KEPT = timedelta(days=30)


def purge(*, now: datetime) -> None:
    """Delete old snapshots, challenges that nobody could sign again, and events of payments that are gone."""
    old_enough = now - timedelta(seconds=settings.TIER_UPGRADE_AGE_S)
    HoldingSnapshot.objects.superseded_at(old_enough).filter(read_at__lt=now - SNAPSHOTS_KEPT).delete()
    SpentChallenge.objects.filter(expires_at__lt=now).delete()
    gone = ~Exists(Payment.objects.filter(pk=OuterRef("payment_id")))
    PaymentEvent.objects.filter(gone, at__lt=now - EVENTS_KEPT).delete()

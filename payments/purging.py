"""Forgets what payments keep for a while."""

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from payments.models import HoldingSnapshot, Payment, PaymentEvent, SpentChallenge

# A tier is judged by the snapshots of the last day at most.
SNAPSHOTS_KEPT = timedelta(days=7)
# Of payments that were let go because nothing was sent.
EVENTS_KEPT = timedelta(days=30)


def purge(*, now: datetime) -> None:
    """Delete old snapshots, challenges that nobody could sign again, and events of payments that are gone."""
    HoldingSnapshot.objects.filter(read_at__lt=now - SNAPSHOTS_KEPT).delete()
    SpentChallenge.objects.filter(expires_at__lt=now).delete()
    gone = ~Exists(Payment.objects.filter(pk=OuterRef("payment_id")))
    PaymentEvent.objects.filter(gone, at__lt=now - EVENTS_KEPT).delete()

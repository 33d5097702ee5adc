"""Retention of events: they and their deliveries are deleted after EVENT_RETENTION_DAYS."""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef

from accounts.models import Event, WebhookDelivery, on_clock_of
from framework.db.batched_delete import delete_in_batches


def purge_events(*, now: datetime, venue: UUID | None = None) -> None:
    """Delete events after EVENT_RETENTION_DAYS (0: never), unless a delivery is pending.

    Those of this venue, or of all without a clock of their own.
    """
    if settings.EVENT_RETENTION_DAYS:
        kept_since = now - timedelta(days=settings.EVENT_RETENTION_DAYS)
        expired = Event.objects.filter(on_clock_of(venue), created_at__lt=kept_since)
        pending = WebhookDelivery.objects.filter(event=OuterRef("pk"), state=WebhookDelivery.State.PENDING)
        delete_in_batches(expired.exclude(Exists(pending)).order_by("created_at"))

"""Deletes checkout sessions, with the contacts in them, that nobody needs any more."""

from datetime import datetime
from uuid import UUID

from accounts.models import on_clock_of
from framework.db.batched_delete import delete_in_batches
from orders.models import CheckoutSession


def delete_past(*, now: datetime, venue: UUID | None = None) -> None:
    """Delete those of this venue, or of all without a clock of their own, some time after their end."""
    delete_in_batches(CheckoutSession.objects.past(now=now).filter(on_clock_of(venue)).order_by("pk"))

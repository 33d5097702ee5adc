"""Celery tasks of reservations."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from accounts.models import Venue
from reservations import dispatch
from reservations.booking import email_confirmation, waitlist
from reservations.floor import rename_table
from reservations.guests import retention
from reservations.mail import queue, reminders


@shared_task(name=dispatch.SEND_GUEST_MAIL)
def send_guest_mail(**_: Any) -> None:
    """Send a batch of due mail, and enqueue the task again until none is left."""
    if queue.send_due(now=timezone.now()):
        dispatch.enqueue_guest_mail()


@shared_task(name="reservations.tasks.queue_reminders")
def queue_reminders(**_: Any) -> None:
    """Queue the reminders that are due."""
    reminders.queue_reminders(now=timezone.now())


@shared_task(name=dispatch.OFFER_TABLES)
def offer_tables(*, venue: str, **_: Any) -> None:
    """Process the waiting list of one venue."""
    waitlist.process_waitlist(Venue.objects.get(pk=venue), now=timezone.now())


@shared_task(name="reservations.tasks.cancel_unconfirmed_bookings")
def cancel_unconfirmed_bookings(**_: Any) -> None:
    """Cancel online bookings that were not confirmed in time."""
    email_confirmation.cancel_unconfirmed(now=timezone.now())


@shared_task(name="reservations.tasks.erase_expired_guests")
def erase_expired_guests(**_: Any) -> None:
    """Erase guests whose retention period is over."""
    retention.erase_expired_guests(now=timezone.now())


@shared_task(name="reservations.tasks.process_waiting_lists")
def process_waiting_lists(**_: Any) -> None:
    """Enqueue each venue with a waiting list, and update table names that a rename has left outdated."""
    now = timezone.now()
    for venue in waitlist.venues_to_process(now=now):
        dispatch.enqueue_table_offers(venue)
    rename_table.update_table_names(now=now, actor="system")

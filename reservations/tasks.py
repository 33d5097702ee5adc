"""Celery tasks of reservations."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from accounts import sandbox_clock
from accounts.models import Venue
from reservations.booking import email_confirmation, holds, waitlist
from reservations.booking_page import branding
from reservations.floor import tables as floor
from reservations.guests import retention
from reservations.mail import queue
from reservations.notifications import enqueue_guest_mail


@shared_task(name="reservations.tasks.send_guest_mail")
def send_guest_mail(**_: Any) -> None:
    """Send a batch of due mail, and enqueue the task again until none is left."""
    queue.requeue_ahead(now=timezone.now())
    if queue.send_due(now=timezone.now()):
        enqueue_guest_mail()


@shared_task(name="reservations.tasks.queue_reminders")
def queue_reminders(**_: Any) -> None:
    queue.queue_reminders(now=timezone.now())


@shared_task(name="reservations.tasks.offer_tables")
def offer_tables(*, venue: str, **_: Any) -> None:
    found = Venue.objects.get(pk=venue)
    if not sandbox_clock.run_due(found):
        waitlist.process_waitlist(found, now=timezone.now())


@shared_task(name="reservations.tasks.cancel_unconfirmed_bookings")
def cancel_unconfirmed_bookings(**_: Any) -> None:
    email_confirmation.cancel_unconfirmed(now=timezone.now())


@shared_task(name="reservations.tasks.delete_expired_holds")
def delete_expired_holds(**_: Any) -> None:
    holds.delete_expired(now=timezone.now())


@shared_task(name="reservations.tasks.delete_unused_images")
def delete_unused_images(**_: Any) -> None:
    branding.delete_unused_images(now=timezone.now())


@shared_task(name="reservations.tasks.erase_expired_guests")
def erase_expired_guests(**_: Any) -> None:
    retention.erase_expired_guests(now=timezone.now())


@shared_task(name="reservations.tasks.process_waiting_lists")
def process_waiting_lists(**_: Any) -> None:
    """Enqueue each venue with a waiting list, and update table names that a rename has left outdated."""
    now = timezone.now()
    for venue in waitlist.venues_to_process(now=now):
        waitlist.enqueue_table_offers(venue)
    floor.update_table_names(now=now, actor="system")

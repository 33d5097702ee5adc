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


@shared_task(name=dispatch.SEND_NOTICES)
def send_notices(**_: Any) -> None:
    """Send some of the mail that is due, and ring again until none is."""
    if queue.send_due(now=timezone.now()):
        dispatch.ring_for_notices()


@shared_task(name="reservations.tasks.write_reminders")
def write_reminders(**_: Any) -> None:
    """Write the reminders that are due."""
    reminders.write(now=timezone.now())


@shared_task(name=dispatch.OFFER_TABLES)
def offer_tables(*, venue: str, **_: Any) -> None:
    """Look through the waiting list of one venue."""
    waitlist.look(Venue.objects.get(pk=venue), now=timezone.now())


@shared_task(name="reservations.tasks.release_unproven")
def release_unproven(**_: Any) -> None:
    """Give up what no guest has proven in time."""
    email_confirmation.release(now=timezone.now())


@shared_task(name="reservations.tasks.forget_guests")
def forget_guests(**_: Any) -> None:
    """Forget guests whom their venues have known for long enough."""
    retention.forget_past(now=timezone.now())


@shared_task(name="reservations.tasks.sweep_waiting_lists")
def sweep_waiting_lists(**_: Any) -> None:
    """Ring for each venue where somebody waits, and mend what a rename has left behind."""
    now = timezone.now()
    for venue in waitlist.venues(now=now):
        dispatch.ring_for_tables(venue)
    rename_table.mend(now=now, actor="system")

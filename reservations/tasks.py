"""Celery tasks of reservations."""

from typing import Any

from django.utils import timezone

from accounts.models import Venue
from config.celery import app
from reservations import bells, forgetting, notices, proving, reminders, renaming, waiting


@app.task(name=bells.SEND_NOTICES)
def send_notices(**_: Any) -> None:
    """Send some of the mail that is due, and ring again until none is."""
    if notices.send_due(now=timezone.now()):
        bells.ring_for_notices()


@app.task(name="reservations.tasks.write_reminders")
def write_reminders(**_: Any) -> None:
    """Write the reminders that are due."""
    reminders.write(now=timezone.now())


@app.task(name=bells.OFFER_TABLES)
def offer_tables(*, venue: str, **_: Any) -> None:
    """Look through the waiting list of one venue."""
    waiting.look(Venue.objects.get(pk=venue), now=timezone.now())


@app.task(name="reservations.tasks.release_unproven")
def release_unproven(**_: Any) -> None:
    """Give up what no guest has proven in time."""
    proving.release(now=timezone.now())


@app.task(name="reservations.tasks.forget_guests")
def forget_guests(**_: Any) -> None:
    """Forget guests whom their venues have known for long enough."""
    forgetting.forget_past(now=timezone.now())


@app.task(name="reservations.tasks.sweep_waiting_lists")
def sweep_waiting_lists(**_: Any) -> None:
    """Ring for each venue where somebody waits, and mend what a rename has left behind."""
    now = timezone.now()
    for venue in waiting.venues(now=now):
        bells.ring_for_tables(venue)
    renaming.mend(now=now, actor="system")

"""Rings for the workers of reservations by the names of their tasks: verbs ring, and the tasks import the verbs."""

from typing import Any, cast
from uuid import UUID

from celery import Task, current_app

from framework.tasks import dispatch

SEND_NOTICES = "reservations.tasks.send_notices"
OFFER_TABLES = "reservations.tasks.offer_tables"
# As often as the beat looks for what nobody was rung for (config/celery.py).
SWEEP_S = 60


def ring_for_notices() -> None:
    """Ask a worker to send the mail that is due; call it after the commit. The beat asks each minute."""
    dispatch.ring(named(SEND_NOTICES), otherwise="mail to guests waits for the next sweep", expires_s=SWEEP_S)


def ring_for_tables(venue: UUID) -> None:
    """Ask a worker to look through the venue's waiting list; call it after the commit. The beat asks each minute."""
    dispatch.ring(
        named(OFFER_TABLES),
        otherwise="the waiting list is looked through at the next sweep",
        expires_s=SWEEP_S,
        venue=str(venue),
    )


def named(name: str) -> Task[Any, Any]:
    """What rings for the task of this name; a web process need not have imported it."""
    return cast("Task[Any, Any]", current_app.signature(name))

"""Enqueues the tasks of reservations by name: the task modules import the code that calls this."""

from uuid import UUID

from celery import current_app

from framework.tasks.dispatch import enqueue

SEND_NOTICES = "reservations.tasks.send_notices"
OFFER_TABLES = "reservations.tasks.offer_tables"
# The periodic tasks look for waiting work this often (config/celery.py).
SWEEP_S = 60


def enqueue_notices() -> None:
    """Ask a worker to send the mail that is due; call it after the commit."""
    enqueue(current_app.signature(SEND_NOTICES), expires_s=SWEEP_S)


def enqueue_table_offers(venue: UUID) -> None:
    """Ask a worker to process the venue's waiting list; call it after the commit."""
    enqueue(current_app.signature(OFFER_TABLES), expires_s=SWEEP_S, venue=str(venue))

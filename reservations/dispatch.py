"""Enqueues the tasks of reservations by name: the task modules import the code that calls this."""

from uuid import UUID

from celery import current_app

from framework.tasks.dispatch import enqueue

SEND_GUEST_MAIL = "reservations.tasks.send_guest_mail"
OFFER_TABLES = "reservations.tasks.offer_tables"
# Interval of the periodic tasks that find waiting work (config/celery.py).
POLL_INTERVAL_S = 60


def enqueue_guest_mail() -> None:
    """Enqueue the task that sends due mail; call it after the commit."""
    enqueue(current_app.signature(SEND_GUEST_MAIL), expires_s=POLL_INTERVAL_S)


def enqueue_table_offers(venue: UUID) -> None:
    """Enqueue the task that processes the venue's waiting list; call it after the commit."""
    enqueue(current_app.signature(OFFER_TABLES), expires_s=POLL_INTERVAL_S, venue=str(venue))

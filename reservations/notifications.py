"""Records a change of a reservation: the event for webhooks and the email to the guest."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from celery import current_app
from django.db import transaction

from accounts.models import EventType
from accounts.webhooks import outbox
from framework.tasks.dispatch import enqueue
from reservations.models import GuestMail, Reservation
from reservations.serializers import to_json

# Interval of the periodic tasks that find waiting work (config/celery.py).
POLL_INTERVAL_S = 60


def record_change(
    reservation: Reservation,
    event: EventType,
    *,
    mail: GuestMail.Kind | None,
    former: Mapping[str, Any] | None = None,
    actor: str,
    now: datetime,
) -> None:
    """Insert the event with the current record, and the email of this kind if the guest can be emailed.

    `former` are the values before the change that the email names (differences.to_former). Call it in the transaction
    of the change. At most two statements, three with `former`; the mail task is enqueued after the commit.
    """
    outbox.record_event(
        reservation.venue, event, record=to_json(reservation), subject=reservation.pk, actor=actor, now=now
    )
    if mail and can_email(reservation, mail, now=now):
        GuestMail.objects.create(
            reservation=reservation,
            kind=mail,
            former=unsent_former(reservation) or former if former else None,
            next_attempt_at=now,
            created_at=now,
        )
        transaction.on_commit(enqueue_guest_mail)


def unsent_former(reservation: Reservation) -> Mapping[str, Any] | None:
    """Return the values before the first change of which the guest has no email yet. One query.

    Only the newest of several emails is sent, and the guest knows the values before the first.
    """
    mails = GuestMail.objects.filter(reservation=reservation, state=GuestMail.State.PENDING, former__isnull=False)
    return mails.order_by("pk").values_list("former", flat=True).first()


def can_email(reservation: Reservation, kind: str, *, now: datetime) -> bool:
    """Return whether the venue emails its guests, the guest has an address, and the reservation has not started.

    Requests to confirm the booking are sent even if the venue's other emails are off.
    """
    is_enabled = reservation.venue.mails_guests or kind == GuestMail.Kind.EMAIL_CONFIRMATION
    return bool(is_enabled and reservation.customer_email and reservation.starts_at > now)


def enqueue_guest_mail() -> None:
    """Enqueue the task that sends due mail, by name: its module imports this one. Call it after the commit."""
    enqueue(current_app.signature("reservations.tasks.send_guest_mail"), expires_s=POLL_INTERVAL_S)

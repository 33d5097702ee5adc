"""Tells of what has happened to a reservation: the event for callers, the mail for the guest."""

from datetime import datetime

from django.db import transaction

from accounts.models import EventType
from accounts.webhooks import outbox
from reservations import reservation_json as written
from reservations.dispatch import enqueue_notices
from reservations.models import Notice, Reservation


def tell(reservation: Reservation, event: EventType, *, notice: Notice.Kind | None, actor: str, now: datetime) -> None:
    """Store the event with the record as callers see it now, and the mail to the guest.

    Call it inside the transaction of the change, once the reservation shows what has become of it. There is no mail
    to a guest who left no address, from a venue that sends none, or about a party whose time has come. Two statements
    at most; the mail task is enqueued after the commit.
    """
    outbox.record_event(
        reservation.venue,
        event,
        record=written.of(reservation),
        subject=reservation.pk,
        actor=actor,
        now=now,
    )
    if notice is None or not is_mailed(reservation, notice, now=now):
        return
    Notice.objects.create(reservation=reservation, kind=notice, next_try_at=now, created_at=now)
    transaction.on_commit(enqueue_notices)


def is_mailed(reservation: Reservation, notice: str, *, now: datetime) -> bool:
    """Whether this guest can be written to, and there is still something to say.

    A venue that sends no mail and asks for proof is asked to send that one.
    """
    is_sent = reservation.venue.mails_guests or notice == Notice.Kind.PROOF
    return bool(is_sent and reservation.customer_email and reservation.starts_at > now)

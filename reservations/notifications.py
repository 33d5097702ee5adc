"""Records a change of a reservation: the event for webhooks and the email to the guest."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from celery import current_app
from django.db import transaction
from django.db.models import F, Q

from accounts.models import EventType
from accounts.webhooks import outbox
from framework.tasks.dispatch import enqueue
from reservations.models import GuestMail, Reservation
from reservations.serializers import to_json

# Interval of the periodic tasks that find waiting work (config/celery.py).
POLL_INTERVAL_S = 60
# Email about a change by staff waits so long, so that an undo sends nothing.
GRACE_PERIOD = timedelta(seconds=60)
NO_DELAY = timedelta(0)
WITHDRAWABLE = (GuestMail.Kind.CHANGED, GuestMail.Kind.CANCELLED)


def record_change(
    reservation: Reservation,
    event: EventType,
    *,
    mail: GuestMail.Kind | None,
    former: Mapping[str, Any] | None = None,
    mail_after: timedelta | None = NO_DELAY,
    actor: str,
    now: datetime,
) -> None:
    """Insert the event with the current record, and the email of this kind if the guest can be emailed.

    `former` are the values before the change that the email names (differences.to_former). The email is due after
    `mail_after`; None sends no email. Call it in the transaction of the change. At most two statements, three with
    `former`; the mail task is enqueued after the commit.
    """
    outbox.record_event(
        reservation.venue, event, record=to_json(reservation), subject=reservation.pk, actor=actor, now=now
    )
    if mail and mail_after is not None and can_email(reservation, mail, now=now):
        due_at = now + mail_after
        GuestMail.objects.create(
            reservation=reservation,
            kind=mail,
            former={**former, **(unsent_former(reservation) or {})} if former else None,
            next_attempt_at=due_at,
            created_at=now,
        )
        # Delayed email is found by the periodic task.
        if due_at <= now:
            transaction.on_commit(enqueue_guest_mail)


def withdraw_mail(reservation: Reservation, mail: UUID) -> bool:
    """Delete an email about a change or cancellation by staff if no attempt to send it has begun.

    Returns whether the guest gets none. Also True for an email that was withdrawn before. Deletes in one conditional
    statement: a worker that claims the email counts its attempt in the same row. The email before it, which was
    dropped because this one replaced it, becomes due again. Two statements.
    """
    mails = GuestMail.objects.filter(reservation=reservation)
    unsent = mails.filter(pk=mail, kind__in=WITHDRAWABLE, state=GuestMail.State.PENDING, attempts=0)
    deleted, _by_model = unsent.delete()
    if not deleted:
        return not mails.filter(pk=mail).exists()
    previous = mails.filter(pk__lt=mail).order_by("-pk").values("pk")[:1]
    # A worker that is about to drop the previous one stores nothing after this: `attempts` is its fencing token.
    is_dropped = Q(state=GuestMail.State.DROPPED) | Q(state=GuestMail.State.PENDING, leased_until__isnull=False)
    revived = mails.filter(is_dropped, pk__in=previous)
    if revived.update(state=GuestMail.State.PENDING, leased_until=None, attempts=F("attempts") + 1):
        transaction.on_commit(enqueue_guest_mail)
    return True


def find_unsent_mail(reservation: Reservation, *, now: datetime) -> GuestMail | None:
    """Return the newest email about a change or cancellation that can still be withdrawn. One query."""
    unsent = reservation.guest_mails.filter(kind__in=WITHDRAWABLE, state=GuestMail.State.PENDING, attempts=0)
    return unsent.filter(next_attempt_at__gt=now).order_by("-pk").first()


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

"""Erases a guest: who it was is gone from reservations, events, answers and notes; that somebody came stays."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction

from accounts.models import Event, EventType, IdempotentCall, WebhookDelivery
from framework.errors import InvalidRequest
from framework.public_ids import encode
from reservations.guests.profiles import GUESTS_LOCK, Guest
from reservations.models import Notice, Reservation, Visitor
from reservations.models.reservations import PREFIX
from reservations.notifications import tell
from reservations.serializers import ReservationRecord

NAME = "Erased guest"
BLANK: dict[str, Any] = {
    "customer_name": NAME,
    "customer_email": None,
    "customer_phone": None,
    "special_requests": "",
    "metadata": {},
}
EVENTS = "UPDATE accounts_event SET record = record || %(blank)s::jsonb WHERE subject = ANY(%(keys)s)"
# Apps above this one add here, in AppConfig.ready, what deletes their own data of the guests of these reservations.
ERASERS: list[Callable[[Sequence[UUID]], object]] = []
# A call and the reservation that it made were written in one transaction.
AROUND = timedelta(minutes=5)


class StillExpected(InvalidRequest):
    """The guest has a reservation that is not over."""


class NotTheName(InvalidRequest):
    """What was typed is not the guest's name."""


def erase(guest: Guest, *, name: str, typed: str, now: datetime, actor: str) -> int:
    """Make every reservation of the guest one of nobody, and forget what was noted; say how many there were.

    `typed` is what the staff wrote to say that they mean it: the `name`. What is told of the visits by events and to
    webhooks from now on names nobody; what others were told before is theirs to erase. It is never taken back.
    Raises NotTheName, StillExpected; then nothing is changed.
    """
    if " ".join(typed.split()).casefold() != " ".join(name.split()).casefold():
        raise NotTheName("Type the exact name shown above.", param="typed")
    with transaction.atomic():
        GUESTS_LOCK.acquire(guest.venue.pk)
        rows = list(guest.reservations.order_by("pk").select_for_update(no_key=True))
        ahead = [row for row in rows if row.status != Reservation.Status.CANCELLED and row.ends_at > now]
        if ahead:
            when = f"{ahead[0].time:%H:%M} on {ahead[0].date}"
            raise StillExpected(f"The guest has a reservation at {when}. Cancel it first, or wait until it is over.")
        blank_all(rows, guest=guest, now=now, actor=actor)
    return len(rows)


def blank_all(rows: Sequence[Reservation], *, guest: Guest, now: datetime, actor: str) -> None:
    """Take the guest out of these, which this transaction has locked, and of all that was told, kept and noted."""
    for row in rows:
        row.venue = guest.venue
        blank(row, now=now)
    forget([row.pk for row in rows])
    for row in rows:
        forget_answers(row)
        tell(row, EventType.RESERVATION_UPDATED, notice=None, actor=actor, now=now)
    Visitor.objects.filter(pk__in=[visitor.pk for visitor in guest.visitors], venue=guest.venue).delete()


def blank(row: Reservation, *, now: datetime) -> None:
    """Take the guest out of a row that this transaction has locked."""
    for column, value in BLANK.items():
        setattr(row, column, value)
    row.erased_at = row.updated_at = now
    row.version += 1
    row.save(update_fields=[*BLANK, "erased_at", "updated_at", "version"])


def forget(keys: Sequence[UUID]) -> None:
    """Take the guest out of what was told and kept of these reservations, and stop the mail that waits.

    Five statements, and those of ERASERS.
    """
    with connection.cursor() as cursor:
        cursor.execute(EVENTS, {"blank": json.dumps(BLANK), "keys": list(keys)})
    # What others answered may repeat what they were sent.
    WebhookDelivery.objects.filter(event__in=Event.objects.filter(subject__in=keys)).update(last_answer="")
    mail = Notice.objects.filter(reservation__in=keys)
    mail.filter(state=Notice.State.PENDING).update(state=Notice.State.DROPPED, leased_until=None)
    mail.update(last_error="")
    its = ContentType.objects.get_for_model(Reservation)
    LogEntry.objects.filter(content_type=its, object_id__in=[str(key) for key in keys]).update(object_repr=NAME)
    for forget_more in ERASERS:
        forget_more(keys)


def forget_answers(row: Reservation) -> None:
    """Take the guest out of the answer that is kept for a call that may be sent again; it is still one effect."""
    public_id = encode(PREFIX, row.pk).encode()
    near = (row.created_at - AROUND, row.created_at + AROUND)
    for call in IdempotentCall.objects.filter(created_at__range=near, body__isnull=False):
        body = bytes(call.body or b"")
        if public_id in body or row.code.encode() in body:
            IdempotentCall.objects.filter(pk=call.pk).update(body=without(body))


def without(body: bytes) -> bytes:
    """The answer with the fields that name the guest emptied, wherever they stand in it."""

    def emptied(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: BLANK[key] if key in BLANK else emptied(its) for key, its in value.items()}
        return [emptied(one) for one in value] if isinstance(value, list) else value

    return json.dumps(emptied(json.loads(body)), separators=(",", ":"), ensure_ascii=False).encode()


def kept(guest: Guest, *, now: datetime) -> dict[str, Any]:
    """All that the venue knows of a guest, for the guest to read, as JSON has it. Three queries."""
    rows = list(guest.reservations.order_by("starts_at", "id"))
    for row in rows:
        row.venue = guest.venue
    keys = [row.pk for row in rows]
    events = Event.objects.filter(subject__in=keys).order_by("created_at", "id")
    notices = Notice.objects.filter(reservation__in=keys).order_by("created_at", "id")
    return {
        "venue": guest.venue.name,
        "written_at": now,
        "contacts": sorted(guest.contacts),
        "notes": [{"note": its.note, "tags": its.tags} for its in guest.visitors],
        "reservations": [ReservationRecord(row).data | {"arrival": row.arrival} for row in rows],
        "history": [
            {"at": event.created_at, "type": event.type, "reservation": encode(PREFIX, event.subject)}
            for event in events
            if event.subject
        ],
        "mail": [
            {"at": one.created_at, "kind": one.kind, "state": one.state, "sent_at": one.sent_at} for one in notices
        ],
    }

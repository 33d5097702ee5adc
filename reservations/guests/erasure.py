"""Erasure of a guest's personal data from reservations, events, mail, stored answers and notes, and its export."""

import json
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.utils.translation import gettext as _

from accounts.models import Event, EventType, IdempotentCall, Venue, WebhookDelivery
from framework.errors import InvalidRequest
from framework.public_ids import encode
from reservations.guests.profiles import GUESTS_LOCK, Guest
from reservations.models import GuestMail, GuestProfile, Reservation
from reservations.models.reservations import PREFIX
from reservations.notifications import record_change
from reservations.serializers import to_json

ERASED_NAME = "Erased guest"
ERASED: dict[str, Any] = {
    "customer_name": ERASED_NAME,
    "customer_email": None,
    "customer_phone": None,
    "special_requests": "",
    "metadata": {},
}
ERASE_EVENTS = "UPDATE accounts_event SET record = record || %(erased)s::jsonb WHERE subject = ANY(%(keys)s)"
# Apps above this one register, in AppConfig.ready, functions that erase their own data of these reservations.
ERASERS: list[Callable[[Sequence[UUID]], object]] = []
# Functions that erase their own data of these contacts, lower-case e-mail addresses and numbers, at this venue.
CONTACT_ERASERS: list[Callable[[Venue, Collection[str]], object]] = []
# A reservation and the stored answer of its API call have the same transaction time, within this tolerance.
CALL_TOLERANCE = timedelta(minutes=5)


class HasUpcomingReservation(InvalidRequest):
    """The guest has a reservation that has not ended."""


class NameMismatch(InvalidRequest):
    """The typed name is not the guest's name."""


def erase(guest: Guest, *, name: str, typed: str, now: datetime, actor: str) -> int:
    """Erase the guest's data irreversibly, and return the number of reservations.

    `typed` must equal the `name`. Later events and webhooks contain no personal data; receivers of earlier ones have
    to erase theirs. Raises NameMismatch, HasUpcomingReservation; then nothing is changed.
    """
    if " ".join(typed.split()).casefold() != " ".join(name.split()).casefold():
        raise NameMismatch(_("Type the exact name shown above."), param="typed")
    with transaction.atomic():
        GUESTS_LOCK.acquire(guest.venue.pk)
        rows = list(guest.reservations.order_by("pk").select_for_update(no_key=True))
        upcoming = [row for row in rows if row.status != Reservation.Status.CANCELLED and row.ends_at > now]
        if upcoming:
            message = _(
                "The guest has a reservation at %(time)s on %(day)s. Cancel it first, or wait until it has ended."
            )
            values = {"time": f"{upcoming[0].time:%H:%M}", "day": upcoming[0].date}
            raise HasUpcomingReservation(message % values)
        erase_reservations(rows, guest=guest, now=now, actor=actor)
        for eraser in CONTACT_ERASERS:
            eraser(guest.venue, guest.contacts)
    return len(rows)


def erase_reservations(rows: Sequence[Reservation], *, guest: Guest, now: datetime, actor: str) -> None:
    """Erase the guest from these reservations, which the transaction has locked, and from everything about them."""
    keys = [row.pk for row in rows]
    # 1. The rows.
    for row in rows:
        row.venue = guest.venue
        for column, value in ERASED.items():
            setattr(row, column, value)
        row.erased_at = now
        row.save_version(*ERASED, "erased_at", now=now)
    # 2. Events, and the answers of webhook receivers, which may repeat them.
    with connection.cursor() as cursor:
        cursor.execute(ERASE_EVENTS, {"erased": json.dumps(ERASED), "keys": keys})
    WebhookDelivery.objects.filter(event__in=Event.objects.filter(subject__in=keys)).update(last_response="")
    # 3. Mail: queued mail is dropped.
    mails = GuestMail.objects.filter(reservation__in=keys)
    mails.filter(state=GuestMail.State.PENDING).update(state=GuestMail.State.DROPPED, leased_until=None)
    mails.update(last_error="")
    # 4. The log of the back office, and the data of other apps.
    content_type = ContentType.objects.get_for_model(Reservation)
    entries = LogEntry.objects.filter(content_type=content_type, object_id__in=[str(key) for key in keys])
    entries.update(object_repr=ERASED_NAME)
    for eraser in ERASERS:
        eraser(keys)
    # 5. Stored answers of idempotent calls; then the change is recorded.
    for row in rows:
        erase_stored_answers(row)
        record_change(row, EventType.RESERVATION_UPDATED, mail=None, actor=actor, now=now)
    # 6. The notes.
    GuestProfile.objects.filter(pk__in=[profile.pk for profile in guest.profiles], venue=guest.venue).delete()


def erase_stored_answers(row: Reservation) -> None:
    """Erase the guest from stored answers of idempotent calls; a repeated call still has one effect."""
    public_id = encode(PREFIX, row.pk).encode()
    window = (row.created_at - CALL_TOLERANCE, row.created_at + CALL_TOLERANCE)
    for call in IdempotentCall.objects.filter(created_at__range=window, body__isnull=False):
        body = bytes(call.body or b"")
        if public_id in body or row.code.encode() in body:
            IdempotentCall.objects.filter(pk=call.pk).update(body=erase_json(body))


def erase_json(body: bytes) -> bytes:
    """Replace the values of the guest's fields at any depth."""

    def erase_value(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: ERASED[key] if key in ERASED else erase_value(item) for key, item in value.items()}
        return [erase_value(item) for item in value] if isinstance(value, list) else value

    return json.dumps(erase_value(json.loads(body)), separators=(",", ":"), ensure_ascii=False).encode()


def export_guest(guest: Guest, *, now: datetime) -> dict[str, Any]:
    """Return all data that the venue stores of a guest, for the guest. Three queries."""
    rows = list(guest.reservations.order_by("starts_at", "id"))
    keys = [row.pk for row in rows]
    events = Event.objects.filter(subject__in=keys).order_by("created_at", "id")
    mails = GuestMail.objects.filter(reservation__in=keys).order_by("created_at", "id")
    return {
        "venue": guest.venue.name,
        "written_at": now,
        "contacts": guest.sorted_contacts,
        "notes": [{"note": profile.note, "tags": profile.tags} for profile in guest.profiles],
        "reservations": [to_json(row) | {"arrival": row.arrival} for row in rows],
        "history": [
            {"at": event.created_at, "type": event.type, "reservation": encode(PREFIX, event.subject)}
            for event in events
            if event.subject
        ],
        "mail": [
            {"at": mail.created_at, "kind": mail.kind, "state": mail.state, "sent_at": mail.sent_at} for mail in mails
        ],
    }

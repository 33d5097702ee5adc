"""Books a table at an offer once, however often its caller asks: what REST and MCP both call.

A caller of REST always names its booking by a key. An agent may leave the key out and repeat itself all the same, when
an answer was lost or its model thinks that it was: then what it says is the key.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from typing import Any

import orjson
from rest_framework import status
from rest_framework.response import Response

from accounts import idempotency
from catalogue import identity
from catalogue.flow import booking, choosing
from catalogue.flow.booking import Booked, NoSuchBooking
from catalogue.models import FlowBooking
from catalogue.serializers.flow import FlowBookingRecord
from config.api.addresses import public_url
from config.api.ids import decode
from config.api.renderers import JSON
from reservations.models import Reservation

OPERATION = "tools/call book_table"
# An answer about a person, with the key to it.
PRIVATE = {"Cache-Control": "no-store, private"}


@dataclass(frozen=True, slots=True)
class Minute:
    """A minute of the clock of the restaurant of this slug."""

    slug: str
    day: date
    at: time

    def __str__(self) -> str:
        return f"{self.slug} {self.day} {self.at:%H:%M}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A table that somebody wants: at the offer of this id, or at the best one of this minute.

    `guest` is what serializers.flow.NewFlowBooking reads: the party, who comes, and how they are reached.
    """

    at: str | Minute
    guest: Mapping[str, Any]

    @property
    def contact(self) -> str:
        """What the bookings of this guest are counted by."""
        return booking.contact_of(
            customer_email=self.guest.get("customer_email"), customer_phone=self.guest.get("customer_phone")
        )

    @property
    def scope(self) -> str:
        """Whose a key is. Strangers who choose the same do not meet: they would have to come with the same contact."""
        return hashlib.sha256(f"{self.at} {self.contact}".encode()).hexdigest()

    @property
    def digest(self) -> bytes:
        """SHA-256 of all that is wanted."""
        told = [str(self.at), dict(self.guest)]
        return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).digest()


def book(wish: Wish, *, now: datetime) -> Response:
    """Book it: the answer of REST, which is told again when the call is repeated under its key.

    Raises what booking.book and choosing.book_at raise, and what identity.find does.
    """
    match wish.at:
        case Minute(slug, day, at):
            booked = choosing.book_at(identity.find(slug), day=day, at=at, now=now, **wish.guest)
        case offer:
            booked = booking.book(booking.offer_key(offer), now=now, **wish.guest)
    location = public_url(f"/v1/flow/bookings/{booked.id}")
    return answer(booked, code=status.HTTP_201_CREATED, headers={"Location": location})


def answer(booked: Booked, *, code: int = status.HTTP_200_OK, headers: Mapping[str, str] | None = None) -> Response:
    """The record of a booking, which no cache keeps."""
    record = FlowBookingRecord(booked).data
    return Response(record, status=code, headers={**PRIVATE, **(headers or {})})


def book_once(wish: Wish, *, key: str | None, caller: str, now: datetime) -> bytes:
    """The record of the one booking that comes of this wish, in JSON, as it stands now.

    With a key as over REST: for 24 hours the same is no second booking, also when it was cancelled meanwhile. Without
    one the same wish of the same caller is; once that booking is cancelled the wish is a new one. `caller` is in a
    word that strangers do not share, as the record holds the guest's secret.
    Raises what `book` raises, idempotency.Reused and InProgress, and NoSuchBooking where it was erased since.
    """
    call = idempotency.Call(
        scope=wish.scope if key is not None else hashlib.sha256(f"{caller} {wish.scope}".encode()).hexdigest(),
        key=key if key is not None else wish.digest.hex(),
        operation=OPERATION,
        body_sha256=wish.digest,
        named="idempotency_key",
    )
    stands = idempotency.always if key is not None else is_held
    answered = idempotency.carried_out(call, partial(book, wish, now=now), stands=stands)
    if idempotency.REPLAYED not in answered.headers:
        return bytes(answered.data)
    found = booking_of(answered)
    if found is None:
        raise NoSuchBooking
    return JSON().render(FlowBookingRecord(booking.shown(found)).data)


def booking_of(answered: Response) -> FlowBooking | None:
    """The booking that an earlier answer speaks of. One query."""
    key = decode("fb", orjson.loads(answered.data)["id"])
    return (
        FlowBooking.objects.select_related("slot__restaurant", "reservation__venue").filter(pk=key).first()
        if key
        else None
    )


def is_held(answered: Response) -> bool:
    """Whether the table of an earlier answer is still booked."""
    found = booking_of(answered)
    return found is not None and found.reservation.status != Reservation.Status.CANCELLED

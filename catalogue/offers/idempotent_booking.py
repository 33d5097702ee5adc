"""Books a table at an offer once, however often its caller asks: what REST and MCP both call.

A caller of REST always names its booking by a key. An agent may leave the key out and repeat itself all the same, when
an answer was lost or its model thinks that it was: then what it says is the key, and a guest has one table at a time.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

import orjson

from accounts import idempotency
from accounts.idempotency import Answer
from catalogue import places
from catalogue.models import FlowBooking
from catalogue.offers import best_offer, booking
from catalogue.offers.booking import Booked, NoSuchBooking
from framework.public_ids import decode
from reservations.guests import contact_hash
from reservations.models import Reservation


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
        return contact_hash.contact_of(
            customer_email=self.guest.get("customer_email"), customer_phone=self.guest.get("customer_phone")
        )

    @property
    def scope(self) -> str:
        """Whose a key of REST is. Strangers who choose the same do not meet: each comes with another contact."""
        return hashlib.sha256(f"{self.at} {self.contact}".encode()).hexdigest()

    @property
    def digest(self) -> bytes:
        """SHA-256 of all that is wanted."""
        told = [str(self.at), dict(self.guest)]
        return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).digest()


def check(at: str | Minute, *, party_size: int, now: datetime) -> None:
    """Refuse what nobody could book, in the words of `book`, before a person is asked who is coming.

    Raises what booking.check and choosing.check_at raise, and what identity.find does.
    """
    match at:
        case Minute(slug, day, minute):
            best_offer.check_at(places.find_restaurant(slug), day=day, at=minute, party_size=party_size, now=now)
        case offer:
            booking.check(booking.offer_key(offer), seats=party_size, now=now)


def book(wish: Wish, *, now: datetime, is_only: bool = False) -> Booked:
    """Book it. Raises what booking.book and choosing.book_at raise, and what identity.find does.

    `is_only` is what it is to booking.book.
    """
    match wish.at:
        case Minute(slug, day, at):
            return best_offer.book_at(
                places.find_restaurant(slug), day=day, at=at, now=now, is_only=is_only, **wish.guest
            )
        case offer:
            return booking.book(booking.offer_key(offer), now=now, is_only=is_only, **wish.guest)


def book_once(wish: Wish, *, key: str | None, caller: str, address: str, operation: str, now: datetime) -> Booked:
    """The one booking that comes of this wish, as it stands now.

    A key books once in 24 hours, also when that was cancelled meanwhile, and nothing else that comes with it. Without
    one the same wish of the same caller is no second booking; once it is cancelled the wish is a new one, and for
    all callers the guest has one table at a time. `caller` is empty for nobody: those share their keys, as their
    addresses may change, and without a key it is `address` that tells them apart, for the record holds the guest's
    secret. `operation` is what is called, in a word. Raises what `book` raises, idempotency.Reused and InProgress, and
    NoSuchBooking where it was erased since.
    """
    whose = f"key of {caller}" if key is not None else f"{caller or address} {wish.scope}"
    call = idempotency.Call(
        scope=hashlib.sha256(whose.encode()).hexdigest(),
        key=key if key is not None else wish.digest.hex(),
        operation=operation,
        body_sha256=wish.digest,
        named="idempotency_key",
    )
    stands = idempotency.always if key is not None else is_held
    # Its id is all that is kept: the record is told as it stands.
    answered = idempotency.carried_out(
        call, lambda: Answer(body=book(wish, now=now, is_only=key is None).id.encode()), stands=stands
    )
    found = booking_of(answered)
    if found is None:
        raise NoSuchBooking
    return booking.shown(found)


def booking_of(answered: Answer) -> FlowBooking | None:
    """The booking whose id was kept. One query."""
    rows = FlowBooking.objects.select_related("slot__restaurant", "reservation__venue")
    key = decode("fb", answered.body.decode())
    return rows.filter(pk=key).first() if key else None


def is_held(answered: Answer) -> bool:
    """Whether the table of an earlier answer is still booked."""
    found = booking_of(answered)
    return found is not None and found.reservation.status != Reservation.Status.CANCELLED

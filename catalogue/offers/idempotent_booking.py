"""Book a table at an offer, or at the best one of a time, exactly once, however often the request is repeated.

REST and MCP both use it. REST clients send an idempotency key. Agents may omit it and still repeat a request, because
a response was lost or their model believes so: then the request itself is the key, and a guest has one table at a
time.
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

import orjson
from django.utils import translation
from django.utils.dateformat import format as date_format
from django.utils.text import Truncator

from accounts import idempotency
from accounts.idempotency import IdempotencyKeyReused, IdempotentRequest, StoredResponse
from catalogue import places
from catalogue.models import FlowBooking, FlowSlot
from catalogue.offers import booking, search
from catalogue.offers.booking import NoSuchBooking, NoSuchOffer, OfferExpired, SlotFull
from catalogue.offers.on_sale import Status
from catalogue.offers.search import SlotDetails
from framework.errors import ApiError, NotFound
from framework.public_ids import decode
from reservations.guests.profiles import hash_contact
from reservations.models import Reservation

# More than any restaurant has on one day.
MAX_DAY_OFFERS = 200
# Of a restaurant, in a question to a guest.
MAX_NAME_LENGTH = 80
# Other times that an error message lists.
MAX_ALTERNATIVES = 6


class AnswerAlreadyUsed(IdempotencyKeyReused):
    """Another answer of the guest to the same question has booked a table."""


class NoOfferAtTime(NotFound):
    """The restaurant has no offer for this party at this time."""


@dataclass(frozen=True, slots=True)
class RestaurantTime:
    slug: str
    day: date
    at: time

    def __str__(self) -> str:
        return f"{self.slug} {self.day} {self.at:%H:%M}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BookingRequest:
    """A request for a table: at the offer with this id, or at the best offer at this time.

    `guest` are the fields of serializers.offers.NewFlowBooking.
    """

    at: str | RestaurantTime
    guest: Mapping[str, Any]

    @property
    def scope(self) -> str:
        """The scope of an idempotency key in REST: requests of different contacts with the same key do not collide."""
        contact = hash_contact(
            customer_email=self.guest.get("customer_email"), customer_phone=self.guest.get("customer_phone")
        )
        return hashlib.sha256(f"{self.at} {contact}".encode()).hexdigest()

    @property
    def digest(self) -> bytes:
        content = [str(self.at), dict(self.guest)]
        return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).digest()


def find_offers_at(when: RestaurantTime, *, party_size: int, now: datetime) -> tuple[list[SlotDetails], ApiError]:
    """Return the bookable offers at a time, the highest discount first, and the error if none can be booked.

    The error lists other times of the day. A few queries. Raises what places.find_restaurant raises, and
    InvalidRequest for a day that is over or too far.
    """
    restaurant, at = places.find_restaurant(when.slug), when.at
    page = search.list_restaurant_slots(restaurant, day=when.day, party_size=party_size, limit=MAX_DAY_OFFERS, now=now)
    slots = page.rows
    available = [slot for slot in slots if slot.status == Status.AVAILABLE]
    offers = sorted((slot for slot in available if slot.time == at), key=lambda slot: -slot.percent)

    others = [slot for slot in available if slot.time != at]
    nearest = sorted(others, key=lambda slot: abs(_minute(slot.time) - _minute(at)))[:MAX_ALTERNATIVES]
    times = dict.fromkeys(
        f"{slot.time:%H:%M} ({slot.percent} %)" for slot in sorted(nearest, key=lambda slot: slot.time)
    )
    alternatives = f"On that day there is {', '.join(times)}." if times else "There is none on that day."
    request = f"for {party_size} at {at:%H:%M} on {when.day}"
    if any(slot.time == at and slot.status != Status.EXPIRED for slot in slots):
        return offers, SlotFull(f"There is no table {request}. {alternatives}")
    return offers, NoOfferAtTime(f"There is no offer {request}. {alternatives}")


def _minute(at: time) -> int:
    return at.hour * 60 + at.minute


def check_request(at: str | RestaurantTime, *, party_size: int, now: datetime) -> None:
    """Raise what `book_request` would raise without the guest's data, which an agent asks for only afterwards.

    Raises what booking.check_seats and find_offers_at raise, and the error that the latter returns.
    """
    match at:
        case RestaurantTime():
            offers, error = find_offers_at(at, party_size=party_size, now=now)
            if not offers:
                raise error
        case offer:
            booking.check_seats(booking.parse_offer_id(offer), seats=party_size, now=now)


def book_request(request: BookingRequest, *, now: datetime, is_only: bool = False) -> FlowBooking:
    """Book the table; at a time the highest discount, or the next one if that is sold out in the meantime.

    Raises what booking.book_offer and find_offers_at raise, and the error that the latter returns.
    """
    match request.at:
        case RestaurantTime() as when:
            offers, error = find_offers_at(when, party_size=request.guest["party_size"], now=now)
            for found in offers:
                with suppress(SlotFull, OfferExpired):
                    key = booking.parse_offer_id(found.id)
                    return booking.book_offer(key, now=now, is_only=is_only, **request.guest)
            raise error
        case offer:
            return booking.book_offer(booking.parse_offer_id(offer), now=now, is_only=is_only, **request.guest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A request for a table, and what identifies a repetition of it.

    A key identifies it for 24 hours. Without a key the request itself does, of the same caller. Anonymous callers have
    an empty `caller`: they share keys, because their addresses may change, but without a key `address` separates
    them, because the booking contains the guest's token. `question` is the id of the question that the guest has
    answered, if there was one.
    """

    request: BookingRequest
    key: str | None
    caller: str
    address: str
    operation: str
    question: str | None = None

    @property
    def by_request(self) -> IdempotentRequest:
        owner = (
            f"key of {self.caller}" if self.key is not None else f"{self.caller or self.address} {self.request.scope}"
        )
        key = self.key if self.key is not None else self.request.digest.hex()
        return self._identify(owner, key, name="idempotency_key")

    @property
    def by_question(self) -> IdempotentRequest:
        return self._identify("question", str(self.question), name="requestState")

    def _identify(self, owner: str, key: str, *, name: str) -> IdempotentRequest:
        return IdempotentRequest(
            scope=hashlib.sha256(owner.encode()).hexdigest(),
            key=key,
            operation=self.operation,
            body_sha256=self.request.digest,
            key_name=name,
        )


def book_once(attempt: Attempt, *, now: datetime) -> FlowBooking:
    """Book the table, or return the booking that an earlier identical attempt has made, in its current state.

    A key books once, even if that booking was cancelled since, and rejects a different request; so does the answer to
    a question. Without a key the same request makes no second booking unless the first was cancelled, and the guest
    has one table at a time across all callers. Raises what `book_request` raises, IdempotencyKeyReused,
    AnswerAlreadyUsed, IdempotencyInProgress, and NoSuchBooking if the booking was erased.
    """
    request, has_key = attempt.request, attempt.key is not None

    def book() -> StoredResponse:
        # Only the id is stored, because the state of the booking changes.
        return idempotency.run_once(
            attempt.by_request,
            lambda: StoredResponse(body=book_request(request, now=now, is_only=not has_key).public_id.encode()),
            is_valid=None if has_key else is_active,
        )

    stored = book() if attempt.question is None else _answer_once(attempt, book)
    found = load_booking(stored)
    if found is None:
        raise NoSuchBooking
    return found


def _answer_once(attempt: Attempt, book: Callable[[], StoredResponse]) -> StoredResponse:
    try:
        return idempotency.run_once(attempt.by_question, book)
    except IdempotencyKeyReused as error:
        if error.param != attempt.by_question.key_name:
            raise
        raise AnswerAlreadyUsed(
            "An answer to this question has booked a table already. Nothing more was booked: call again without"
            " `requestState` if the person wants one more table.",
            param=error.param,
        ) from error


def find_booked(attempt: Attempt) -> FlowBooking | None:
    """Return the booking of an earlier identical attempt; None if there is none, or it was cancelled without a key.

    One query without an earlier attempt. Raises IdempotencyKeyReused.
    """
    stored = idempotency.find_response(attempt.by_request)
    found = load_booking(stored) if stored else None
    is_over = found is not None and found.reservation.status == Reservation.Status.CANCELLED
    return None if is_over and attempt.key is None else found


def describe_table(at: str | RestaurantTime, *, party_size: int) -> str:
    """Describe a requested table to the guest, with the name of its restaurant in quotes. One query.

    Raises NoSuchOffer, and what places.find_restaurant raises.
    """
    match at:
        case RestaurantTime(slug=slug, day=day, at=time_of_day):
            name, discount = places.find_restaurant(slug).name, ""
        case offer:
            slot = FlowSlot.objects.select_related("restaurant").filter(pk=booking.parse_offer_id(offer)).first()
            if slot is None:
                raise NoSuchOffer
            name, day, time_of_day = slot.restaurant.name, slot.date, slot.time
            discount = f", with {slot.percent} % off"
    quoted = orjson.dumps(Truncator(name).chars(MAX_NAME_LENGTH)).decode()
    # Names of days and months do not depend on the locale of the process.
    with translation.override("en"):
        return (
            f"A table for {party_size} at {quoted} on {date_format(day, 'l, j F Y')} at {time_of_day:%H:%M}{discount}."
        )


def load_booking(stored: StoredResponse) -> FlowBooking | None:
    """Return the booking whose id was stored. One query."""
    bookings = FlowBooking.objects.select_related("slot__restaurant", "reservation__venue")
    key = decode("fb", stored.body.decode())
    return bookings.filter(pk=key).first() if key else None


def is_active(stored: StoredResponse) -> bool:
    """Whether the stored booking exists and is not cancelled."""
    found = load_booking(stored)
    return found is not None and found.reservation.status != Reservation.Status.CANCELLED

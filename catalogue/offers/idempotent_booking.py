"""Book a table at an offer, or at the best one of a time, exactly once, however often the request is repeated.

REST and MCP both use it. REST clients send an idempotency key. Agents may omit it and still repeat a request, because
a response was lost or their model believes so: then the request itself is the key, and a guest has one table at a
time.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

import orjson

from accounts import idempotency
from accounts.idempotency import StoredResponse
from catalogue import places
from catalogue.models import FlowBooking
from catalogue.offers import booking, search
from catalogue.offers.booking import NoSuchBooking, OfferExpired, SlotFull
from catalogue.offers.on_sale import Status
from catalogue.offers.search import SlotDetails
from framework.errors import ApiError, NotFound
from framework.public_ids import decode
from reservations.guests.profiles import hash_contact
from reservations.models import Reservation

# More than any restaurant has on one day.
MAX_DAY_OFFERS = 200
# Other times that an error message lists.
MAX_ALTERNATIVES = 6


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


def book_once(
    request: BookingRequest, *, key: str | None, caller: str, address: str, operation: str, now: datetime
) -> FlowBooking:
    """Book the table, or return the booking that an earlier identical request has made, in its current state.

    A key books once in 24 hours, even if that booking was cancelled since, and rejects a different request. Without a
    key the same request of the same caller makes no second booking unless the first was cancelled, and the guest has
    one table at a time across all callers. Anonymous callers have an empty `caller`: they share keys, because their
    addresses may change, but without a key `address` separates them, because the booking contains the guest's token.
    Raises what `book_request` raises, IdempotencyKeyReused, InProgress, and NoSuchBooking if the booking was erased.
    """
    owner = f"key of {caller}" if key is not None else f"{caller or address} {request.scope}"
    call = idempotency.IdempotentRequest(
        scope=hashlib.sha256(owner.encode()).hexdigest(),
        key=key if key is not None else request.digest.hex(),
        operation=operation,
        body_sha256=request.digest,
        key_name="idempotency_key",
    )
    # Only the id is stored, because the state of the booking changes.
    stored = idempotency.run_once(
        call,
        lambda: StoredResponse(body=book_request(request, now=now, is_only=key is None).public_id.encode()),
        is_valid=None if key is not None else is_active,
    )
    found = load_booking(stored)
    if found is None:
        raise NoSuchBooking
    return found


def load_booking(stored: StoredResponse) -> FlowBooking | None:
    """Return the booking whose id was stored. One query."""
    bookings = FlowBooking.objects.select_related("slot__restaurant", "reservation__venue")
    key = decode("fb", stored.body.decode())
    return bookings.filter(pk=key).first() if key else None


def is_active(stored: StoredResponse) -> bool:
    """Whether the stored booking exists and is not cancelled."""
    found = load_booking(stored)
    return found is not None and found.reservation.status != Reservation.Status.CANCELLED

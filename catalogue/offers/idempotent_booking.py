"""Book a table at an offer, or any table at a time, exactly once, however often the request is repeated.

REST and MCP both use it. REST clients send an idempotency key. Agents may omit it and still repeat a request, because
a response was lost or their model believes so: then the request itself is the key. In other words or with another key
it books nothing either, because a guest has one table at a time (booking.lock_guest).
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any

import orjson
from django.utils import translation
from django.utils.dateformat import format as date_format
from django.utils.text import Truncator

from accounts import idempotency
from accounts.idempotency import IdempotencyKeyReused, IdempotentRequest, StoredResponse
from accounts.models import Venue
from catalogue import places
from catalogue.bookings import tables
from catalogue.bookings.tables import PaidDeposit
from catalogue.models import FlowBooking, FlowSlot
from catalogue.offers import booking, search
from catalogue.offers.booking import NoSuchBooking, NoSuchOffer, OfferExpired, SlotFull
from catalogue.offers.on_sale import Status
from catalogue.offers.search import SlotDetails
from framework.errors import InvalidRequest
from framework.public_ids import decode
from reservations.booking.terms import Terms, find_terms
from reservations.booking.times import set_start
from reservations.guests.profiles import hash_contact
from reservations.models import Reservation

# More than any restaurant has on one day.
MAX_DAY_OFFERS = 200
# Of a restaurant and of an offer, in a question to a guest.
MAX_NAME_LENGTH = 80
MAX_TERMS_LENGTH = 300


class AnswerAlreadyUsed(IdempotencyKeyReused):
    """Another answer of the guest to the same question has booked a table."""


@dataclass(frozen=True, slots=True)
class RestaurantTime:
    slug: str
    day: date
    at: time

    def __str__(self) -> str:
        return f"{self.slug} {self.day} {self.at:%H:%M}"


def hash_scope(where: str, *, guest: Mapping[str, Any], owner: str) -> str:
    """Return the scope of an idempotency key in REST: a restaurant or offer, the guest's contact and the owner.

    The stored response has the guest's token, so nobody else gets it with the same key. Anonymous callers have no
    owner: their key has to be a secret.
    """
    contact = hash_contact(customer_email=guest.get("customer_email"), customer_phone=guest.get("customer_phone"))
    return hashlib.sha256(" ".join(filter(None, (where, contact, owner))).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class BookingRequest:
    """A request for a table: at the offer with this id, or at the best offer at this time.

    `guest` are the fields of serializers.offers.NewFlowBooking, `area` is where they want to sit. `owner` is who may
    see it later (bookings.owners).
    """

    at: str | RestaurantTime
    guest: Mapping[str, Any]
    area: str | None = None
    owner: str = ""

    @property
    def scope(self) -> str:
        """The scope of an idempotency key in REST."""
        return hash_scope(str(self.at), guest=self.guest, owner=self.owner)

    @property
    def digest(self) -> bytes:
        # What is not asked for is left out: digests were stored before these fields existed.
        guest = {name: value for name, value in self.guest.items() if name != "additional_table" or value}
        content = [str(self.at), guest, *([self.area] if self.area else [])]
        return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).digest()


def find_offers_at(when: RestaurantTime, *, party_size: int, now: datetime) -> list[SlotDetails]:
    """Return the offers that can be booked at a time, the highest discount first. A few queries.

    Raises what places.find_restaurant raises.
    """
    restaurant = places.find_restaurant(when.slug)
    try:
        page = search.list_restaurant_slots(
            restaurant, day=when.day, party_size=party_size, limit=MAX_DAY_OFFERS, now=now
        )
    except InvalidRequest:
        # The day is over, or further ahead than offers are planned.
        return []
    slots = [slot for slot in page.rows if slot.time == when.at and slot.status == Status.AVAILABLE]
    return sorted(slots, key=lambda slot: -slot.percent)


def check_request(at: str | RestaurantTime, *, party_size: int, area: str | None = None, now: datetime) -> None:
    """Raise what `book_request` would raise without the guest's data, which an agent asks for only afterwards."""
    match at:
        case RestaurantTime(slug=slug, day=day, at=time_of_day):
            if not find_offers_at(at, party_size=party_size, now=now):
                tables.check_table(slug, day=day, at=time_of_day, party_size=party_size, area=area, now=now)
        case offer:
            booking.check_seats(booking.parse_offer_id(offer), seats=party_size, now=now)


def book_request(request: BookingRequest, *, paid: PaidDeposit | None = None, now: datetime) -> FlowBooking:
    """Book the table; at a time with the highest discount, or the next one if that is sold out in the meantime, or
    without one.

    A booking at an offer takes no deposit, and a `paid` one books any table. Raises what booking.book_offer,
    find_offers_at and tables.book_table raise.
    """
    options: dict[str, Any] = {"area": request.area, "owner": request.owner, "now": now, **request.guest}
    match request.at:
        case RestaurantTime(slug=slug, day=day, at=time_of_day) as when:
            offers = [] if paid else find_offers_at(when, party_size=request.guest["party_size"], now=now)
            for found in offers:
                with suppress(SlotFull, OfferExpired):
                    key = booking.parse_offer_id(found.id)
                    return booking.book_offer(key, **options)
            return tables.book_table(slug, day=day, at=time_of_day, paid=paid, **options)
        case offer:
            key = booking.parse_offer_id(offer)
            return booking.book_offer(key, **options)


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


def book_once(
    attempt: Attempt, *, on_try: Callable[[], None], paid: PaidDeposit | None = None, now: datetime
) -> FlowBooking:
    """Book the table, or return the booking that an earlier identical attempt has made, in its current state.

    A key books once, even if that booking was cancelled since, and rejects a different request; so does the answer to
    a question. Without a key the same request makes no second booking unless the first was cancelled. `paid` is the
    deposit that was paid. `on_try` is called before a table is looked for, and not for a repeated attempt. Raises what
    `book_request` raises, IdempotencyKeyReused, AnswerAlreadyUsed, IdempotencyInProgress, and NoSuchBooking if the
    booking was erased.
    """
    request, has_key = attempt.request, attempt.key is not None

    def effect() -> StoredResponse:
        on_try()
        # Only the id is stored, because the state of the booking changes.
        return StoredResponse(body=book_request(request, paid=paid, now=now).public_id.encode())

    def book() -> StoredResponse:
        return idempotency.run_once(attempt.by_request, effect, is_valid=None if has_key else is_active)

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


def describe_table(at: str | RestaurantTime, *, party_size: int, now: datetime) -> str:
    """Describe a requested table to the guest, with its terms, and the texts of the restaurant in quotes.

    Three queries more than the offers of the time. Raises NoSuchOffer, and what places.find_restaurant raises.
    """
    match at:
        case RestaurantTime(slug=slug, day=day, at=time_of_day):
            name = places.find_restaurant(slug).name
            best = next(iter(find_offers_at(at, party_size=party_size, now=now)), None)
            offer = (best.percent, best.terms) if best else None
            venue = Venue.objects.filter(listing__restaurant__slug=slug, listing__is_active=True).first()
        case offer_id:
            rows = FlowSlot.objects.select_related("restaurant__listing__venue")
            slot = rows.filter(pk=booking.parse_offer_id(offer_id)).first()
            if slot is None:
                raise NoSuchOffer
            name, day, time_of_day = slot.restaurant.name, slot.date, slot.time
            offer, venue = (slot.percent, slot.terms), slot.restaurant.listing.venue
    discount = f", with {offer[0]} % off" if offer else ""
    texts = [f"The terms of the offer: {_quote(offer[1], MAX_TERMS_LENGTH)}."] if offer and offer[1] else []
    asked = _find_terms(venue, day, time_of_day, party_size=party_size, now=now) if venue else None
    if asked is not None:
        # A booking at an offer takes no deposit.
        texts.append((replace(asked, deposit_usdc=None) if offer else asked).text)
        if asked.deposit_usdc is not None and not offer:
            texts.append("The deposit is paid with this booking.")
    # Names of days and months do not depend on the locale of the process.
    with translation.override("en"):
        table = (
            f"A table for {party_size} at {_quote(name, MAX_NAME_LENGTH)} on {date_format(day, 'l, j F Y')}"
            f" at {time_of_day:%H:%M}{discount}."
        )
    return " ".join([table, *texts])


def _quote(text: str, length: int) -> str:
    """Quote a text of the restaurant in one line, so that it cannot pass for ours."""
    return orjson.dumps(Truncator(text).chars(length)).decode()


def _find_terms(venue: Venue, day: date, at: time, *, party_size: int, now: datetime) -> Terms | None:
    """Return the terms of a venue; None also for a time that does not exist there, which the booking refuses."""
    party = Reservation(venue=venue, date=day, time=at, party_size=party_size)
    try:
        set_start(party, now=now)
    except InvalidRequest:
        return None
    return find_terms(party, now=now)


def load_booking(stored: StoredResponse) -> FlowBooking | None:
    """Return the booking whose id was stored. One query."""
    key = decode("fb", stored.body.decode())
    return tables.with_restaurant().filter(pk=key).first() if key else None


def is_active(stored: StoredResponse) -> bool:
    """Whether the stored booking exists and is not cancelled."""
    found = load_booking(stored)
    return found is not None and found.reservation.status != Reservation.Status.CANCELLED

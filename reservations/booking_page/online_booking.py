"""A guest books on the venue's page: what is free there, and the booking, by the same rule as through the API."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Sum

from accounts.models import Venue
from framework.db.locks import AdvisoryLock
from framework.errors import ApiError, ErrorCode, InvalidRequest
from framework.public_ids import new_id
from framework.signed_tokens import BadSignature, KeyedHash, TokenSigner
from reservations.booking import commands, email_confirmation
from reservations.booking.availability import A_DAY, Day, Hours, Place, could_seat, longest_turn, places_of, slots_of
from reservations.booking.table_assignment import HOLDING
from reservations.booking.venue_time import today_of
from reservations.guests.contact_hash import MOST_UPCOMING, contact_of
from reservations.models import Closure, Notice, OnlineBooking, Reservation, Seating, ServicePeriod
from reservations.self_service import links

# From one address at one venue, within 24 hours.
MOST_A_DAY = 10
# Nobody reads and fills in a form in less.
LEAST_S = 2
FORM_GOOD_FOR = timedelta(hours=12)
DAYS_SHOWN = 7

FORM_LOCK = AdvisoryLock("online booking form")
CONTACT_LOCK = AdvisoryLock("online booking contact")
ADDRESS_LOCK = AdvisoryLock("online booking address")
ADDRESS_HASH = KeyedHash("reservations.booking_page.online_booking.address")
FORM_SIGNER = TokenSigner("reservations.booking_page.online_booking.form")
RECEIPT_SIGNER = TokenSigner("reservations.booking_page.online_booking.receipt", separator="~")


class TooManyBookings(ApiError):
    """The contact holds, or the address has made, as many bookings as one may."""

    code = ErrorCode.TOO_MANY_BOOKINGS


class StaleBookingForm(InvalidRequest):
    """The form was not made here, lay open for too long, or has booked something else already."""


class TooQuick(InvalidRequest):
    """The form came back sooner than a person can fill it in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A table that somebody asks for, at the venue's wall clock, and who is coming."""

    customer_name: str
    day: date
    at: time
    party_size: int
    customer_email: str | None = None
    customer_phone: str | None = None
    special_requests: str = ""

    @property
    def content(self) -> str:
        """A hash of all of it, by which a form that is sent again is known."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Choice:
    """A time that a guest may choose; `answer` is what becomes of it: free, request, waitlist or full."""

    time: time
    answer: str
    period: str


@dataclass(frozen=True, slots=True)
class OpenDay:
    """A day as guests choose it; `state` is free, full, closed or asked (any time may be asked for)."""

    day: date
    state: str
    why: str = ""
    choices: tuple[Choice, ...] = ()

    @property
    def is_asked(self) -> bool:
        """Whether the staff answer whatever is chosen."""
        return self.state == "asked" or (bool(self.choices) and all(its.answer == "request" for its in self.choices))

    def by_period(self) -> list[tuple[str, list[Choice]]]:
        """The choices under the name of their period, in the order of the clock."""
        found: dict[str, list[Choice]] = {}
        for choice in self.choices:
            found.setdefault(choice.period, []).append(choice)
        return list(found.items())


def is_open(venue: Venue) -> bool:
    """Whether guests may book on the page of this venue. Needs its account."""
    return venue.is_bookable_online and venue.account.closed_at is None


def days(venue: Venue, first: date, *, party_size: int, now: datetime) -> list[OpenDay]:
    """A week from this day on, as far as the venue plans, for a party of this size. Six queries, whatever there is."""
    last = min(first + (DAYS_SHOWN - 1) * A_DAY, today_of(venue, now=now) + timedelta(days=venue.max_days_ahead))
    periods = list(ServicePeriod.objects.filter(venue=venue).order_by("first_seating", "name", "id"))
    closures = list(
        Closure.objects.filter(venue=venue, first_date__lte=last, last_date__gte=first - A_DAY).order_by(
            "first_date", "id"
        )
    )
    places = tuple(places_of(venue))
    week = [first + count * A_DAY for count in range((last - first).days + 1)]
    hours = [Hours(venue=venue, day=day, slots=tuple(slots_of(venue, day, periods, closures))) for day in week]
    return [told(day, party_size) for day in read(venue, hours, places, now=now)]


def read(venue: Venue, hours: list[Hours], places: tuple[Place, ...], *, now: datetime) -> Iterator[Day]:
    """Each of these days with what is taken on it. Two queries for all of them."""
    slots = [slot for its in hours for slot in its.open_slots()]
    taken: dict[UUID, list[tuple[datetime, datetime]]] = {}
    covers: dict[datetime, int] = {}
    if slots and places:
        first = min(slot.starts_at for slot in slots)
        last = max(slot.starts_at + longest_turn(slot.period) for slot in slots)
        seatings = Seating.objects.filter(table__venue=venue, during__overlap=(first, last))
        for table, during in seatings.values_list("table_id", "during"):
            taken.setdefault(table, []).append((during.lower, during.upper))
        begin = Reservation.objects.filter(HOLDING, venue=venue, starts_at__range=(first, last))
        covers = dict(begin.values_list("starts_at").annotate(covers=Sum("party_size")).order_by("starts_at"))
    for its in hours:
        yield Day(hours=its, places=places, taken=taken, covers=covers, now=now)


def told(day: Day, party_size: int) -> OpenDay:
    """What a party of this size may choose on a day, by the rule that will book it (booking.decide)."""
    venue, its = day.hours.venue, day.hours
    slots = [slot for slot in its.open_slots() if slot.starts_at > day.now]
    if not day.places:
        # Without tables no hours bind: the staff answer each request.
        choices = tuple(Choice(slot.time, "request", slot.period.name) for slot in slots)
        return OpenDay(its.day, "free" if choices else "asked", choices=choices)
    if not its.slots:
        return OpenDay(its.day, "closed", "There are no seating times on this day.")
    if not its.open_slots():
        return OpenDay(its.day, "closed", its.why_not(its.slots[0].time))
    otherwise = "full"
    if party_size > venue.auto_confirm_max_party:
        otherwise = "request"
    elif venue.when_full == Venue.WhenFull.WAITLIST and could_seat(day.places, party_size):
        otherwise = "waitlist"
    is_large = otherwise == "request"
    found = tuple(
        Choice(slot.time, "free" if not is_large and day.has_room(slot, party_size) else otherwise, slot.period.name)
        for slot in slots
    )
    if not found:
        return OpenDay(its.day, "closed", "There are no more seating times today.")
    if not any(choice.answer in ("free", "request") for choice in found):
        return OpenDay(its.day, "full", f"No table for {party_size} is available on this day.", found)
    return OpenDay(its.day, "free", choices=found)


def book(venue: Venue, wish: Wish, *, form: str, address: str, now: datetime) -> Reservation:
    """Book what the form asks for, once however often it is sent, by the rule of the API (booking.book).

    Raises StaleBookingForm, TooQuick, TooManyBookings, NoContact for a venue that proves guests and a guest without a
    mail address, and what booking.book raises; then nothing is stored. Some twenty statements.
    """
    key = opened(form, venue=venue, now=now)
    contact = contact_of(customer_email=wish.customer_email, customer_phone=wish.customer_phone)
    sender = ADDRESS_HASH.hexdigest(address)
    with transaction.atomic():
        FORM_LOCK.acquire(key)
        earlier = OnlineBooking.objects.select_related("reservation__venue").filter(form=key).first()
        if earlier:
            if earlier.content != wish.content:
                raise StaleBookingForm("This form has already booked a table. To book another one, submit it again.")
            return earlier.reservation
        if venue.proves_guests and not wish.customer_email:
            raise commands.NoContact(
                "This restaurant confirms bookings by email. Enter an email address.", param="customer_email"
            )
        CONTACT_LOCK.acquire(contact)
        check_contact(venue, contact, now=now)
        ADDRESS_LOCK.acquire(sender)
        check_address(venue, sender, now=now)
        reservation = commands.book(
            venue,
            now=now,
            actor="guest",
            customer_name=wish.customer_name,
            day=wish.day,
            at=wish.at,
            party_size=wish.party_size,
            customer_email=wish.customer_email,
            customer_phone=wish.customer_phone,
            special_requests=wish.special_requests,
            prove_by=now + email_confirmation.HELD_FOR if venue.proves_guests else None,
        )
        OnlineBooking.objects.create(
            form=key,
            reservation=reservation,
            content=wish.content,
            contact=contact,
            address=sender,
            created_at=now,
        )
    return reservation


def check_contact(venue: Venue, contact: str, *, now: datetime) -> None:
    """Refuse who has booked enough at this venue that is still to come. Raises TooManyBookings. One query."""
    upcoming = OnlineBooking.objects.filter(
        contact=contact, reservation__venue=venue, reservation__starts_at__gt=now
    ).exclude(reservation__status=Reservation.Status.CANCELLED)
    if upcoming.count() >= MOST_UPCOMING:
        raise TooManyBookings(
            f"You already have {MOST_UPCOMING} upcoming bookings, the maximum for online booking."
            " Please call the restaurant."
        )


def check_address(venue: Venue, sender: str, *, now: datetime) -> None:
    """Refuse an address that has booked enough at this venue today. Raises TooManyBookings. One query."""
    lately = OnlineBooking.objects.filter(address=sender, created_at__gt=now - A_DAY, reservation__venue=venue)
    if lately.count() >= MOST_A_DAY:
        raise TooManyBookings(
            f"{MOST_A_DAY} bookings were made from your connection within a day, the maximum for online booking."
            " Please call the restaurant."
        )


# The form
def new_form(venue: Venue, *, now: datetime) -> str:
    """What a form carries: that it was made here, for this venue, when, and a key of its own."""
    return FORM_SIGNER.dump([venue.public_id, new_id().hex, int(now.timestamp())])


def opened(form: str, *, venue: Venue, now: datetime) -> UUID:
    """The key of a form. Raises StaleBookingForm, TooQuick."""
    stale = "This page has expired. Please check your booking and submit it again."
    try:
        its, key, made_s = FORM_SIGNER.load(form)
    except BadSignature as error:
        raise StaleBookingForm(stale) from error
    age_s = int(now.timestamp()) - made_s
    if its != venue.public_id or age_s > FORM_GOOD_FOR.total_seconds():
        raise StaleBookingForm(stale)
    if age_s < LEAST_S:
        raise TooQuick("The form was submitted too quickly. Please check your booking and submit it again.")
    return UUID(hex=key)


# What is shown afterwards
def receipt_of(reservation: Reservation) -> str:
    """What stands in the address of the page that is shown after booking; it is no key to the booking."""
    return RECEIPT_SIGNER.sign(reservation.public_id)


def booked(receipt: str, *, venue: Venue) -> Reservation:
    """The reservation of this receipt. One query. Raises links.NoSuchLink."""
    found = links.find_by(RECEIPT_SIGNER, receipt)
    if found.venue_id != venue.pk:
        raise links.NoSuchLink
    return found


def manage_link(reservation: Reservation) -> str | None:
    """Where the guest sees and cancels it; None where only the mail may tell, for it is to be proven. One query."""
    if reservation.notices.filter(kind=Notice.Kind.PROOF).exists():
        return None
    return links.url_of(reservation)

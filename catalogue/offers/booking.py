"""Takes a table at an offer: the seats of the slot and the reservation in the venue's own book, in one transaction.

Every transaction takes its locks in one order: the contact, the slot, the reservation, the tables, the venue's tally.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from uuid import UUID

from django.db import connection, transaction

from catalogue.models import FlowBooking, FlowSlot
from catalogue.offers import slot_materialization
from catalogue.offers.on_sale import IS_BOOKABLE, IS_OFFERING, PREFIX
from framework.db.locks import AdvisoryLock
from framework.errors import Code, InvalidRequest, NotFound, Refusal
from framework.public_ids import decode, encode
from reservations.booking import commands
from reservations.booking.availability import OutsideServiceHours, SlotUnavailable
from reservations.guests.contact_hash import MAX_UPCOMING, hash_contact
from reservations.models import Reservation
from reservations.self_service import links, permissions

CONTACT_LOCK = AdvisoryLock("offer booking contact")

CAN_BE_TAKEN = f"""slot.id = %(slot)s AND {IS_BOOKABLE} AND slot.seats_left >= %(seats)s
  AND %(seats)s BETWEEN slot.party_min AND slot.party_max
  AND EXISTS (
    SELECT FROM catalogue_listing AS listing JOIN catalogue_searchrow AS r ON r.restaurant_id = listing.restaurant_id
    WHERE listing.restaurant_id = slot.restaurant_id AND {IS_OFFERING}
  )"""
TAKE = f"UPDATE catalogue_flowslot AS slot SET seats_left = slot.seats_left - %(seats)s WHERE {CAN_BE_TAKEN}"  # noqa: S608  # constants of ours
SEE = f"SELECT 1 FROM catalogue_flowslot AS slot WHERE {CAN_BE_TAKEN}"  # noqa: S608  # constants of ours


class SlotFull(Refusal):
    """The offer has too few seats left, or the venue no table that it gives without asking its staff."""

    code = Code.SLOT_FULL


class OfferExpired(Refusal):
    """The offer is over, withdrawn, or not on sale yet."""

    code = Code.OFFER_EXPIRED


class TooManyBookings(Refusal):
    """The contact holds as many tables at offers as one may."""

    code = Code.TOO_MANY_BOOKINGS


class TableHeld(TooManyBookings):
    """The contact holds a table at this restaurant and minute, and has not said that it wants one more."""


class NoSuchOffer(NotFound):
    """There is no offer of this id."""

    def __init__(self) -> None:
        super().__init__("There is no such offer.")


class NoSuchBooking(NotFound):
    """There is no booking of this id for who has this token; which of the two is wrong is not told."""

    def __init__(self) -> None:
        super().__init__("There is no such booking, or this is not its token.")


@dataclass(frozen=True, slots=True)
class Booked:
    """A table that was booked at an offer, as its guest sees it; date and time are the restaurant's wall clock."""

    id: str
    status: str
    offer: str
    restaurant: str
    date: date
    time: time
    timezone: str
    party_size: int
    percent: int
    applies_to: str
    terms: str
    customer_name: str
    manage_token: str
    manage_url: str
    reservation_code: str
    created_at: datetime
    cancelled_at: datetime | None


def offer_key(public_id: str) -> UUID:
    """The key of an offer. Raises NoSuchOffer for what is no id of one."""
    key = decode(PREFIX, public_id)
    if key is None:
        raise NoSuchOffer
    return key


def book(
    offer: UUID,
    *,
    party_size: int,
    customer_name: str,
    customer_email: str | None = None,
    customer_phone: str | None = None,
    special_requests: str = "",
    is_only: bool = False,
    now: datetime,
) -> Booked:
    """Book a table at an offer: it is confirmed at once, or nothing is stored.

    The venue's events and the guest's mail follow as from any reservation. `is_only` refuses a second table of the
    contact at the restaurant and minute of the offer. Raises NoSuchOffer, OfferExpired, SlotFull, TooManyBookings,
    InvalidRequest for a party that the offer is not for. Some sixteen statements.
    """
    contact = hash_contact(customer_email=customer_email, customer_phone=customer_phone)
    with transaction.atomic():
        check_contact(contact, now=now, only_at=offer if is_only else None)
        take(offer, seats=party_size, now=now)
        slot = FlowSlot.objects.select_related("restaurant__listing__venue").get(pk=offer)
        venue = slot.restaurant.listing.venue
        try:
            reservation = commands.book(
                venue,
                now=now,
                actor="guest",
                customer_name=customer_name,
                day=slot.date,
                at=slot.time,
                party_size=party_size,
                customer_email=customer_email,
                customer_phone=customer_phone,
                special_requests=special_requests,
                metadata={"offer": slot.public_id, "percent": str(slot.percent)},
            )
        except (SlotUnavailable, OutsideServiceHours, commands.DateTooFarAhead) as refusal:
            raise full(slot, party_size) from refusal
        except InvalidRequest as refusal:
            # The moment is over for the venue's clock, or it has none such.
            raise OfferExpired("This offer is over.") from refusal
        if reservation.status != Reservation.Status.CONFIRMED or reservation.starts_at != slot.starts_at:
            raise full(slot, party_size)
        made = FlowBooking.objects.create(
            slot=slot, reservation=reservation, seats=party_size, contact=contact, created_at=now
        )
    return shown(made)


def forget_contacts(reservations: Sequence[UUID]) -> None:
    """Forget by whom the tables of erased guests were booked: who has our key may try all numbers for a hash.

    What their contact may hold is counted anew; erased are only those that nobody expects. One statement.
    """
    FlowBooking.objects.filter(reservation__in=reservations).update(contact="")


def check_contact(contact: str, *, now: datetime, only_at: UUID | None = None) -> None:
    """Refuse who holds enough tables that are still to come; until the transaction ends nobody else books for them.

    With `only_at` also who holds one at the restaurant and minute of this offer. Raises TooManyBookings. Two
    statements, three with `only_at`.
    """
    CONTACT_LOCK.acquire(contact)
    upcoming = FlowBooking.objects.filter(contact=contact, released_at=None, slot__starts_at__gt=now)
    # One that the venue cancelled a moment ago may still wait for its seats to be given back.
    upcoming = upcoming.exclude(reservation__status=Reservation.Status.CANCELLED)
    if only_at is not None:
        then = FlowSlot.objects.filter(pk=only_at)
        if upcoming.filter(
            slot__restaurant__in=then.values("restaurant"), slot__starts_at__in=then.values("starts_at")
        ).exists():
            raise TableHeld(
                "This guest has a table at this restaurant at this time already."
                " For a second one call again with an `idempotency_key`."
            )
    if upcoming.count() >= MAX_UPCOMING:
        raise TooManyBookings(
            f"This contact holds {MAX_UPCOMING} tables at offers that are still to come, and no one may hold more."
        )


def take(offer: UUID, *, seats: int, now: datetime) -> None:
    """Take seats of a slot, all or none, and hold its row until the transaction ends.

    Raises NoSuchOffer, OfferExpired, SlotFull, InvalidRequest. One statement; one more to say why not.
    """
    found_by(TAKE, offer, seats=seats, now=now)


def check(offer: UUID, *, seats: int, now: datetime) -> None:
    """Raise what `take` would, and take nothing. One query; one more to say why not."""
    found_by(SEE, offer, seats=seats, now=now)


def found_by(statement: str, offer: UUID, *, seats: int, now: datetime) -> None:
    """Run this statement, and say why not where the slot is none of those that can be taken."""
    with connection.cursor() as cursor:
        cursor.execute(statement, {"slot": offer, "seats": seats, "now": now})
        if cursor.rowcount:
            return
    slot = FlowSlot.objects.select_related("restaurant").filter(pk=offer).first()
    if slot is None:
        raise NoSuchOffer
    if slot.withdrawn_at is not None:
        raise OfferExpired("This offer was withdrawn.")
    if min(slot.book_before, slot.starts_at) <= now:
        raise OfferExpired("This offer can no longer be booked: its time is over.")
    if slot.bookable_from is not None and slot.bookable_from > now:
        raise OfferExpired("This offer cannot be booked yet.", extra={"bookable_from": slot.bookable_from})
    if not slot.party_min <= seats <= slot.party_max:
        parties = f"parties of {slot.party_min} to {slot.party_max}"
        raise InvalidRequest(
            f"This offer is for {parties}: ask for offers with this `party_size`.", param="party_size"
        )
    if slot.seats_left < seats:
        raise full(slot, seats)
    raise OfferExpired("This restaurant takes no bookings at offers now.")


def full(slot: FlowSlot, party_size: int) -> SlotFull:
    """The refusal of a party for which there is no room."""
    return SlotFull(f"There is no table for {party_size} at this offer any more: {slot.date} at {slot.time:%H:%M}.")


def find(public_id: str, *, token: str) -> FlowBooking:
    """The booking of this id, for who has its token. One query, and none for what was not signed here.

    Raises NoSuchBooking for an unknown id and a wrong token alike. Who has no token that we signed is not looked up,
    so the time that it takes tells nothing.
    """
    try:
        reservation = links.find(token) if token.isascii() else None
    except links.InvalidLink:
        reservation = None
    key = decode("fb", public_id)
    if reservation is None or key is None:
        raise NoSuchBooking
    found = (
        FlowBooking.objects.select_related("slot__restaurant", "reservation__venue")
        .filter(pk=key, reservation=reservation)
        .first()
    )
    if found is None:
        raise NoSuchBooking
    return found


def cancel(found: FlowBooking, *, now: datetime) -> Booked:
    """Cancel as the guest does on the own page, and give the slot its seats back. To cancel twice changes nothing.

    Raises reservations.self_service.permissions.TooLate. Some fifteen statements.
    """
    with transaction.atomic():
        slot_materialization.hold(found.slot_id)
        found.reservation.refresh_from_db(fields=["status"])
        if found.reservation.status != Reservation.Status.CANCELLED:
            permissions.cancel(found.reservation, now=now)
        slot_materialization.give_back(found, now=now)
    return shown(found)


def shown(found: FlowBooking) -> Booked:
    """The booking as its guest sees it. The reservation may have been moved since."""
    slot, reservation = found.slot, found.reservation
    return Booked(
        id=found.public_id,
        status=reservation.status,
        offer=encode(PREFIX, slot.pk),
        restaurant=slot.restaurant.slug,
        date=reservation.date,
        time=reservation.time,
        timezone=reservation.venue.timezone,
        party_size=reservation.party_size,
        percent=slot.percent,
        applies_to=slot.applies_to,
        terms=slot.terms,
        customer_name=reservation.customer_name,
        manage_token=links.token_of(reservation),
        manage_url=links.url_of(reservation),
        reservation_code=reservation.code,
        created_at=found.created_at,
        cancelled_at=reservation.cancelled_at,
    )

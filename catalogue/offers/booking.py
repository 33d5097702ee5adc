"""Book tables at offers: the seats of the slot and the reservation of the venue, in one transaction.

Every transaction takes its locks in one order: the contact, the slot, the reservation, the tables, the venue's tally.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q

from catalogue.models import FlowBooking, FlowSlot
from catalogue.offers import slot_materialization
from catalogue.offers.on_sale import ACCEPTS_BOOKINGS, IS_BOOKABLE, PREFIX
from framework.api.rate_limits.middleware import count_within_an_hour
from framework.db.locks import AdvisoryLock
from framework.errors import ApiError, ErrorCode, InvalidRequest, NotFound
from framework.public_ids import decode
from reservations.booking import commands
from reservations.booking.availability import (
    ONE_DAY,
    OutsideServiceHours,
    SlotUnavailable,
    choose_area,
    stay_duration,
)
from reservations.booking.times import ReservationInPast
from reservations.guests.profiles import MAX_UPCOMING, hash_contact
from reservations.models import Reservation
from reservations.self_service import links, permissions

CONTACT_LOCK = AdvisoryLock("offer booking contact")
# For one contact within an hour. Failed ones count too, so that nobody can probe for the last table.
MAX_ATTEMPTS = 10

HAS_SEATS = f"""slot.id = %(slot)s AND {IS_BOOKABLE} AND slot.seats_left >= %(seats)s
  AND %(seats)s BETWEEN slot.party_min AND slot.party_max
  AND EXISTS (
    SELECT FROM catalogue_listing AS listing JOIN catalogue_searchrow AS r ON r.restaurant_id = listing.restaurant_id
    WHERE listing.restaurant_id = slot.restaurant_id AND {ACCEPTS_BOOKINGS}
  )"""
TAKE_SEATS = f"UPDATE catalogue_flowslot AS slot SET seats_left = slot.seats_left - %(seats)s WHERE {HAS_SEATS}"  # noqa: S608  # built from constants
CHECK_SEATS = f"SELECT 1 FROM catalogue_flowslot AS slot WHERE {HAS_SEATS}"  # noqa: S608  # built from constants


class SlotFull(ApiError):
    """The slot has too few seats left, or the venue has no table that it assigns without its staff."""

    code = ErrorCode.SLOT_FULL


class OfferExpired(ApiError):
    """The offer is over, withdrawn, or not on sale yet."""

    code = ErrorCode.OFFER_EXPIRED


class TooManyBookings(ApiError):
    """The contact has the maximum number of upcoming bookings."""

    code = ErrorCode.TOO_MANY_BOOKINGS


class AlreadyBooked(TooManyBookings):
    """The guest has a table at this restaurant at this time, and the request is not for an additional one.

    The error describes it without the guest's token: the request proves no more than that it knows the contact.
    """

    quoted = ("booking",)

    def __init__(
        self,
        held: FlowBooking,
        *,
        next_step: str = "Nothing more was booked. Look at it or change it, or send `additional_table` as true if the"
        " guest wants one more.",
        param: str = "additional_table",
    ) -> None:
        reservation = held.reservation
        super().__init__(
            f"This guest already has a table at this restaurant at this time: {held.public_id}, described in"
            f" `booking`. {next_step}",
            param=param,
            extra={
                "booking": {
                    "id": held.public_id,
                    "status": reservation.status,
                    "restaurant": held.restaurant.slug,
                    "date": reservation.date.isoformat(),
                    "time": f"{reservation.time:%H:%M}",
                    "party_size": reservation.party_size,
                }
            },
        )


class NoSuchOffer(NotFound):
    """There is no offer with this id."""

    def __init__(self) -> None:
        super().__init__("There is no such offer.")


class NoSuchBooking(NotFound):
    """There is no booking with this id and token; the error does not say which of the two is wrong."""

    def __init__(self) -> None:
        super().__init__("There is no such booking, or this is not its token.")


def parse_offer_id(public_id: str) -> UUID:
    """Return the key of an offer. Raises NoSuchOffer for an invalid id."""
    key = decode(PREFIX, public_id)
    if key is None:
        raise NoSuchOffer
    return key


def book_offer(
    offer: UUID,
    *,
    party_size: int,
    customer_name: str,
    customer_email: str | None = None,
    customer_phone: str | None = None,
    special_requests: str = "",
    additional_table: bool = False,
    area: str | None = None,
    owner: str = "",
    now: datetime,
) -> FlowBooking:
    """Book a table at an offer: the booking is confirmed at once, or nothing is stored.

    The venue's events and the guest's mail are sent as for any reservation. Raises NoSuchOffer, OfferExpired,
    SlotFull, TooManyBookings, AlreadyBooked without `additional_table`, and InvalidRequest for a party size that the
    offer excludes or an unknown area. About eighteen statements.
    """
    with transaction.atomic():
        wanted = None if additional_table else party_at_offer(offer, party_size=party_size)
        lock_guest(customer_email, customer_phone, wanted=wanted, now=now)
        take_seats(offer, seats=party_size, now=now)
        slot = FlowSlot.objects.select_related("restaurant__listing__venue").get(pk=offer)
        venue = slot.restaurant.listing.venue
        chosen_area = choose_area(venue, area)
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
                area=chosen_area,
            )
        except (SlotUnavailable, OutsideServiceHours, ReservationInPast) as refusal:
            raise slot_full(slot, party_size) from refusal
        except InvalidRequest as refusal:
            # The time has passed at the venue, or daylight saving time skips it.
            raise OfferExpired("This offer is over.") from refusal
        if reservation.status != Reservation.Status.CONFIRMED or reservation.starts_at != slot.starts_at:
            raise slot_full(slot, party_size)
        return FlowBooking.objects.create(
            slot=slot,
            reservation=reservation,
            seats=party_size,
            owner=owner,
            created_at=now,
            **contact_columns(customer_email, customer_phone),
        )


def party_at_offer(offer: UUID, *, party_size: int) -> Reservation | None:
    """Return an unsaved reservation at the time of an offer; None if there is no such offer. One query."""
    slots = FlowSlot.objects.filter(pk=offer, restaurant__listing__isnull=False)
    slot = slots.select_related("restaurant__listing__venue").first()
    if slot is None:
        return None
    venue = slot.restaurant.listing.venue
    return Reservation(venue=venue, date=slot.date, time=slot.time, starts_at=slot.starts_at, party_size=party_size)


def lock_guest(
    customer_email: str | None, customer_phone: str | None, *, wanted: Reservation | None, now: datetime
) -> None:
    """Lock a guest's contacts until the transaction ends, and check the limits.

    With `wanted`, an unsaved reservation, the guest may have no other table of the data API at that venue then: no
    repeated request books a second one, whatever its words or key, and not at the same time either. Raises
    AlreadyBooked, TooManyBookings, RateLimitExceeded. Two statements, one more with both contacts and with `wanted`,
    and two more if the guest comes on the same day.
    """
    for contact in list_contacts(customer_email, customer_phone):
        count_attempt(contact)
    lock_contacts(customer_email, customer_phone)
    check_guest(customer_email, customer_phone, wanted=wanted, now=now)


def contact_columns(customer_email: str | None, customer_phone: str | None) -> dict[str, str]:
    """Return the columns of a booking by which the limits find the guest."""
    is_beside_email = bool(customer_email and customer_phone)
    return {
        "contact": hash_contact(customer_email=customer_email, customer_phone=customer_phone),
        "phone_contact": hash_contact(customer_email=None, customer_phone=customer_phone) if is_beside_email else "",
    }


def list_contacts(customer_email: str | None, customer_phone: str | None) -> list[str]:
    """Return the hashes of a guest's email address and number."""
    return sorted(filter(None, contact_columns(customer_email, customer_phone).values()))


def lock_contacts(customer_email: str | None, customer_phone: str | None) -> None:
    """Lock a guest's contacts until the transaction ends. A statement for each."""
    for contact in list_contacts(customer_email, customer_phone):
        CONTACT_LOCK.acquire(contact)


def check_guest(
    customer_email: str | None, customer_phone: str | None, *, wanted: Reservation | None, now: datetime
) -> None:
    """Check the bookings of a guest whose contacts are locked, as `lock_guest`; no attempt is counted."""
    contacts = list_contacts(customer_email, customer_phone)
    if wanted is not None:
        held = find_overlapping(wanted, contacts, customer_phone=customer_phone)
        if held is not None:
            raise AlreadyBooked(held)
    # The seats of a booking that the venue has just cancelled may not be released yet.
    upcoming = FlowBooking.objects.filter(
        Q(contact__in=contacts) | Q(phone_contact__in=contacts), released_at=None, reservation__starts_at__gt=now
    )
    if upcoming.exclude(reservation__status=Reservation.Status.CANCELLED).count() >= MAX_UPCOMING:
        raise TooManyBookings(f"This contact has {MAX_UPCOMING} upcoming bookings, which is the maximum.")


def find_overlapping(
    wanted: Reservation,
    contacts: Collection[str],
    *,
    customer_phone: str | None,
    besides: FlowBooking | None = None,
) -> FlowBooking | None:
    """Return the booking that a guest has at the venue during the wanted stay, besides one.

    One query, and two if one is near.
    """
    is_guest = Q(contact__in=contacts)
    if customer_phone:
        # Also a number that was added later.
        is_guest |= Q(reservation__customer_phone=customer_phone)
    near = (wanted.starts_at - ONE_DAY, wanted.starts_at + ONE_DAY)
    bookings = FlowBooking.objects.filter(
        is_guest, reservation__venue=wanted.venue_id, reservation__starts_at__range=near
    ).exclude(reservation__status=Reservation.Status.CANCELLED)
    bookings = bookings.exclude(pk=besides.pk) if besides else bookings
    rows = list(bookings.select_related("slot__restaurant", "reservation__venue__listing__restaurant"))
    if not rows:
        return None
    ends_at = wanted.starts_at + stay_duration(wanted, has_tables=True)
    rows.sort(key=lambda row: abs(row.reservation.starts_at - wanted.starts_at))
    return next(
        (row for row in rows if row.reservation.starts_at < ends_at and wanted.starts_at < row.reservation.ends_at),
        None,
    )


def count_attempt(contact: str) -> None:
    """Count an attempt to book for this contact. Raises RateLimitExceeded after ten within an hour."""
    count_within_an_hour("bookings-contact", contact, limit=MAX_ATTEMPTS, what="tries to book for one guest")


def erase_contacts(reservations: Sequence[UUID]) -> None:
    """Delete the contact hashes of erased guests: with our key, a hash can be reversed by trying all phone numbers.

    Only past and cancelled reservations are erased, which the limit does not count. One statement.
    """
    FlowBooking.objects.filter(reservation__in=reservations).update(contact="", phone_contact="")


def take_seats(offer: UUID, *, seats: int, now: datetime) -> None:
    """Take seats of a slot, all or none, and lock its row until the transaction ends.

    Raises NoSuchOffer, OfferExpired, SlotFull, InvalidRequest. One statement, and one more for the reason of a
    refusal.
    """
    _execute_or_refuse(TAKE_SEATS, offer, seats=seats, now=now)


def check_seats(offer: UUID, *, seats: int, now: datetime) -> None:
    """Raise what `take_seats` would raise, and take no seats."""
    _execute_or_refuse(CHECK_SEATS, offer, seats=seats, now=now)


def _execute_or_refuse(statement: str, offer: UUID, *, seats: int, now: datetime) -> None:
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
        message = f"This offer is for {parties}: ask for offers with this `party_size`."
        raise InvalidRequest(message, param="party_size")
    if slot.seats_left < seats:
        raise slot_full(slot, seats)
    raise OfferExpired("This restaurant takes no bookings at offers now.")


def slot_full(slot: FlowSlot, party_size: int) -> SlotFull:
    return SlotFull(f"There is no table for {party_size} at this offer any more: {slot.date} at {slot.time:%H:%M}.")


def reservation_of_token(token: str) -> Reservation | None:
    """Return the reservation of a guest's token; None for a token that we did not sign."""
    try:
        return links.find(token) if token.isascii() else None
    except links.InvalidLink:
        return None


def cancel_booking(booking: FlowBooking, *, now: datetime) -> FlowBooking:
    """Cancel a booking for its guest and release its seats. A second call changes nothing.

    Raises reservations.self_service.permissions.TooLateToCancel. About fifteen statements.
    """
    with transaction.atomic():
        if booking.slot_id is not None:
            slot_materialization.lock_slot(booking.slot_id)
        booking.reservation.refresh_from_db(fields=["status"])
        if booking.reservation.status != Reservation.Status.CANCELLED:
            permissions.cancel(booking.reservation, now=now)
        slot_materialization.release_seats(booking, now=now)
    return booking

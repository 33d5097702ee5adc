"""Book a free table of a restaurant, and see, change and cancel a booking.

The lock order is that of catalogue.offers.booking.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from catalogue.bookings.venues import find_venue
from catalogue.models import Deposit, FlowBooking
from catalogue.offers.booking import (
    AlreadyBooked,
    NoSuchBooking,
    SlotFull,
    check_guest,
    contact_columns,
    find_overlapping,
    list_contacts,
    lock_contacts,
    lock_guest,
    reservation_of_token,
)
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import CursorPage
from framework.errors import ApiError, ErrorCode, InvalidRequest
from framework.public_ids import decode
from payments.interface import Receipt, deliver
from payments.models import Payment
from reservations.booking import commands, holds, slot_states
from reservations.booking.availability import (
    OutsideServiceHours,
    SlotUnavailable,
    choose_area,
    slot_unavailable_error,
)
from reservations.booking.slot_states import SlotState
from reservations.booking.terms import DepositRequired, find_terms
from reservations.booking.times import find_slot, set_start
from reservations.models import Area, Reservation
from reservations.self_service import permissions


class BookedAtOffer(InvalidRequest):
    """The time and the party of a booking at an offer cannot be changed."""


class DepositGoesBack(ApiError):
    """The deposit was paid, and its refund is due: too much time has passed before the table was booked."""

    code = ErrorCode.DEPOSIT_REQUIRED

    def __init__(self, payment: UUID) -> None:
        super().__init__(
            "This deposit goes back to you, because it has booked no table in time. Ask again without it.",
            extra={"refund": Payment(pk=payment).public_id},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidDeposit:
    """A deposit that was paid for a table, and the hold of that table, if it is held."""

    receipt: Receipt
    hold_id: str | None = None


def book_table(
    slug: str,
    *,
    day: date,
    at: time,
    party_size: int,
    customer_name: str,
    customer_email: str | None = None,
    customer_phone: str | None = None,
    special_requests: str = "",
    area: str | None = None,
    owner: str = "",
    additional_table: bool = False,
    paid: PaidDeposit | None = None,
    now: datetime,
) -> FlowBooking:
    """Book a free table: it is confirmed at once, or nothing is stored.

    The venue's events and the guest's mail are sent as for any reservation. With a `paid` deposit the payment is
    delivered in the same transaction; one that has booked before returns that booking. Raises what find_venue and
    commands.book raise about names and times, SlotFull with `alternatives` if no table is free, TooManyBookings,
    AlreadyBooked without `additional_table`, DepositRequired if none is paid for a time that asks for one, and
    DepositGoesBack. About twenty-one statements.
    """
    _, venue = find_venue(slug)
    chosen_area = choose_area(venue, area)
    party = Reservation(venue=venue, date=day, time=at, party_size=party_size)
    set_start(party, now=now)
    wanted = None if additional_table else party
    if paid is None:
        require_small_party(party)
        require_no_deposit(party, now=now)
    book = partial(
        commands.book,
        venue,
        now=now,
        actor="guest",
        customer_name=customer_name,
        day=day,
        at=at,
        party_size=party_size,
        customer_email=customer_email,
        customer_phone=customer_phone,
        special_requests=special_requests,
        area=chosen_area,
        deposit_usdc=paid.receipt.amount if paid else None,
    )
    with transaction.atomic():
        if paid is None:
            lock_guest(customer_email, customer_phone, wanted=wanted, now=now)
        else:
            # Its try was counted when the table was held.
            lock_contacts(customer_email, customer_phone)
            booked = with_restaurant().filter(deposit__payment=paid.receipt.payment).first()
            if booked is not None:
                return booked
            check_guest(customer_email, customer_phone, wanted=wanted, now=now)
        try:
            reservation = _book_held(book, paid.hold_id) if paid and paid.hold_id else book()
        except (SlotUnavailable, OutsideServiceHours) as refusal:
            raise _slot_full(refusal) from refusal
        if reservation.status != Reservation.Status.CONFIRMED:
            raise _needs_staff(party_size)
        booking = FlowBooking.objects.create(
            reservation=reservation,
            seats=party_size,
            owner=owner,
            created_at=now,
            **contact_columns(customer_email, customer_phone),
        )
        if paid is not None:
            Deposit.objects.create(booking=booking, payment_id=paid.receipt.payment)
            if not deliver(paid.receipt.payment, now=now):
                raise DepositGoesBack(paid.receipt.payment)
        return booking


def _book_held(book: Callable[..., Reservation], hold_id: str) -> Reservation:
    """Book the table that was held, or another one if the hold has ended. Raises what commands.book raises."""
    try:
        return book(hold_id=hold_id)
    except holds.HoldEnded:
        return book()


def require_small_party(party: Reservation) -> None:
    """Raise SlotFull for a party that the restaurant confirms itself, at whatever time. No query."""
    if party.party_size > party.venue.auto_confirm_max_party:
        raise _needs_staff(party.party_size)


def require_no_deposit(party: Reservation, *, now: datetime) -> None:
    """Raise DepositRequired for a party whose time asks for a deposit. One query."""
    asked = find_terms(party, now=now)
    if asked is not None and asked.deposit_usdc is not None:
        raise DepositRequired(f"This time asks for a deposit. {asked.text}", terms=asked)


def _slot_full(refusal: SlotUnavailable | OutsideServiceHours) -> SlotFull:
    return SlotFull(refusal.message, param=refusal.param, extra=refusal.extra)


def _needs_staff(party_size: int) -> SlotFull:
    return SlotFull(
        f"The restaurant confirms parties of {party_size} itself, or has no table then. Please call it.",
        param="party_size",
        extra={"alternatives": []},
    )


def with_restaurant() -> QuerySet[FlowBooking]:
    """Bookings with all that their record needs."""
    return FlowBooking.objects.select_related(
        "slot__restaurant",
        "reservation__area",
        "reservation__venue__listing__restaurant",
        "reservation__agreed_terms",
        "deposit__payment",
    )


def reload(booking: FlowBooking) -> FlowBooking:
    """Return the booking as it is now, with its terms and what became of its deposit. One query."""
    return with_restaurant().get(pk=booking.pk)


def find_booking(public_id: str, *, token: str = "", owners: Collection[str] = ()) -> FlowBooking:
    """Return the booking with this id for the holder of its token, or for its owner. At most two queries.

    Raises NoSuchBooking; the error does not say whether the booking exists.
    """
    key = decode("fb", public_id)
    if key is None:
        raise NoSuchBooking
    rows = with_restaurant().filter(pk=key)
    if token:
        reservation = reservation_of_token(token)
        rows = rows.filter(reservation=reservation) if reservation else rows.none()
    else:
        rows = rows.filter(owner__in=owners)
    booking = rows.first()
    if booking is None:
        raise NoSuchBooking
    return booking


def list_bookings(
    owners: Collection[str], *, limit: int, cursor: str | None = None, now: datetime
) -> CursorPage[FlowBooking]:
    """Return a page of the bookings of wallets and accounts, the latest first. One query. Raises InvalidCursor."""
    found = with_restaurant().filter(owner__in=owners).order_by("-id")
    question = pagination_cursor.fingerprint("bookings", sorted(owners))
    if cursor:
        after = pagination_cursor.decode_cursor(cursor, question=question, now=now).after
        found = found.filter(pk__lt=UUID(str(after[0])))
    rows = list(found[: limit + 1])
    page = rows[:limit]
    next_cursor = None
    if len(rows) > limit:
        next_cursor = pagination_cursor.encode_cursor([str(page[-1].pk)], as_of=now, question=question)
    return CursorPage(rows=page, limit=limit, next_cursor=next_cursor, as_of=now)


def check_table(slug: str, *, day: date, at: time, party_size: int, area: str | None = None, now: datetime) -> None:
    """Raise what `book_table` would raise without the guest's data, and store nothing. About ten queries."""
    _, venue = find_venue(slug)
    chosen_area = choose_area(venue, area)
    party = Reservation(venue=venue, date=day, time=at, party_size=party_size, area=chosen_area)
    set_start(party, now=now)
    require_small_party(party)
    try:
        slot = find_slot(party, now=now)
    except OutsideServiceHours as refusal:
        raise _slot_full(refusal) from refusal
    (choices,) = slot_states.list_days(venue, day, day, party_size=party_size, area=chosen_area, now=now)
    state = next(
        (choice.state for choice in choices.choices if slot and choice.slot.starts_at == slot.starts_at), None
    )
    if state == SlotState.REQUEST:
        raise _needs_staff(party_size)
    if state != SlotState.FREE:
        raise _slot_full(slot_unavailable_error(party, now=now))


def change_booking(booking: FlowBooking, changes: Mapping[str, Any], *, now: datetime) -> FlowBooking:
    """Change date, time, party size, area or requests for the guest, by the rule of a booking.

    `changes` are fields of BookingChanges. A booking keeps its table until the new one is its own. Raises
    BookedAtOffer, AlreadyBooked, SlotFull, TooLateToCancel, and what commands.change raises; then nothing is changed.
    """
    values = dict(changes)
    if booking.slot and values.keys() - {"special_requests"}:
        raise BookedAtOffer(
            "This table is booked at an offer, whose time and party cannot be changed. Cancel it and book another.",
            param=next(name for name in values if name != "special_requests"),
        )
    reservation = booking.reservation
    guest: dict[str, str | Area | None] = {}
    if "special_requests" in values:
        guest["special_requests"] = values.pop("special_requests")
    if "area" in values:
        guest["area"] = choose_area(reservation.venue, values.pop("area"))
    if "date" in values:
        values["day"] = values.pop("date")
    if "time" in values:
        values["at"] = values.pop("time")
    try:
        with transaction.atomic():
            if values and reservation.status != Reservation.Status.CANCELLED:
                require_no_other_table(booking, values, now=now)
            permissions.change(reservation, values | ({"guest": guest} if guest else {}), now=now)
    except (SlotUnavailable, OutsideServiceHours) as refusal:
        raise _slot_full(refusal) from refusal
    return booking


def require_no_other_table(booking: FlowBooking, changes: Mapping[str, Any], *, now: datetime) -> None:
    """Raise AlreadyBooked if the guest has another table at the venue during the changed stay, unless they had before.

    Two tables at one time were wanted when they were booked. Locks the guest's contacts until the transaction ends.
    """
    current = booking.reservation
    changed = Reservation(
        venue=current.venue,
        date=changes.get("day", current.date),
        time=changes.get("at", current.time),
        party_size=changes.get("party_size", current.party_size),
    )
    set_start(changed, now=now)
    email, phone = current.customer_email, current.customer_phone
    lock_contacts(email, phone)
    contacts = list_contacts(email, phone)
    if (other := find_overlapping(changed, contacts, customer_phone=phone, besides=booking)) is None:
        return
    if find_overlapping(current, contacts, customer_phone=phone, besides=booking) is None:
        raise AlreadyBooked(other, next_step="Nothing was changed. Change or cancel that one first.", param="time")

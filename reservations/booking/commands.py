"""Takes and moves reservations: the rules of time, the tables, the row and what is told of it, in one transaction."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import TypedDict

from django.db import IntegrityError, transaction

from accounts.models import EventType, Venue
from framework.errors import ApiError, ErrorCode, InvalidRequest
from reservations.booking import table_assignment, waitlist
from reservations.booking.availability import Hours, Slot, could_seat, full, outside, places_of
from reservations.booking.venue_time import moment_of, today_of, turn_time
from reservations.models import IllegalMove, Notice, Reservation, new_code
from reservations.notifications import tell
from reservations.service.check_in import GONE

# A code is one of 887 million; within a venue two alike are a rare accident, five in a row are not.
TRIES = 5
PENDING, CONFIRMED, CANCELLED = Reservation.Status.PENDING, Reservation.Status.CONFIRMED, Reservation.Status.CANCELLED
WAITLIST = Reservation.PendingReason.WAITLIST
# What a guest is written, by the reason for which the reservation is pending; without one it is confirmed.
NOTICES: Mapping[str | None, Notice.Kind] = {
    None: Notice.Kind.CONFIRMED,
    Reservation.PendingReason.MANUAL: Notice.Kind.REQUESTED,
    Reservation.PendingReason.LARGE_PARTY: Notice.Kind.REQUESTED,
    WAITLIST: Notice.Kind.WAITLISTED,
    Reservation.PendingReason.PROOF: Notice.Kind.PROOF,
}
# What may become of a stored reservation; how it moves from status to status is Reservation.move_to.
REWRITTEN = [
    *("customer_name", "customer_email", "customer_phone", "special_requests"),
    *("date", "time", "starts_at", "ends_at", "party_size", "tables"),
    *("status", "pending_reason", "offered_until", "prove_by", "version", "updated_at"),
]


class Guest(TypedDict, total=False):
    """Who is coming, how they are reached, and what they have asked for: as much of it as is new."""

    customer_name: str
    customer_email: str | None
    customer_phone: str | None
    special_requests: str


class InThePast(InvalidRequest):
    """The moment is over."""


class TooFarAhead(InvalidRequest):
    """The day is beyond what the venue plans."""


class NoContact(InvalidRequest):
    """Nobody could tell the guest anything."""


class Changed(ApiError):
    """The reservation is not of the version that was seen: somebody else has changed it meanwhile."""

    code = ErrorCode.VERSION_CONFLICT


def book(
    venue: Venue,
    *,
    now: datetime,
    actor: str,
    customer_name: str,
    day: date,
    at: time,
    party_size: int,
    customer_email: str | None = None,
    customer_phone: str | None = None,
    special_requests: str = "",
    metadata: Mapping[str, str] | None = None,
    prove_by: datetime | None = None,
) -> Reservation:
    """Take a reservation as the venue is set up (docs/booking.md): confirmed with its tables, or pending and why.

    With `prove_by` it is kept until then, tables and all, for a guest who is to follow a mailed link (`proving`).
    Raises NoSuchTime, InThePast, TooFarAhead, OutsideServiceHours, SlotUnavailable; then nothing is stored. Where the
    venue has tables: some ten statements, and two more with pacing.
    """
    reservation = Reservation(
        venue=venue,
        customer_name=customer_name,
        customer_email=customer_email,
        customer_phone=customer_phone,
        date=day,
        time=at,
        starts_at=future_moment(venue, day=day, at=at, now=now),
        party_size=party_size,
        special_requests=special_requests,
        metadata=dict(metadata or {}),
        prove_by=prove_by,
    )
    slot = slot_of(reservation, now=now)
    if slot and venue.when_full == Venue.WhenFull.WAITLIST:
        # What has just become free is theirs first; the task that was enqueued for them may run later than this call.
        waitlist.look(venue, now=now, day=day)
    with transaction.atomic():
        if decide(reservation, slot):
            if prove_by is not None:
                reservation.status, reservation.pending_reason = PENDING, Reservation.PendingReason.PROOF
            notice = NOTICES[reservation.pending_reason]
            add(reservation, notice=notice, actor=actor, now=now)
            return reservation
    raise full(reservation, now=now)


def move(reservation: Reservation, status: str, *, now: datetime, actor: str) -> None:
    """Confirm or cancel. To stay where it is changes nothing and is told to nobody.

    Where the venue has tables, what is confirmed is seated as well as can be; a party that the staff have to place by
    hand is confirmed without. Who cancels frees the tables, and those who wait are offered them.

    Raises IllegalMove (see Reservation.move_to); SlotUnavailable when a party that waits for a table is confirmed and
    there is none. Then nothing is changed.
    """
    with transaction.atomic():
        table_assignment.lock(reservation)
        if status == CONFIRMED and reservation.status == PENDING:
            seat_before_confirmation(reservation, now=now)
        if status == CANCELLED:
            table_assignment.free(reservation)
        if not reservation.move_to(status, now=now):
            return
        if status == CANCELLED:
            waitlist.look_again(reservation.venue)
        tell(reservation, EventType(f"reservation.{status}"), notice=Notice.Kind(status), actor=actor, now=now)


def write_down(reservation: Reservation, *, status: Reservation.Status = PENDING, now: datetime, actor: str) -> None:
    """Store what the staff have taken: at any time, also one of the past, and whatever the hours and the pacing say.

    Where the venue has tables `reservation.tables` names those that it gets; where none is named, a confirmed one gets
    the best that is free, if any is. Elsewhere they are words of the staff.

    Raises NoSuchTime, NoSuchTable, TableTaken; then nothing is stored.
    """
    has_tables = table_assignment.has_tables(reservation.venue_id)
    reservation.starts_at = moment_of(reservation.venue, day=reservation.date, at=reservation.time)
    reservation.ends_at = reservation.starts_at + stay(reservation, has_tables=has_tables)
    reservation.status = status
    reservation.pending_reason = Reservation.PendingReason.MANUAL if status == PENDING else None
    with transaction.atomic():
        if has_tables and reservation.tables:
            table_assignment.take_named(reservation, reservation.tables)
        elif has_tables and status == CONFIRMED:
            table_assignment.take(reservation)
        add(reservation, notice=Notice.Kind.CONFIRMED if status == CONFIRMED else None, actor=actor, now=now)


def change(
    reservation: Reservation,
    *,
    day: date | None = None,
    at: time | None = None,
    party_size: int | None = None,
    tables: Sequence[str] | None = None,
    guest: Guest | None = None,
    version: int | None = None,
    now: datetime,
    actor: str,
) -> None:
    """Change what the staff have changed, and nothing else: None, or what `guest` does not name, is left as it is.

    They move a reservation outside of the hours and the pacing if they like, never onto a taken table. `tables` are
    its new ones; an empty list takes them away. Where they name none it keeps those that it holds; where they are
    taken at the new time, or the party is of another size, it gets the best that is free; what holds none stays
    without, and so does a party that is gone. A party that waits and is given a table waits for the staff's word only.
    Where all is so already, nothing is told.

    `version` is the one that was seen, where another one is not to be changed.

    Raises Changed, NoContact, NoSuchTime, NoSuchTable, TableTaken; SlotUnavailable when a party that had a table finds
    none; IllegalMove when it is cancelled, or is gone and to be given a table. Then nothing is changed.
    """
    with transaction.atomic():
        table_assignment.lock(reservation)
        if version is not None and reservation.version != version:
            raise Changed("Another user has changed this reservation. Check it and try again.", param="version")
        if reservation.status == CANCELLED:
            raise IllegalMove("This reservation is cancelled and cannot be changed.", param="status")
        before = {name: getattr(reservation, name) for name in REWRITTEN}
        for name, value in (guest or {}).items():
            setattr(reservation, name, value)
        if reservation.needs_contact and not (reservation.customer_email or reservation.customer_phone):
            raise NoContact("Enter an email address or a phone number.", param="customer_email")
        held = table_assignment.held(reservation)
        is_by_the_book = table_assignment.has_tables(reservation.venue_id) or reservation.seatings.exists()
        reservation.date = reservation.date if day is None else day
        reservation.time = reservation.time if at is None else at
        reservation.party_size = reservation.party_size if party_size is None else party_size
        is_moved = any(before[name] != getattr(reservation, name) for name in ("date", "time", "party_size"))
        if is_moved:
            reservation.starts_at = moment_of(reservation.venue, day=reservation.date, at=reservation.time)
            reservation.ends_at = reservation.starts_at + stay(reservation, has_tables=is_by_the_book)
        if not is_by_the_book:
            reservation.tables = reservation.tables if tables is None else list(tables)
            is_freed = False
        elif tables is None:
            is_resized = before["party_size"] != reservation.party_size
            is_freed = is_moved and seat_anew(reservation, held, may_stay=not is_resized, now=now)
        else:
            is_freed = seat_as_named(reservation, sorted(set(tables)), held=held, is_moved=is_moved)
        if not is_freed and before == {name: getattr(reservation, name) for name in REWRITTEN}:
            return
        if reservation.offered_until is not None:
            is_offered = reservation.pending_reason == WAITLIST and reservation.tables
            until = min(reservation.offered_until, reservation.starts_at)
            reservation.offered_until = until if is_offered else None
        if reservation.pending_reason != Reservation.PendingReason.PROOF:
            # The staff have taken it in hand: who gave it a table knows the guest.
            reservation.prove_by = None
        rewrite(reservation, is_moved=is_moved, actor=actor, now=now)
        if is_freed:
            waitlist.look_again(reservation.venue)


def seat_anew(reservation: Reservation, held: Sequence[str], *, may_stay: bool, now: datetime) -> bool:
    """Seat what was moved, if it held tables, at those if it may stay or else at the best; say whether any are freed.

    Raises SlotUnavailable.
    """
    if reservation.arrival in GONE:
        return False
    is_freed = table_assignment.free(reservation)
    if held:
        reseat(reservation, held if may_stay else None, now=now)
    return is_freed


def seat_as_named(reservation: Reservation, names: list[str], *, held: list[str], is_moved: bool) -> bool:
    """Give it these tables, unless it holds them already, and say whether others are freed by that.

    Raises NoSuchTable, TableTaken; IllegalMove for a party that is gone, which is at most taken off the books.
    """
    its = sorted(reservation.tables)
    is_gone = reservation.arrival in GONE
    if names == its and (is_gone or (names == held and not is_moved)):
        return False
    if is_gone and names:
        raise IllegalMove(f"This party is {reservation.arrival}, so no table can be assigned.", param="tables")
    is_freed = table_assignment.free(reservation)
    reservation.tables = []
    if names:
        table_assignment.take_named(reservation, names)
        reservation.pending_reason = Reservation.PendingReason.MANUAL if reservation.status == PENDING else None
    return is_freed


def future_moment(venue: Venue, *, day: date, at: time, now: datetime) -> datetime:
    """The moment that a guest may ask for. Raises NoSuchTime, InThePast, TooFarAhead."""
    today = today_of(venue, now=now)
    if day < today:
        raise InThePast(f"{day} is in the past. The current date at the restaurant is {today}.", param="date")
    if day > today + timedelta(days=venue.max_days_ahead):
        raise TooFarAhead(f"Reservations are taken at most {venue.max_days_ahead} days ahead.", param="date")
    moment = moment_of(venue, day=day, at=at)
    if moment <= now:
        raise InThePast(f"{at:%H:%M} is in the past.", param="time")
    return moment


def slot_of(reservation: Reservation, *, now: datetime) -> Slot | None:
    """The slot that it asks for; None where the venue has no tables, and so no hours that bind. Three queries at most.

    Raises OutsideServiceHours.
    """
    if not table_assignment.has_tables(reservation.venue_id):
        return None
    hours = Hours.of(reservation.venue, reservation.date)
    slot = hours.slot(reservation.time)
    if slot is None:
        raise outside(hours, reservation, now=now)
    return slot


def decide(reservation: Reservation, slot: Slot | None) -> bool:
    """Set how long it stays, its status and its tables, as the venue is set up; False where there is no room.

    Who could never be seated is not put on the waiting list. Two queries more for a party that finds no table there.
    """
    reservation.status, reservation.pending_reason = PENDING, None
    if slot is None:
        reservation.ends_at = reservation.starts_at + turn_time(reservation.party_size)
        reservation.pending_reason = Reservation.PendingReason.MANUAL
        return True
    reservation.ends_at = slot.ends_at(reservation.party_size)
    if reservation.party_size > reservation.venue.auto_confirm_max_party:
        reservation.pending_reason = Reservation.PendingReason.LARGE_PARTY
    elif table_assignment.take(reservation, pacing_covers=slot.period.pacing_covers) is not None:
        reservation.status = CONFIRMED
    elif reservation.venue.when_full == Venue.WhenFull.WAITLIST and could_seat(
        places_of(reservation.venue), reservation.party_size
    ):
        reservation.pending_reason = WAITLIST
    else:
        return False
    return True


def seat_before_confirmation(reservation: Reservation, *, now: datetime) -> None:
    """Give what is to be confirmed a place, unless it has one. Raises SlotUnavailable for one that waits for it."""
    if reservation.seatings.exists() or table_assignment.seat(reservation) is not None:
        return
    if reservation.pending_reason == WAITLIST and table_assignment.has_tables(reservation.venue_id):
        raise full(reservation, now=now)


def reseat(reservation: Reservation, names: Sequence[str] | None, *, now: datetime) -> None:
    """Give it these tables, or else the best that is free. Raises SlotUnavailable."""
    if names:
        try:
            table_assignment.take_named(reservation, names)
        except (table_assignment.TableTaken, table_assignment.NoSuchTable):
            pass
        else:
            return
    if table_assignment.take(reservation) is None:
        raise full(reservation, now=now)


def stay(reservation: Reservation, *, has_tables: bool) -> timedelta:
    """How long the party stays: as its service period says, if it comes in one."""
    slot = Hours.of(reservation.venue, reservation.date).slot(reservation.time) if has_tables else None
    return slot.period.turn_time(reservation.party_size) if slot else turn_time(reservation.party_size)


def rewrite(reservation: Reservation, *, is_moved: bool, actor: str, now: datetime) -> None:
    """Store a locked row as its next version, and tell of it."""
    reservation.version += 1
    reservation.updated_at = now
    reservation.save(force_update=True, update_fields=REWRITTEN)
    notice = Notice.Kind.MOVED if is_moved else None
    tell(reservation, EventType.RESERVATION_UPDATED, notice=notice, actor=actor, now=now)


def add(reservation: Reservation, *, notice: Notice.Kind | None, actor: str, now: datetime) -> None:
    """Insert the row and tell of it: that it was created, and if it is so at once, that it is confirmed."""
    reservation.created_at = reservation.updated_at = now
    insert(reservation)
    is_confirmed = reservation.status == CONFIRMED
    tell(
        reservation,
        EventType.RESERVATION_CREATED,
        notice=None if is_confirmed else notice,
        actor=actor,
        now=now,
    )
    if is_confirmed:
        tell(reservation, EventType.RESERVATION_CONFIRMED, notice=notice, actor=actor, now=now)


def insert(reservation: Reservation) -> None:
    """Insert the row, under another code if the venue has given this one already."""
    for _ in range(TRIES):
        try:
            with transaction.atomic():
                reservation.save(force_insert=True)
        except IntegrityError as error:
            if "reservation_code_once_in_a_venue" not in str(error):
                raise
            reservation.code = new_code()
        else:
            return
    raise RuntimeError(f"{TRIES} codes in a row were taken")

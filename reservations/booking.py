"""Takes and moves reservations: the rules of time, the tables, the row and what is told of it, in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, time, timedelta

from django.db import IntegrityError, transaction

from accounts.models import EventType, Venue
from config.api.refusal import InvalidRequest
from reservations import seating, waiting
from reservations.availability import Hours, Slot, could_seat, full, outside, places_of
from reservations.clock import moment_of, today_of, turn_time
from reservations.models import IllegalMove, Notice, Reservation, new_code
from reservations.telling import tell

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
}
# What may become of a stored reservation; how it moves from status to status is Reservation.move_to.
REWRITTEN = [
    *("customer_name", "customer_email", "customer_phone", "special_requests"),
    *("date", "time", "starts_at", "ends_at", "party_size", "tables"),
    *("status", "pending_reason", "offered_until", "version", "updated_at"),
]


@dataclass(frozen=True, slots=True)
class Guest:
    """Who is coming, how they are reached, and what they have asked for."""

    customer_name: str
    customer_email: str | None
    customer_phone: str | None
    special_requests: str = ""


class InThePast(InvalidRequest):
    """The moment is over."""


class TooFarAhead(InvalidRequest):
    """The day is beyond what the venue plans."""


class StaffDecide(InvalidRequest):
    """The staff have given their word on this reservation, and only they can give it on another."""


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
) -> Reservation:
    """Take a reservation as the venue is set up (docs/booking.md): confirmed with its tables, or pending and why.

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
    )
    slot = slot_of(reservation, now=now)
    if slot and venue.when_full == Venue.WhenFull.WAITLIST:
        # What has just become free is theirs first; the worker that was rung for them may come later than this call.
        waiting.look(venue, now=now, day=day)
    with transaction.atomic():
        if decide(reservation, slot):
            notice = NOTICES[reservation.pending_reason]
            store(reservation, notice=notice, actor=actor, now=now)
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
        venue = reservation.venue
        reservation.refresh_from_db(from_queryset=Reservation.objects.select_for_update())
        reservation.venue = venue
        if status == CONFIRMED and reservation.status == PENDING:
            seat_before_confirmation(reservation, now=now)
        if not reservation.move_to(status, now=now):
            return
        if status == CANCELLED:
            seating.free(reservation)
            waiting.look_again(venue)
        tell(reservation, EventType(f"reservation.{status}"), notice=Notice.Kind(status), actor=actor, now=now)


def reschedule(reservation: Reservation, *, day: date, at: time, party_size: int, now: datetime, actor: str) -> None:
    """Move a guest to another time or size by the rules of `book`; the tables are chosen anew.

    What waited for a table and finds one is confirmed. Raises what `book` raises; IllegalMove when it is cancelled;
    StaffDecide where the staff have confirmed it, or would have to. Then nothing is changed.
    """
    with transaction.atomic():
        locked = lock(reservation)
        was = locked.status
        if (locked.date, locked.time, locked.party_size) == (day, at, party_size):
            return
        locked.starts_at = future_moment(locked.venue, day=day, at=at, now=now)
        locked.date, locked.time, locked.party_size = day, at, party_size
        slot = slot_of(locked, now=now)
        if slot and slot.period.pacing_covers:
            # Before the tables, as everybody takes his locks.
            seating.queue_for_slot(locked)
        had_tables = seating.free(locked)
        has_room = decide(locked, slot)
        if not has_room or (was == CONFIRMED and locked.pending_reason == WAITLIST):
            raise full(locked, now=now)
        if was == CONFIRMED and locked.status == PENDING:
            raise StaffDecide("Only the staff can change this reservation so; ask them.", param="party_size")
        locked.offered_until = None
        rewrite(locked, is_moved=True, actor=actor, now=now)
        if was != locked.status:
            tell(locked, EventType.RESERVATION_CONFIRMED, notice=Notice.Kind.CONFIRMED, actor=actor, now=now)
        if had_tables:
            waiting.look_again(locked.venue)
    reservation.refresh_from_db()


def write_down(reservation: Reservation, *, status: Reservation.Status = PENDING, now: datetime, actor: str) -> None:
    """Store what the staff have taken: at any time, also one of the past, and whatever the hours and the pacing say.

    Where the venue has tables `reservation.tables` names those that it gets; where none is named, a confirmed one gets
    the best that is free, if any is. Elsewhere they are words of the staff.

    Raises NoSuchTime, NoSuchTable, TableTaken; then nothing is stored.
    """
    has_tables = seating.has_tables(reservation.venue_id)
    reservation.starts_at = moment_of(reservation.venue, day=reservation.date, at=reservation.time)
    reservation.ends_at = reservation.starts_at + stay(reservation, has_tables=has_tables)
    reservation.status = status
    reservation.pending_reason = Reservation.PendingReason.MANUAL if status == PENDING else None
    with transaction.atomic():
        if has_tables and reservation.tables:
            seating.take_named(reservation, reservation.tables)
        elif has_tables and status == CONFIRMED:
            seating.take(reservation)
        store(reservation, notice=Notice.Kind.CONFIRMED if status == CONFIRMED else None, actor=actor, now=now)


def change(
    reservation: Reservation,
    *,
    day: date,
    at: time,
    party_size: int,
    tables: Sequence[str] | None = None,
    guest: Guest | None = None,
    now: datetime,
    actor: str,
) -> None:
    """Move a reservation as the staff say: outside of the hours and the pacing if they like, never onto a taken table.

    `tables` are its new ones; an empty list takes them away. None: it keeps those that it has; where they are taken at
    the new time, or the party is of another size, it gets the best that is free; what has none stays without. A party
    that waits and is given a table waits for the staff's word only.

    Raises NoSuchTime, NoSuchTable, TableTaken; SlotUnavailable when a party that had a table finds none; IllegalMove
    when it is cancelled. Then nothing is changed.
    """
    with transaction.atomic():
        locked = lock(reservation)
        is_moved = (locked.date, locked.time, locked.party_size) != (day, at, party_size)
        is_resized = locked.party_size != party_size
        has_tables = seating.has_tables(locked.venue_id)
        before, had_tables = list(locked.tables), False
        if is_moved:
            locked.date, locked.time, locked.party_size = day, at, party_size
            locked.starts_at = moment_of(locked.venue, day=day, at=at)
            locked.ends_at = locked.starts_at + stay(locked, has_tables=has_tables)
        if not has_tables:
            locked.tables = before if tables is None else list(tables)
        elif is_moved or (tables is not None and sorted(tables) != sorted(before)):
            had_tables = seating.free(locked)
            if tables:
                seating.take_named(locked, tables)
                locked.pending_reason = Reservation.PendingReason.MANUAL if locked.status == PENDING else None
            elif tables is None and had_tables:
                reseat(locked, None if is_resized else before, now=now)
        is_offered = locked.pending_reason == WAITLIST and locked.tables
        locked.offered_until = locked.offered_until if is_offered else None
        if guest is not None:
            for name, value in asdict(guest).items():
                setattr(locked, name, value)
        rewrite(locked, is_moved=is_moved, actor=actor, now=now)
        if had_tables:
            waiting.look_again(locked.venue)
    reservation.refresh_from_db()


def future_moment(venue: Venue, *, day: date, at: time, now: datetime) -> datetime:
    """The moment that a guest may ask for. Raises NoSuchTime, InThePast, TooFarAhead."""
    today = today_of(venue, now=now)
    if day < today:
        raise InThePast(f"{day} is over; at the venue it is {today}.", param="date")
    if day > today + timedelta(days=venue.max_days_ahead):
        raise TooFarAhead(f"Reservations are taken at most {venue.max_days_ahead} days ahead.", param="date")
    moment = moment_of(venue, day=day, at=at)
    if moment <= now:
        raise InThePast(f"{at:%H:%M} is over today.", param="time")
    return moment


def slot_of(reservation: Reservation, *, now: datetime) -> Slot | None:
    """The slot that it asks for; None where the venue has no tables, and so no hours that bind. Three queries at most.

    Raises OutsideServiceHours.
    """
    if not seating.has_tables(reservation.venue_id):
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
    elif seating.take(reservation, pacing_covers=slot.period.pacing_covers) is not None:
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
    if reservation.seatings.exists() or seating.seat(reservation) is not None:
        return
    if reservation.pending_reason == WAITLIST and seating.has_tables(reservation.venue_id):
        raise full(reservation, now=now)


def reseat(reservation: Reservation, names: Sequence[str] | None, *, now: datetime) -> None:
    """Give it these tables, or else the best that is free. Raises SlotUnavailable."""
    if names:
        try:
            seating.take_named(reservation, names)
        except (seating.TableTaken, seating.NoSuchTable):
            pass
        else:
            return
    if seating.take(reservation) is None:
        raise full(reservation, now=now)


def stay(reservation: Reservation, *, has_tables: bool) -> timedelta:
    """How long the party stays: as its service period says, if it comes in one."""
    slot = Hours.of(reservation.venue, reservation.date).slot(reservation.time) if has_tables else None
    return slot.period.turn_time(reservation.party_size) if slot else turn_time(reservation.party_size)


def lock(reservation: Reservation) -> Reservation:
    """The row as it is now, which nobody else changes before the transaction ends. Raises IllegalMove."""
    locked = Reservation.objects.select_for_update(of=["self"]).select_related("venue").get(pk=reservation.pk)
    if locked.status == CANCELLED:
        raise IllegalMove("This reservation is cancelled and cannot be changed.", param="status")
    return locked


def rewrite(reservation: Reservation, *, is_moved: bool, actor: str, now: datetime) -> None:
    """Store a locked row as its next version, and tell of it."""
    reservation.version += 1
    reservation.updated_at = now
    reservation.save(force_update=True, update_fields=REWRITTEN)
    is_told = is_moved and reservation.status == CONFIRMED
    notice = Notice.Kind.MOVED if is_told else None
    tell(reservation, EventType.RESERVATION_UPDATED, notice=notice, actor=actor, now=now)


def store(reservation: Reservation, *, notice: Notice.Kind | None, actor: str, now: datetime) -> None:
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

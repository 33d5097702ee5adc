"""Takes a reservation: the rules of time, then the row."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction

from accounts import events
from accounts.models import EventType, Venue
from config.api.refusal import InvalidRequest
from reservations.models import Reservation, new_code
from reservations.serializers import ReservationRecord

# How long a party keeps its table, by its size: up to this many guests, this many minutes.
TURNS_MIN = ((2, 90), (4, 105), (6, 120))
LONGEST_TURN_MIN = 150
# A code is one of 887 million; within a venue two alike are a rare accident, five in a row are not.
TRIES = 5


class NoSuchTime(InvalidRequest):
    """The venue's clock skips this time on that day."""


class InThePast(InvalidRequest):
    """The moment is over."""


class TooFarAhead(InvalidRequest):
    """The day is beyond what the venue plans."""


def turn_time(party_size: int) -> timedelta:
    """How long a party of this size is expected to stay."""
    return timedelta(minutes=next((turn for most, turn in TURNS_MIN if party_size <= most), LONGEST_TURN_MIN))


def moment_of(venue: Venue, *, day: date, at: time) -> datetime:
    """The moment, in UTC, at which the venue's clock shows this; the first one where it shows it twice.

    Raises NoSuchTime where the clock jumps over it.
    """
    zone = ZoneInfo(venue.timezone)
    try:
        moment = datetime.combine(day, at, zone).astimezone(UTC)
    except OverflowError as error:
        raise NoSuchTime("This is beyond the calendar.", param="date") from error
    if moment.astimezone(zone).replace(tzinfo=None) != datetime.combine(day, at):
        raise NoSuchTime(f"On {day} the clocks in {venue.timezone} skip {at:%H:%M}.", param="time")
    return moment


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
    """Store a reservation. Without tables to give, it waits for the staff's word: pending, `manual`.

    Raises NoSuchTime, InThePast, TooFarAhead.
    """
    today = now.astimezone(ZoneInfo(venue.timezone)).date()
    if day < today:
        raise InThePast(f"{day} is over; at the venue it is {today}.", param="date")
    if day > today + timedelta(days=venue.max_days_ahead):
        raise TooFarAhead(f"Reservations are taken at most {venue.max_days_ahead} days ahead.", param="date")
    starts_at = moment_of(venue, day=day, at=at)
    if starts_at <= now:
        raise InThePast(f"{at:%H:%M} is over today.", param="time")
    reservation = Reservation(
        venue=venue,
        customer_name=customer_name,
        customer_email=customer_email,
        customer_phone=customer_phone,
        date=day,
        time=at,
        party_size=party_size,
        special_requests=special_requests,
        metadata=dict(metadata or {}),
    )
    with transaction.atomic():
        write_down(reservation, starts_at=starts_at, now=now)
        record(reservation, EventType.RESERVATION_CREATED, actor=actor, now=now)
    return reservation


def move(reservation: Reservation, status: str, *, now: datetime, actor: str) -> None:
    """Confirm or cancel. Raises IllegalMove (see Reservation.move_to)."""
    with transaction.atomic():
        if reservation.move_to(status, now=now):
            record(reservation, EventType(f"reservation.{status}"), actor=actor, now=now)


def record(reservation: Reservation, kind: EventType, *, actor: str, now: datetime) -> None:
    """Write down what has happened to the reservation, as callers see it now."""
    events.record(
        reservation.venue,
        kind,
        record=ReservationRecord(reservation).data,
        subject=reservation.pk,
        actor=actor,
        now=now,
    )


def write_down(reservation: Reservation, *, starts_at: datetime, now: datetime) -> None:
    """Insert what the guest or the staff asked for, pending."""
    reservation.status = Reservation.Status.PENDING
    reservation.pending_reason = Reservation.PendingReason.MANUAL
    reservation.created_at = reservation.updated_at = now
    reschedule(reservation, starts_at=starts_at)
    insert(reservation)


def reschedule(reservation: Reservation, *, starts_at: datetime) -> None:
    """Set when the table is taken, by the time that a party of this size stays."""
    reservation.starts_at = starts_at
    reservation.ends_at = starts_at + turn_time(reservation.party_size)


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

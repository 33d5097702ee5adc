"""When a venue takes guests, and what it still has room for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Self
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Q, Sum

from accounts.models import Venue
from framework.errors import ApiError, ErrorCode
from reservations.booking.table_assignment import HOLDING
from reservations.booking.venue_time import NoSuchTime, moment_of
from reservations.models import Closure, Combination, Reservation, Seating, ServicePeriod, Table

A_DAY = timedelta(days=1)
# So many other times are named to a guest who cannot have the one asked for.
MOST_ALTERNATIVES = 4


class OutsideServiceHours(ApiError):
    """The venue seats nobody then, on a day on which it may take guests at other times."""

    code = ErrorCode.OUTSIDE_SERVICE_HOURS


class SlotUnavailable(ApiError):
    """The venue seats guests then, and has no room for this party."""

    code = ErrorCode.SLOT_UNAVAILABLE


@dataclass(frozen=True, slots=True)
class Slot:
    """A time at which a service period that begins on `own_day` seats guests; with a closure it does not after all."""

    time: time
    starts_at: datetime
    own_day: date
    period: ServicePeriod
    closure: Closure | None = None

    def ends_at(self, party_size: int) -> datetime:
        """Until when a party of this size keeps its table."""
        return self.starts_at + self.period.turn_time(party_size)


@dataclass(frozen=True, slots=True)
class Offer:
    """A slot for a party of some size: when it would sit down and leave (UTC), and whether there is room for it."""

    time: time
    starts_at: datetime
    ends_at: datetime
    has_room: bool


@dataclass(frozen=True, slots=True)
class Hours:
    """The slots of one day of the calendar, by the venue's clock, soonest first; those of closed days are among them.

    Of a period that began the evening before, those after midnight are here, and the closure that counts for them is
    that of the evening. Where two periods seat guests at one time, the one that began on the day itself counts, then
    the one that began first. A time that the clocks skip is no slot; one that they show twice is one slot, the first.
    """

    venue: Venue
    day: date
    slots: tuple[Slot, ...]

    @classmethod
    def of(cls, venue: Venue, day: date) -> Self:
        """Read the periods and the closures. Two queries."""
        eve = day - A_DAY
        periods = (
            ServicePeriod.objects.filter(venue=venue, weekdays__overlap=[day.weekday(), eve.weekday()])
            .order_by("first_seating", "name", "id")
        )  # fmt: skip
        closures = Closure.objects.filter(venue=venue, first_date__lte=day, last_date__gte=eve).order_by(
            "first_date", "id"
        )
        return cls(venue=venue, day=day, slots=tuple(slots_of(venue, day, list(periods), list(closures))))

    def open_slots(self) -> list[Slot]:
        """Those at which guests are seated."""
        return [slot for slot in self.slots if slot.closure is None]

    def slot(self, at: time) -> Slot | None:
        """The one that begins then; None where nobody is seated."""
        return next((slot for slot in self.open_slots() if slot.time == at), None)

    def why_not(self, at: time) -> str:
        """Why nobody is seated then, worded for the guest: a closed day with its reason."""
        shut = [slot for slot in self.slots if slot.closure]
        its = next((slot for slot in shut if slot.time == at), None if self.open_slots() else next(iter(shut), None))
        if its is None or its.closure is None:
            return f"No guests are seated at {at:%H:%M} on {self.day}."
        return f"No guests are seated on {its.own_day}: {its.closure.reason or 'the venue is closed'}."


def slots_of(venue: Venue, day: date, periods: Sequence[ServicePeriod], closures: Sequence[Closure]) -> list[Slot]:
    """The slots of a day, soonest first. `periods` in the order in which they count."""
    found: dict[time, Slot] = {}
    for own_day in (day, day - A_DAY):
        closure = next((shut for shut in closures if shut.first_date <= own_day <= shut.last_date), None)
        for period in periods:
            if own_day.weekday() not in period.weekdays:
                continue
            for days_after, at in period.seatings():
                known = found.get(at)
                if own_day + days_after * A_DAY != day or (known and (closure or not known.closure)):
                    continue
                try:
                    moment = moment_of(venue, day=day, at=at)
                except NoSuchTime:
                    continue
                found[at] = Slot(time=at, starts_at=moment, own_day=own_day, period=period, closure=closure)
    return sorted(found.values(), key=lambda slot: slot.starts_at)


@dataclass(frozen=True, slots=True)
class Place:
    """A table, or tables that are pushed together."""

    seats_min: int
    seats_max: int
    tables: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class Day:
    """What is taken and what is free on one day of a venue, as it was read at `now`."""

    hours: Hours
    places: Sequence[Place]
    taken: Mapping[UUID, Sequence[tuple[datetime, datetime]]]
    covers: Mapping[datetime, int]
    now: datetime

    @classmethod
    def of(cls, venue: Venue, day: date, *, now: datetime, hours: Hours | None = None) -> Self:
        """Read the day in at most six queries, of which `hours` saves two."""
        hours = hours or Hours.of(venue, day)
        slots = hours.open_slots()
        if not slots:
            return cls(hours=hours, places=(), taken={}, covers={}, now=now)
        first = slots[0].starts_at
        last = max(slot.starts_at + longest_turn(slot.period) for slot in slots)
        taken: dict[UUID, list[tuple[datetime, datetime]]] = {}
        seatings = Seating.objects.filter(table__venue=venue, during__overlap=(first, last))
        for table, during in seatings.values_list("table_id", "during"):
            taken.setdefault(table, []).append((during.lower, during.upper))
        covers: dict[datetime, int] = {}
        if any(slot.period.pacing_covers for slot in slots):
            begin = Reservation.objects.filter(HOLDING, venue=venue, starts_at__range=(first, last))
            covers = dict(begin.values_list("starts_at").annotate(covers=Sum("party_size")).order_by("starts_at"))
        return cls(hours=hours, places=tuple(places_of(venue)), taken=taken, covers=covers, now=now)

    def slots(self, party_size: int) -> list[Offer]:
        """Every slot of the day that is still to come, soonest first, and whether a party of this size has room."""
        return [
            Offer(
                time=slot.time,
                starts_at=slot.starts_at,
                ends_at=slot.ends_at(party_size),
                has_room=self.has_room(slot, party_size),
            )
            for slot in self.hours.open_slots()
            if slot.starts_at > self.now
        ]

    def has_room(self, slot: Slot, party_size: int) -> bool:
        """Whether a place that seats the party is free for its whole stay, and the slot takes so many guests more."""
        pacing_covers = slot.period.pacing_covers
        if pacing_covers is not None and self.covers.get(slot.starts_at, 0) + party_size > pacing_covers:
            return False
        ends_at = slot.ends_at(party_size)
        return any(
            all(self.is_free(table, slot.starts_at, ends_at) for table in place.tables)
            for place in self.places
            if place.seats_min <= party_size <= place.seats_max
        )

    def is_free(self, table: UUID, starts_at: datetime, ends_at: datetime) -> bool:
        """Whether nobody has the table in between."""
        return all(end <= starts_at or ends_at <= start for start, end in self.taken.get(table, ()))

    def alternatives(self, at: time, party_size: int) -> list[str]:
        """The times nearest to this one that have room, at most four, soonest first: ["18:45", "21:00"].

        A party that waits for the staff's word anyway is told of all times: the staff make room.
        """
        is_large = party_size > self.hours.venue.auto_confirm_max_party
        wanted = minutes(at)
        fit = [offer for offer in self.slots(party_size) if (is_large or offer.has_room) and offer.time != at]
        nearest = sorted(fit, key=lambda offer: (abs(minutes(offer.time) - wanted), offer.starts_at))
        chosen = sorted(nearest[:MOST_ALTERNATIVES], key=lambda offer: offer.starts_at)
        return [f"{offer.time:%H:%M}" for offer in chosen]


def places_of(venue: Venue) -> Iterator[Place]:
    """The tables that are given out, and the combinations of two or more of them. Two queries."""
    active = Table.objects.filter(venue=venue, is_active=True).order_by("id")
    for key, seats_min, seats_max in active.values_list("id", "seats_min", "seats_max"):
        yield Place(seats_min, seats_max, frozenset([key]))
    several = (
        Combination.objects.filter(venue=venue, is_active=True)
        .order_by("id")
        .annotate(
            parts=ArrayAgg("tables", filter=Q(tables__isnull=False)),
            idle=Count("tables", filter=Q(tables__is_active=False)),
        )
    )
    for seats_min, seats_max, parts, idle in several.values_list("seats_min", "seats_max", "parts", "idle"):
        if parts and len(parts) > 1 and not idle:
            yield Place(seats_min, seats_max, frozenset(parts))


def could_seat(places: Iterable[Place], party_size: int) -> bool:
    """Whether one of them would seat the party if nobody else came."""
    return any(place.seats_min <= party_size <= place.seats_max for place in places)


def longest_turn(period: ServicePeriod) -> timedelta:
    """How long the slowest guests of this period stay."""
    return max(period.turn_time(party_size) for party_size in (2, 4, 6, 7))


def minutes(at: time) -> int:
    """Since midnight, by the clock."""
    return at.hour * 60 + at.minute


def outside(hours: Hours, reservation: Reservation, *, now: datetime) -> OutsideServiceHours:
    """The refusal of a time at which nobody is seated, with the nearest that have room. At most four queries."""
    day = Day.of(hours.venue, hours.day, now=now, hours=hours)
    others = day.alternatives(reservation.time, reservation.party_size)
    return OutsideServiceHours(
        with_times(hours.why_not(reservation.time), others), param="time", extra={"alternatives": others}
    )


def full(reservation: Reservation, *, now: datetime) -> SlotUnavailable:
    """The refusal of a party for which there is no room, with the nearest times that have. At most six queries.

    One that no place of the venue seats is told so.
    """
    day = Day.of(reservation.venue, reservation.date, now=now)
    if not could_seat(day.places or places_of(reservation.venue), reservation.party_size):
        message = f"There is no table for {reservation.party_size} here."
        return SlotUnavailable(message, param="time", extra={"alternatives": []})
    others = day.alternatives(reservation.time, reservation.party_size)
    message = f"There is no table for {reservation.party_size} at {reservation.time:%H:%M} on {reservation.date}."
    return SlotUnavailable(with_times(message, others), param="time", extra={"alternatives": others})


def with_times(message: str, others: Sequence[str]) -> str:
    """The message, and when there is room instead."""
    return f"{message} There is room at {', '.join(others)}." if others else message

"""The times at which a venue seats guests, and which of them have room."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Self
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import Venue
from framework.errors import ApiError, ErrorCode, InvalidRequest
from reservations.booking.venue_time import NonexistentTime, default_turn_time, to_utc
from reservations.models import Area, Closure, Combination, Hold, Reservation, Seating, ServicePeriod, Table
from reservations.models.reservations import IS_EXPECTED

ONE_DAY = timedelta(days=1)
MAX_ALTERNATIVES = 4


class OutsideServiceHours(ApiError):
    """The venue seats no guests at this time."""

    code = ErrorCode.OUTSIDE_SERVICE_HOURS


class SlotUnavailable(ApiError):
    """The venue has no room for this party at this time."""

    code = ErrorCode.SLOT_UNAVAILABLE


@dataclass(frozen=True, slots=True)
class Slot:
    """A seating time of a service period that starts on `service_date`; not open if that day has a closure."""

    time: time
    starts_at: datetime
    service_date: date
    period: ServicePeriod
    closure: Closure | None = None

    def ends_at(self, party_size: int) -> datetime:
        return self.starts_at + self.period.turn_time(party_size)

    @property
    def seated_until(self) -> datetime:
        """The time of the next slot."""
        return self.starts_at + timedelta(minutes=self.period.slot_min)


@dataclass(frozen=True, slots=True)
class DaySlots:
    """The slots of a local calendar day in order, including those of closed days (`list_slots`)."""

    venue: Venue
    day: date
    slots: tuple[Slot, ...]

    @classmethod
    def load(cls, venue: Venue, day: date) -> Self:
        """Read the periods and the closures. Two queries."""
        return cls(venue, day, tuple(list_slots(venue, day, *load_hours(venue, day - ONE_DAY, day))))

    def open_slots(self) -> list[Slot]:
        return [slot for slot in self.slots if slot.closure is None]

    def find(self, at: time) -> Slot | None:
        return next((slot for slot in self.open_slots() if slot.time == at), None)

    def closed_message(self, at: time) -> str:
        """Return the message for guests: why no guests are seated at this time."""
        closed = [slot for slot in self.slots if slot.closure]
        # Without any open slot the reason is the closure, whatever time was requested.
        slot = next(
            (slot for slot in closed if slot.time == at), None if self.open_slots() else next(iter(closed), None)
        )
        if slot is None or slot.closure is None:
            return _("No guests are seated at %(time)s on %(day)s.") % {"time": f"{at:%H:%M}", "day": self.day}
        reason = slot.closure.reason or _("the venue is closed")
        return _("No guests are seated on %(day)s: %(reason)s.") % {"day": slot.service_date, "reason": reason}


def load_hours(venue: Venue, first: date, last: date) -> tuple[list[ServicePeriod], list[Closure]]:
    """Return the periods of the venue in order of precedence, and the closures of these days. Two queries."""
    closures = Closure.objects.filter(venue=venue, first_date__lte=last, last_date__gte=first)
    return (
        list(ServicePeriod.objects.filter(venue=venue).order_by("first_seating", "name", "id")),
        list(closures.order_by("first_date", "id")),
    )


def find_closure(day: date, closures: Iterable[Closure]) -> Closure | None:
    return next((closure for closure in closures if closure.first_date <= day <= closure.last_date), None)


def list_slots(venue: Venue, day: date, periods: Sequence[ServicePeriod], closures: Sequence[Closure]) -> list[Slot]:
    """Return the slots of a local calendar day in order, given the periods in order of precedence.

    Slots after midnight belong to the service, and to the closure, of the day before. If two periods share a time, the
    one that starts on the day itself takes precedence, then the first one. Times that the clock skips are left out.
    """
    slots: dict[time, Slot] = {}
    for service_date in (day, day - ONE_DAY):
        closure = find_closure(service_date, closures)
        for period in periods:
            if service_date.weekday() not in period.weekdays:
                continue
            for days_after, at in period.seatings():
                known = slots.get(at)
                if service_date + days_after * ONE_DAY != day or (known and (closure or not known.closure)):
                    continue
                try:
                    starts_at = to_utc(venue, day=day, at=at)
                except NonexistentTime:
                    continue
                slots[at] = Slot(at, starts_at, service_date, period, closure)
    return sorted(slots.values(), key=lambda slot: slot.starts_at)


@dataclass(frozen=True, slots=True)
class Place:
    """A table or a combination of tables, with the names of its tables in order."""

    seats_min: int
    seats_max: int
    tables: frozenset[UUID]
    names: list[str]

    def fits(self, party_size: int) -> bool:
        return self.seats_min <= party_size <= self.seats_max


def list_places(venue: Venue, *, area: Area | None = None) -> list[Place]:
    """Return the active tables, of this area if one is given, and the active combinations of two or more of them.

    Two queries.
    """
    return list_places_of([venue.pk], area=area)[venue.pk]


def list_places_of(venues: Collection[UUID], *, area: Area | None = None) -> dict[UUID, list[Place]]:
    """Return the places of many venues, as `list_places`. Two queries."""
    places: dict[UUID, list[Place]] = {venue: [] for venue in venues}
    in_area = {"area": area} if area else {}
    rows = Table.objects.filter(venue__in=venues, is_active=True, **in_area).order_by("id")
    tables = {table.pk: table for table in rows}
    for row in tables.values():
        places[row.venue_id].append(Place(row.seats_min, row.seats_max, frozenset([row.pk]), [row.name]))
    combinations: Any = Combination.objects.filter(venue__in=venues, is_active=True).annotate(parts=ArrayAgg("tables"))
    for row in combinations.order_by("id"):
        if len(row.parts) > 1 and tables.keys() >= set(row.parts):
            names = sorted(tables[part].name for part in row.parts)
            places[row.venue_id].append(Place(row.seats_min, row.seats_max, frozenset(row.parts), names))
    return places


def list_areas(venue: Venue) -> list[Area]:
    """Return the areas with active tables, in their order. One query."""
    areas = Area.objects.filter(Exists(Table.objects.filter(area=OuterRef("pk"), is_active=True)), venue=venue)
    return list(areas.order_by("position", "name"))


def find_area(areas: Iterable[Area], name: str) -> Area:
    """Return the area of this name, whatever its case. Raises InvalidRequest, which lists the areas."""
    by_name = {area.name.casefold(): area for area in areas}
    area = by_name.get(name.casefold())
    if area is None:
        known = ", ".join(f"`{area.name}`" for area in by_name.values())
        hint = f"It has {known}." if known else "It has none."
        raise InvalidRequest(f"The restaurant has no such area. {hint}", param="area")
    return area


def choose_area(venue: Venue, name: str | None) -> Area | None:
    """Return the area of this name; None without a name. Raises InvalidRequest. One query with a name."""
    return find_area(list_areas(venue), name) if name else None


def has_place_for(places: Iterable[Place], party_size: int) -> bool:
    """Return whether one of the places is of the size of the party, free or not."""
    return any(place.fits(party_size) for place in places)


def stay_duration(reservation: Reservation, *, has_tables: bool) -> timedelta:
    """Return how long the party stays: the turn time of its service period, or the default."""
    slot = DaySlots.load(reservation.venue, reservation.date).find(reservation.time) if has_tables else None
    return slot.period.turn_time(reservation.party_size) if slot else default_turn_time(reservation.party_size)


def list_seatings(venue: Venue, starts_at: datetime, ends_at: datetime, *, now: datetime) -> QuerySet[Seating]:
    """Return the seatings in this span, without those of expired holds."""
    seatings = Seating.objects.filter(table__venue=venue, during__overlap=(starts_at, ends_at))
    return seatings.exclude(hold__expires_at__lte=now)


def list_free_places(reservation: Reservation, *, day: date, at: time, now: datetime) -> tuple[datetime, list[Place]]:
    """Return the end of the stay at this time, and the free places, best fit first; its own tables count as free.

    At most six queries. Raises NonexistentTime.
    """
    venue, party_size = reservation.venue, reservation.party_size
    moved = Reservation(venue=venue, date=day, time=at, party_size=party_size)
    starts_at = to_utc(venue, day=day, at=at)
    ends_at = starts_at + stay_duration(moved, has_tables=True)
    seatings = list_seatings(venue, starts_at, ends_at, now=now)
    taken = set(seatings.exclude(reservation=reservation.pk).values_list("table_id", flat=True))
    free = [place for place in list_places(venue) if not taken & place.tables]
    return ends_at, sorted(
        free, key=lambda place: (not place.fits(party_size), len(place.names), place.seats_max, place.names)
    )


def count_covers(
    venue: Venue, first: datetime, last: datetime, *, now: datetime, excluding: UUID | None = None
) -> dict[datetime, int]:
    """Return how many guests start at each moment, those of holds included, without one of them. One query."""
    span = Q(venue=venue, starts_at__range=(first, last)) & (~Q(pk=excluding) if excluding else Q())
    parties = Reservation.objects.filter(IS_EXPECTED, span)
    held = Hold.objects.active(now=now).filter(span)
    rows = [each.order_by().values_list("starts_at", "party_size") for each in (parties, held)]
    covers: dict[datetime, int] = {}
    for starts_at, party_size in rows[0].union(rows[1], all=True):
        covers[starts_at] = covers.get(starts_at, 0) + party_size
    return covers


@dataclass(frozen=True, slots=True)
class DayAvailability:
    """The slots, places and bookings of one day, as read at `now`."""

    hours: DaySlots
    places: Sequence[Place]
    taken: Mapping[UUID, Sequence[tuple[datetime, datetime]]]
    covers: Mapping[datetime, int]
    now: datetime

    @classmethod
    def load(
        cls, venue: Venue, day: date, *, area: Area | None = None, excluding: UUID | None = None, now: datetime
    ) -> Self:
        """Read one day, without the tables and guests of one reservation. At most six queries."""
        hours = DaySlots.load(venue, day)
        places = list_places(venue, area=area) if area else None
        (availability,) = cls.load_days([hours], places=places, excluding=excluding, now=now)
        return availability

    @classmethod
    def load_days(
        cls,
        days: Sequence[DaySlots],
        *,
        places: Sequence[Place] | None = None,
        excluding: UUID | None = None,
        now: datetime,
    ) -> list[Self]:
        """Read the bookings, and by default the places, of several days of one venue. At most four queries.

        `excluding` is the key of a reservation that is to be moved: its own tables and guests do not count.
        """
        venue = days[0].venue
        slots = [slot for day in days for slot in day.open_slots()]
        if places is None:
            places = list_places(venue) if slots else ()
        taken: dict[UUID, list[tuple[datetime, datetime]]] = {}
        covers: dict[datetime, int] = {}
        if slots and places:
            first = min(slot.starts_at for slot in slots)
            last = max(slot.ends_at(party_size) for slot in slots for party_size in (2, 4, 6, 7))
            seatings = list_seatings(venue, first, last, now=now)
            if excluding:
                seatings = seatings.exclude(reservation=excluding)
            for table, during in seatings.values_list("table_id", "during"):
                taken.setdefault(table, []).append((during.lower, during.upper))
            if any(slot.period.pacing_covers for slot in slots):
                covers = count_covers(venue, first, last, now=now, excluding=excluding)
        return [cls(hours=day, places=places, taken=taken, covers=covers, now=now) for day in days]

    def upcoming_slots(self) -> list[Slot]:
        return [slot for slot in self.hours.open_slots() if slot.starts_at > self.now]

    def has_room(self, slot: Slot, party_size: int) -> bool:
        """Return whether a place for the party is free for its whole stay, within the pacing of the slot."""
        return not self.exceeds_pacing(slot, party_size) and self.has_free_place(slot, party_size)

    def exceeds_pacing(self, slot: Slot, party_size: int) -> bool:
        """Return whether more guests would start at this time than the period allows."""
        pacing_covers = slot.period.pacing_covers
        return pacing_covers is not None and self.covers.get(slot.starts_at, 0) + party_size > pacing_covers

    def has_free_place(self, slot: Slot, party_size: int) -> bool:
        """Return whether a place for the party is free for its whole stay."""
        ends_at = slot.ends_at(party_size)
        return any(
            all(
                end <= slot.starts_at or ends_at <= start
                for table in place.tables
                for start, end in self.taken.get(table, ())
            )
            for place in self.places
            if place.fits(party_size)
        )

    def alternatives(self, at: time, party_size: int, *, own: time | None = None) -> list[str]:
        """Return the times nearest to `at` that have room, without it and `own`, in order: ["18:45", "21:00"].

        None for a large party: the staff confirm it, so no time can be promised.
        """
        if party_size > self.hours.venue.auto_confirm_max_party:
            return []
        others = [slot for slot in self.upcoming_slots() if slot.time not in (at, own)]
        slots = [slot for slot in others if self.has_room(slot, party_size)]
        slots.sort(key=lambda slot: (abs(minute_of_day(slot.time) - minute_of_day(at)), slot.starts_at))
        nearest = sorted(slots[:MAX_ALTERNATIVES], key=lambda slot: slot.starts_at)
        return [f"{slot.time:%H:%M}" for slot in nearest]


def minute_of_day(at: time) -> int:
    return at.hour * 60 + at.minute


def outside_hours_error(hours: DaySlots, reservation: Reservation | Hold, *, now: datetime) -> OutsideServiceHours:
    """Return the error for a time without a slot. At most five queries."""
    places = list_places(reservation.venue, area=reservation.area)
    (day,) = DayAvailability.load_days([hours], places=places, excluding=reservation.pk, now=now)
    return OutsideServiceHours(**add_alternatives(hours.closed_message(reservation.time), day, reservation))


def slot_unavailable_error(reservation: Reservation | Hold, *, now: datetime) -> SlotUnavailable:
    """Return the error for a party without room. At most eight queries, ten without hours."""
    area = reservation.area
    day = DayAvailability.load(reservation.venue, reservation.date, area=area, excluding=reservation.pk, now=now)
    values = {
        "party_size": reservation.party_size,
        "time": f"{reservation.time:%H:%M}",
        "day": reservation.date,
        "area": area.name if area else "",
    }
    if not has_place_for(day.places or list_places(reservation.venue, area=area), reservation.party_size):
        message = _("There is no table for %(party_size)s here.")
        if area:
            message = _("There is no table for %(party_size)s in the area %(area)s.")
        return SlotUnavailable(message % values, param="time", extra={"alternatives": []})
    message = _("There is no table for %(party_size)s at %(time)s on %(day)s.")
    if area:
        message = _("There is no table for %(party_size)s at %(time)s on %(day)s in the area %(area)s.")
    return SlotUnavailable(**add_alternatives(message % values, day, reservation))


def add_alternatives(message: str, day: DayAvailability, reservation: Reservation | Hold) -> dict[str, Any]:
    """Return the arguments of an error: the message, also with the nearest times that have room. At most one query."""
    times = day.alternatives(reservation.time, reservation.party_size, own=own_time(reservation))
    if times:
        message += " " + _("There is room at %(times)s.") % {"times": ", ".join(times)}
    return {"message": message, "param": "time", "extra": {"alternatives": times}}


def own_time(party: Reservation | Hold) -> time | None:
    """Return the time of a stored reservation if nothing but its time is to be changed: to stay there is no change.

    At most one query.
    """
    if isinstance(party, Hold) or party._state.adding:
        return None
    stored = Reservation.objects.filter(pk=party.pk, date=party.date, party_size=party.party_size, area=party.area_id)
    return stored.values_list("time", flat=True).first()

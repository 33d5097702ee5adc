"""Service days: seatings after midnight of an overnight period belong to the day on which the period starts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Self
from zoneinfo import ZoneInfo

from accounts.models import Venue
from reservations.booking.availability import (
    ONE_DAY,
    Slot,
    find_closure,
    list_slots,
    load_hours,
    minute_of_day,
)
from reservations.booking.venue_time import local_today
from reservations.models import Closure, ServicePeriod


@dataclass(frozen=True, slots=True)
class ServiceDay:
    """One service day: its limits (UTC) and its open slots."""

    venue: Venue
    day: date
    starts_at: datetime
    ends_at: datetime
    slots: tuple[Slot, ...]
    closure: Closure | None

    @classmethod
    def load(cls, venue: Venue, day: date) -> Self:
        """Read the periods and the closures. Two queries."""
        return cls.build(venue, day, *load_hours(venue, day - ONE_DAY, day + ONE_DAY))

    @classmethod
    def build(cls, venue: Venue, day: date, periods: Sequence[ServicePeriod], closures: Sequence[Closure]) -> Self:
        two_days = (day, day + ONE_DAY)
        slots = [slot for civil_day in two_days for slot in list_slots(venue, civil_day, periods, closures)]
        starts_at, ends_at = (service_day_start(venue, civil_day, periods, closures) for civil_day in two_days)
        return cls(
            venue=venue,
            day=day,
            starts_at=starts_at,
            ends_at=ends_at,
            slots=tuple(slot for slot in slots if slot.service_date == day and slot.closure is None),
            closure=find_closure(day, closures),
        )

    @property
    def open_spans(self) -> list[tuple[datetime, datetime]]:
        """The times at which guests are seated, as spans that do not touch."""
        return merge_spans((slot.starts_at, slot.seated_until) for slot in self.slots)


def merge_spans(spans: Iterable[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    """Join spans in order that touch or overlap."""
    merged: list[tuple[datetime, datetime]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def service_day_start(
    venue: Venue, day: date, periods: Sequence[ServicePeriod], closures: Sequence[Closure]
) -> datetime:
    """Return the start of a service day (UTC): midnight, or the end of the overnight seatings of the day before."""
    day_before = day - ONE_DAY
    overnight = [period for period in periods if period.is_overnight and day_before.weekday() in period.weekdays]
    minute = 0
    if overnight and not find_closure(day_before, closures):
        first_seatings = [
            minute_of_day(period.first_seating) for period in periods if day.weekday() in period.weekdays
        ]
        last = max(minute_of_day(period.last_seating) + period.slot_min for period in overnight)
        minute = min(last, *first_seatings, 1439)
    return datetime.combine(day, time(minute // 60, minute % 60), ZoneInfo(venue.timezone)).astimezone(UTC)


def load_service_day(venue: Venue, day: date | None, *, now: datetime) -> tuple[ServiceDay, date]:
    """Return the service day of this date (default: the current one), and the date of the current one. Two queries."""
    civil_day = local_today(venue, now=now)
    first, last = min(day or civil_day, civil_day), max(day or civil_day, civil_day)
    periods, closures = load_hours(venue, first - 2 * ONE_DAY, last + ONE_DAY)
    today = civil_day if now >= service_day_start(venue, civil_day, periods, closures) else civil_day - ONE_DAY
    return ServiceDay.build(venue, day or today, periods, closures), today


def service_date_of(venue: Venue, *, at: datetime) -> date:
    """Return the date of the service day that includes the moment. Two queries."""
    day = local_today(venue, now=at)
    return day if at >= service_day_start(venue, day, *load_hours(venue, day - ONE_DAY, day)) else day - ONE_DAY

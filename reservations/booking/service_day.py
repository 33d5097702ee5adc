"""Days of work: what an overnight service seats after midnight belongs to the day on which the service began."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Self
from zoneinfo import ZoneInfo

from django.db.models import Q

from accounts.models import Venue
from reservations.booking.availability import A_DAY, Slot, minutes, slots_of
from reservations.booking.venue_time import today_of
from reservations.models import Closure, ServicePeriod


@dataclass(frozen=True, slots=True)
class Work:
    """One day of work: from when to when it goes (UTC), and at what times it seats guests."""

    venue: Venue
    day: date
    starts_at: datetime
    ends_at: datetime
    slots: tuple[Slot, ...]
    closure: Closure | None

    @classmethod
    def of(cls, venue: Venue, day: date) -> Self:
        """Read the periods and the closures. Two queries."""
        return cls.among(venue, day, *hours_around(venue, day))

    @classmethod
    def among(cls, venue: Venue, day: date, periods: Sequence[ServicePeriod], closures: Sequence[Closure]) -> Self:
        """The day, of periods and closures that were read before."""
        both = (*slots_of(venue, day, periods, closures), *slots_of(venue, day + A_DAY, periods, closures))
        own = tuple(slot for slot in both if slot.own_day == day)
        return cls(
            venue=venue,
            day=day,
            starts_at=beginning(venue, day, periods, closures),
            ends_at=beginning(venue, day + A_DAY, periods, closures),
            slots=tuple(slot for slot in own if slot.closure is None),
            closure=closed_on(day, closures),
        )

    @property
    def open_spans(self) -> list[tuple[datetime, datetime]]:
        """When guests are seated, in spans that do not touch."""
        spans: list[tuple[datetime, datetime]] = []
        for slot in self.slots:
            end = slot.starts_at + timedelta(minutes=slot.period.slot_min)
            if spans and slot.starts_at <= spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            else:
                spans.append((slot.starts_at, end))
        return spans


def hours_around(venue: Venue, *days: date) -> tuple[list[ServicePeriod], list[Closure]]:
    """The periods of the venue in the order in which they count, and the closures around these days. Two queries."""
    near = Q()
    for day in days:
        near |= Q(first_date__lte=day + A_DAY, last_date__gte=day - A_DAY)
    closures = Closure.objects.filter(near, venue=venue)
    return (
        list(ServicePeriod.objects.filter(venue=venue).order_by("first_seating", "name", "id")),
        list(closures.order_by("first_date", "id")),
    )


def closed_on(day: date, closures: Iterable[Closure]) -> Closure | None:
    """The closure that counts on this day."""
    return next((closure for closure in closures if closure.first_date <= day <= closure.last_date), None)


def beginning(venue: Venue, day: date, periods: Sequence[ServicePeriod], closures: Sequence[Closure]) -> datetime:
    """When it begins (UTC): at midnight, or once the service of the evening before seats nobody any more."""
    eve = day - A_DAY
    late = [period for period in periods if period.is_overnight and eve.weekday() in period.weekdays]
    minute = 0
    if late and not closed_on(eve, closures):
        own = [minutes(period.first_seating) for period in periods if day.weekday() in period.weekdays]
        minute = min(max(minutes(period.last_seating) + period.slot_min for period in late), *own, 1439)
    wall = datetime.combine(day, time(minute // 60, minute % 60), ZoneInfo(venue.timezone))
    return wall.astimezone(UTC)


def at_work(venue: Venue, day: date | None, *, now: datetime) -> tuple[Work, date]:
    """The day of work, where none is named that of this moment; and which one that of this moment is. Two queries."""
    civil = today_of(venue, now=now)
    periods, closures = hours_around(venue, civil - A_DAY, civil, *([day] if day else []))
    today = civil if now >= beginning(venue, civil, periods, closures) else civil - A_DAY
    return Work.among(venue, day or today, periods, closures), today


def working_day_of(venue: Venue, *, at: datetime) -> date:
    """The day of work to which a moment belongs. Two queries."""
    day = today_of(venue, now=at)
    return day if at >= beginning(venue, day, *hours_around(venue, day)) else day - A_DAY

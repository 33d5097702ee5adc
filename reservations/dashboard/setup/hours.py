"""When a venue seats guests: its week as a picture, and the days on which it is closed."""

import calendar
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from reservations.dashboard.setup.forms import WEEKDAYS
from reservations.models import Closure, ServicePeriod

MONTHS = 6
MOST_SHOWN = 200
# Of the picture, in its own units.
LEFT, TOP, ROW, HOUR = 44, 22, 34, 36


@dataclass(frozen=True, slots=True)
class Block:
    """A service period on one day, as a bar of the picture."""

    x: int
    y: int
    width: int
    name: str
    times: str
    has_room: bool


@dataclass(frozen=True, slots=True)
class Week:
    """The picture: days down, hours across; what goes on after midnight stays in the row of its evening."""

    blocks: tuple[Block, ...]
    hours: tuple[tuple[int, str], ...]
    days: tuple[tuple[int, str], ...]
    width: int
    height: int

    @classmethod
    def of(cls, periods: Sequence[ServicePeriod]) -> "Week":
        """Draw the periods."""
        spans = [span(period) for period in periods]
        first = min((start for start, _ in spans), default=11 * 60) // 60
        last = -(-max((end for _, end in spans), default=23 * 60) // 60)
        blocks = tuple(
            Block(
                x=LEFT + (start - first * 60) * HOUR // 60,
                y=TOP + day * ROW + 4,
                width=max((end - start) * HOUR // 60, 6),
                name=period.name,
                times=f"{period.first_seating:%H:%M} to {period.last_seating:%H:%M}",
                has_room=(end - start) * HOUR // 60 >= 8 * len(period.name),
            )
            for period, (start, end) in zip(periods, spans, strict=True)
            for day in sorted(period.weekdays)
        )
        hours = tuple((LEFT + (hour - first) * HOUR, f"{hour % 24:02d}") for hour in range(first, last + 1))
        days = tuple((TOP + day * ROW, name[:3]) for day, name in enumerate(WEEKDAYS))
        return cls(blocks, hours, days, width=LEFT + (last - first) * HOUR + 16, height=TOP + 7 * ROW)


def span(period: ServicePeriod) -> tuple[int, int]:
    """Its first and last minute, counted from midnight of its own day."""
    first = period.first_seating.hour * 60 + period.first_seating.minute
    last = period.last_seating.hour * 60 + period.last_seating.minute
    return first, last + (1440 if period.is_overnight else 0)


@dataclass(frozen=True, slots=True)
class Month:
    """A month of the calendar: weeks of days; a day is its number and why it is closed, None of another month."""

    name: str
    weeks: tuple[tuple[tuple[int, str] | None, ...], ...]


def months(today: date, closures: Sequence[Closure]) -> Iterator[Month]:
    """This month and those that follow."""
    year, month = today.year, today.month
    for _ in range(MONTHS):
        weeks = tuple(
            tuple((day.day, shut(day, closures)) if day.month == month else None for day in week)
            for week in calendar.Calendar().monthdatescalendar(year, month)
        )
        yield Month(f"{calendar.month_name[month]} {year}", weeks)
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)


def shut(day: date, closures: Sequence[Closure]) -> str:
    """Why the venue is closed that day; empty where it is not."""
    return next((one.reason or "Closed" for one in closures if one.first_date <= day <= one.last_date), "")


@page(Right.VENUE, section="venue")
def hours(request: PageRequest) -> HttpResponse:
    """The week and the closed days to come. Two queries beside those of the frame."""
    venue = request.access.venue
    today = timezone.now().astimezone(ZoneInfo(venue.timezone)).date()
    periods = list(ServicePeriod.objects.filter(venue=venue).order_by("first_seating", "name", "id")[:MOST_SHOWN])
    closures = list(
        Closure.objects.filter(venue=venue, last_date__gte=today.replace(day=1)).order_by("first_date", "id")[
            :MOST_SHOWN
        ]
    )
    told = {
        "periods": [(period, days_of(period)) for period in periods],
        "week": Week.of(periods),
        "closures": [one for one in closures if one.last_date >= today],
        "months": list(months(today, closures)),
        "day_names": [name[:2] for name in WEEKDAYS],
    }
    return render(request, "reservations/setup_hours.html", told)


def days_of(period: ServicePeriod) -> str:
    """`every day`, or `Mon, Tue`."""
    days = sorted(set(period.weekdays))
    return "every day" if len(days) == 7 else ", ".join(WEEKDAYS[day][:3] for day in days)

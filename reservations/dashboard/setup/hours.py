"""The hours page: service periods with a chart of the week, and closed days."""

import calendar
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.dates import WEEKDAYS_ABBR
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.languages import format_month
from reservations.booking.availability import find_closure
from reservations.booking.venue_time import local_today
from reservations.forms.setup import format_weekdays
from reservations.models import Closure, ServicePeriod

MONTHS = 6
MAX_SHOWN = 200
# Geometry of the chart in pixels; widths are percentages. CHARACTER and PHONE_WIDTH tell whether a name has room.
TOP, ROW, BAR, CHARACTER, PHONE_WIDTH = 20, 34, 26, 8, 200


@dataclass(frozen=True, slots=True)
class Block:
    x: str
    y: int
    width: str
    name: str
    times: str
    # Whether its name fits on a phone, too.
    has_room: bool


@dataclass(frozen=True, slots=True)
class Week:
    """The chart: rows are days with equal periods; a period past midnight stays in the row of its start.

    `days` names the days of each row, and its times, which phones show instead of the chart.
    """

    blocks: tuple[Block, ...]
    hours: tuple[tuple[str, str, bool], ...]
    days: tuple[tuple[str, tuple[str, ...]], ...]
    height: int

    @classmethod
    def of(cls, periods: Sequence[ServicePeriod]) -> "Week":
        spans = [period.seating_minutes for period in periods]
        first = min((start for start, _ in spans), default=11 * 60) // 60
        last = -(-max((end for _, end in spans), default=23 * 60) // 60)

        def percent(minutes: float) -> float:
            return round(minutes / (last - first) / 0.6, 2)

        rows = group_days(periods)
        blocks = tuple(
            Block(
                x=f"{percent(start - first * 60)}%",
                y=TOP + number * ROW + (ROW - BAR) // 2,
                width=f"{max(percent(end - start), 2)}%",
                name=period.name,
                times=format_times(period),
                has_room=percent(end - start) * PHONE_WIDTH / 100 >= CHARACTER * len(period.name) + 10,
            )
            for number, days in enumerate(rows)
            for period, (start, end) in zip(periods, spans, strict=True)
            if days[0] in period.weekdays
        )
        step = 1 if last - first <= 9 else 2
        # Phones label every other line.
        hours = tuple(
            (f"{percent((hour - first) * 60)}%", f"{hour % 24:02d}", number % 2 == 0)
            for number, hour in enumerate(range(first, last + 1, step))
        )
        times = (tuple(format_times(period) for period in periods if row[0] in period.weekdays) for row in rows)
        days = tuple(zip(map(format_days, rows), times, strict=True))
        return cls(blocks, hours, days, height=TOP + len(rows) * ROW)


def group_days(periods: Sequence[ServicePeriod]) -> list[list[int]]:
    """Return the weekdays, those with equal periods together, by their first day."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for day in range(7):
        groups.setdefault(tuple(n for n, period in enumerate(periods) if day in period.weekdays), []).append(day)
    return list(groups.values())


def format_days(days: Sequence[int]) -> str:
    """Return the names of weekdays: "Mon to Fri", or "Mon, Wed"."""
    names = [str(WEEKDAYS_ABBR[day]) for day in days]
    if len(days) > 2 and days[-1] - days[0] == len(days) - 1:
        return _("%(first)s to %(last)s") % {"first": names[0], "last": names[-1]}
    return ", ".join(names)


def format_times(period: ServicePeriod) -> str:
    times = {"first": f"{period.first_seating:%H:%M}", "last": f"{period.last_seating:%H:%M}"}
    return _("%(first)s to %(last)s") % times


def format_turns(period: ServicePeriod) -> str:
    """Return how long guests stay: "90 to 150 min". The page of the period has the time for each party size."""
    turns = (period.turn_2_min, period.turn_4_min, period.turn_6_min, period.turn_more_min)
    if min(turns) == max(turns):
        return f"{max(turns)} min"
    return _("%(first)s to %(last)s min") % {"first": min(turns), "last": max(turns)}


def list_months(today: date, closures: Sequence[Closure]) -> Iterator[dict[str, Any]]:
    """Yield this month and the following ones, with weeks of (date, closure or None), None in other months."""
    for number in range(today.month - 1, today.month - 1 + MONTHS):
        year, month = today.year + number // 12, number % 12 + 1
        weeks = tuple(
            tuple((day, find_closure(day, closures)) if day.month == month else None for day in week)
            for week in calendar.Calendar().monthdatescalendar(year, month)
        )
        yield {"name": format_month(date(year, month, 1)), "weeks": weeks}


@page(Right.VENUE, section="venue")
def hours(request: PageRequest) -> HttpResponse:
    """Show the week and the upcoming closed days. Two queries besides those of the layout."""
    venue = request.access.venue
    today = local_today(venue, now=venue.now())
    periods = list(ServicePeriod.objects.filter(venue=venue).order_by("first_seating", "name", "id")[:MAX_SHOWN])
    closures = Closure.objects.filter(venue=venue, last_date__gte=today.replace(day=1)).order_by("first_date", "id")
    closures = closures[:MAX_SHOWN]
    rules = {(period.slot_min, period.pacing_covers, format_turns(period)) for period in periods}
    context = {
        # What all periods have is said once.
        "shared": periods[0] if len(periods) > 1 and len(rules) == 1 else None,
        "shared_turns": format_turns(periods[0]) if periods else "",
        "periods": [
            (
                period,
                _("every day") if len(set(period.weekdays)) == 7 else format_weekdays(period),
                format_turns(period),
            )
            for period in periods
        ],
        "week": Week.of(periods),
        "closures": [closure for closure in closures if closure.last_date >= today],
        "today": today,
        "months": list(list_months(today, list(closures))),
        "day_names": [str(WEEKDAYS_ABBR[day])[:2] for day in range(7)],
    }
    return render(request, "reservations/setup_hours.html", context)

"""The hours page: service periods with a chart of the week, and closed days."""

import calendar
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
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
# Geometry of the chart, in SVG units.
LEFT, TOP, ROW, HOUR = 44, 22, 34, 36


@dataclass(frozen=True, slots=True)
class Block:
    x: int
    y: int
    width: int
    name: str
    times: str
    has_room: bool


@dataclass(frozen=True, slots=True)
class Week:
    """The chart: rows are days, columns are hours; a period past midnight stays in the row of its start."""

    blocks: tuple[Block, ...]
    hours: tuple[tuple[int, str], ...]
    days: tuple[tuple[int, str], ...]
    width: int
    height: int

    @classmethod
    def of(cls, periods: Sequence[ServicePeriod]) -> "Week":
        spans = [period.seating_minutes for period in periods]
        first = min((start for start, _ in spans), default=11 * 60) // 60
        last = -(-max((end for _, end in spans), default=23 * 60) // 60)
        blocks = tuple(
            Block(
                x=LEFT + (start - first * 60) * HOUR // 60,
                y=TOP + day * ROW + 4,
                width=max((end - start) * HOUR // 60, 6),
                name=period.name,
                times=format_times(period),
                has_room=(end - start) * HOUR // 60 >= 8 * len(period.name),
            )
            for period, (start, end) in zip(periods, spans, strict=True)
            for day in sorted(period.weekdays)
        )
        hours = tuple((LEFT + (hour - first) * HOUR, f"{hour % 24:02d}") for hour in range(first, last + 1))
        days = tuple((TOP + day * ROW, str(WEEKDAYS_ABBR[day])) for day in range(7))
        return cls(blocks, hours, days, width=LEFT + (last - first) * HOUR + 16, height=TOP + 7 * ROW)


def format_times(period: ServicePeriod) -> str:
    times = {"first": f"{period.first_seating:%H:%M}", "last": f"{period.last_seating:%H:%M}"}
    return _("%(first)s to %(last)s") % times


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
    today = local_today(venue, now=timezone.now())
    periods = list(ServicePeriod.objects.filter(venue=venue).order_by("first_seating", "name", "id")[:MAX_SHOWN])
    closures = Closure.objects.filter(venue=venue, last_date__gte=today.replace(day=1)).order_by("first_date", "id")
    closures = closures[:MAX_SHOWN]
    context = {
        "periods": [
            (period, _("every day") if len(set(period.weekdays)) == 7 else format_weekdays(period))
            for period in periods
        ],
        "week": Week.of(periods),
        "closures": [closure for closure in closures if closure.last_date >= today],
        "today": today,
        "months": list(list_months(today, list(closures))),
        "day_names": [str(WEEKDAYS_ABBR[day])[:2] for day in range(7)],
    }
    return render(request, "reservations/setup_hours.html", context)

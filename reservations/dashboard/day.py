"""The day view: tables and reservations, rendered on the server and refreshed when they change."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from reservations.booking.availability import ONE_DAY
from reservations.booking.service_day import ServiceDay, load_service_day
from reservations.dashboard.day_sheet import MAX_SHOWN, DaySheet, day_digest
from reservations.dashboard.reschedule import pop_undo
from reservations.dashboard.url_params import parse_day

VIEWS = ("auto", "grid", "list")


@page(Right.RESERVATIONS, section="day")
def day(request: PageRequest) -> HttpResponse:
    """Show one day: a grid on large screens, a list on phones and in print."""
    now = timezone.now()
    work, today = load_service_day(request.access.venue, parse_day(request.GET.get("day")), now=now)
    context = context_of(request, work, now=now)
    context |= {
        "today": today,
        "previous_day": work.day - ONE_DAY,
        "next_day": work.day + ONE_DAY,
        "undo": pop_undo(request),
    }
    return render(request, "reservations/day.html", context)


@page(Right.RESERVATIONS, section="day")
def live(request: PageRequest) -> HttpResponse:
    """Return the updated day, or 204 if it has not changed since the digest `seen`."""
    now = timezone.now()
    work, _ = load_service_day(request.access.venue, parse_day(request.GET.get("day")), now=now)
    if request.GET.get("seen") == day_digest(work, now=now):
        return HttpResponse(status=204)
    return render(request, "reservations/day_fragment.html", context_of(request, work, now=now))


def context_of(request: PageRequest, work: ServiceDay, *, now: datetime) -> dict[str, Any]:
    """Return the context of the day's templates."""
    view = request.GET.get("view", "")
    # Computed before the rows are read: an older digest only causes one more refresh.
    digest = day_digest(work, now=now)
    sheet = DaySheet.load(work, now=now)
    return {
        "sheet": sheet,
        "day": work.day,
        "seen": digest,
        "view": view if view in VIEWS else "auto",
        "venue": request.access.venue,
        "is_cut": len(sheet.visits) >= MAX_SHOWN,
        "max_shown": MAX_SHOWN,
    }

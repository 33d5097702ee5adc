"""The day view: tables and reservations, rendered on the server and refreshed when they change."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from reservations.booking.availability import A_DAY
from reservations.booking.service_day import Work, at_work
from reservations.dashboard.day_sheet import MOST, Sheet, seen
from reservations.dashboard.reschedule import undo_of
from reservations.dashboard.url_params import day_of

VIEWS = ("auto", "grid", "list")


@page(Right.RESERVATIONS, section="day")
def day(request: PageRequest) -> HttpResponse:
    """Show one day: a grid on large screens, a list on phones and in print."""
    now = timezone.now()
    work, today = at_work(request.access.venue, day_of(request.GET.get("day")), now=now)
    context = context_of(request, work, now=now)
    context |= {
        "today": today,
        "previous_day": work.day - A_DAY,
        "next_day": work.day + A_DAY,
        "undo": undo_of(request),
    }
    return render(request, "reservations/day.html", context)


@page(Right.RESERVATIONS, section="day")
def live(request: PageRequest) -> HttpResponse:
    """Return the updated day, or 204 if it has not changed since the digest `seen`."""
    now = timezone.now()
    work, _ = at_work(request.access.venue, day_of(request.GET.get("day")), now=now)
    if request.GET.get("seen") == seen(work, now=now):
        return HttpResponse(status=204)
    return render(request, "reservations/day_fragment.html", context_of(request, work, now=now))


def context_of(request: PageRequest, work: Work, *, now: datetime) -> dict[str, Any]:
    """Return the context of the day's templates."""
    view = request.GET.get("view", "")
    # Computed before the rows are read: an older digest only causes one more refresh.
    digest = seen(work, now=now)
    sheet = Sheet.of(work, now=now)
    return {
        "sheet": sheet,
        "day": work.day,
        "seen": digest,
        "view": view if view in VIEWS else "auto",
        "venue": request.access.venue,
        "is_cut": len(sheet.visits) >= MOST,
        "max_shown": MOST,
    }

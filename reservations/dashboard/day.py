"""The day of a venue: its tables and who sits there when, drawn on the server and fetched anew when it has changed."""

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
    """One day: the grid at a desk, the list on a phone and on paper."""
    now = timezone.now()
    work, today = at_work(request.access.venue, day_of(request.GET.get("day")), now=now)
    known = drawn(request, work, now=now)
    known |= {"today": today, "before": work.day - A_DAY, "after": work.day + A_DAY, "undo": undo_of(request)}
    return render(request, "reservations/day.html", known)


@page(Right.RESERVATIONS, section="day")
def live(request: PageRequest) -> HttpResponse:
    """What has changed on a day since `seen`: 204 for nothing, or the day anew."""
    now = timezone.now()
    work, _ = at_work(request.access.venue, day_of(request.GET.get("day")), now=now)
    if request.GET.get("seen") == seen(work, now=now):
        return HttpResponse(status=204)
    return render(request, "reservations/day_fragment.html", drawn(request, work, now=now))


def drawn(request: PageRequest, work: Work, *, now: datetime) -> dict[str, Any]:
    """What the day's templates show."""
    view = request.GET.get("view", "")
    # Read before the rows: it may be older than what is shown, and then the page is fetched once more.
    digest = seen(work, now=now)
    sheet = Sheet.of(work, now=now)
    return {
        "sheet": sheet,
        "day": work.day,
        "seen": digest,
        "view": view if view in VIEWS else "auto",
        "venue": request.access.venue,
        "is_cut": len(sheet.visits) >= MOST,
        "most": MOST,
    }

"""The day of a venue: its tables and who sits there when, drawn on the server and fetched anew when it has changed."""

from datetime import date, datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.pages.doorway import PageRequest, page
from accounts.rights import Right
from reservations.availability import A_DAY
from reservations.pages.asked import day_of
from reservations.pages.moving import undo_of
from reservations.sheet import MOST, Sheet, seen
from reservations.working_days import Work, working_day_of

VIEWS = ("auto", "grid", "list")


@page(Right.RESERVATIONS, section="day")
def day(request: PageRequest) -> HttpResponse:
    """One day: the grid at a desk, the list on a phone and on paper."""
    now = timezone.now()
    today = working_day_of(request.access.venue, at=now)
    shown = day_of(request.GET.get("day")) or today
    known = drawn(request, shown, now=now)
    known |= {"today": today, "before": shown - A_DAY, "after": shown + A_DAY, "undo": undo_of(request)}
    return render(request, "reservations/day.html", known)


@page(Right.RESERVATIONS, section="day")
def live(request: PageRequest) -> HttpResponse:
    """What has changed on a day since `seen`: 204 for nothing, or the day anew."""
    now = timezone.now()
    shown = day_of(request.GET.get("day")) or working_day_of(request.access.venue, at=now)
    if request.GET.get("seen") == seen(Work.of(request.access.venue, shown), now=now):
        return HttpResponse(status=204)
    return render(request, "reservations/day_live.html", drawn(request, shown, now=now))


def drawn(request: PageRequest, shown: date, *, now: datetime) -> dict[str, Any]:
    """What the day's templates show."""
    view = request.GET.get("view", "")
    work = Work.of(request.access.venue, shown)
    # Read before the rows: it may be older than what is shown, and then the page is fetched once more.
    digest = seen(work, now=now)
    sheet = Sheet.of(work, now=now)
    return {
        "sheet": sheet,
        "day": shown,
        "seen": digest,
        "view": view if view in VIEWS else "auto",
        "venue": request.access.venue,
        "is_cut": len(sheet.visits) >= MOST,
        "most": MOST,
    }

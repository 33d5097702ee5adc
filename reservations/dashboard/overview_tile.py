"""Today's reservation totals for the overview."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from reservations.booking.service_day import load_service_day
from reservations.dashboard.day_sheet import DaySheet

NEXT = 3


@page(Right.RESERVATIONS)
def covers_today(request: PageRequest) -> HttpResponse:
    """Render tiles with today's covers, the next arrivals and pending requests."""
    venue, now = request.access.venue, timezone.now()
    work, _ = load_service_day(venue, None, now=now)
    sheet = DaySheet.load(work, now=now)
    context = {"sheet": sheet, "soon": sheet.next_to_come[:NEXT], "venue": venue}
    return render(request, "reservations/overview_tile.html", context)

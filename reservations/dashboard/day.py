"""The day view, refreshed when it changes, its tile on the overview, and the waiting list."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from reservations import reports
from reservations.booking import commands
from reservations.booking import waitlist as waiting_list
from reservations.booking.availability import ONE_DAY
from reservations.booking.service_day import ServiceDay, load_service_day, service_date_of
from reservations.dashboard.day_sheet import MAX_SHOWN, DaySheet, day_digest
from reservations.dashboard.url_params import parse_day, pop_undo, redirect_to_day
from reservations.forms.reservation import WaitlistForm
from reservations.models import Reservation
from reservations.service.display_status import BADGES, EXPECTED, Stage, next_steps, stage_of

VIEWS = ("auto", "grid", "list")
# The waiting list shows at most so many parties.
MAX_WAITING = 200
# The next arrivals on the overview.
MAX_ARRIVALS = 8


@page(Right.RESERVATIONS, section="day")
def day(request: PageRequest) -> HttpResponse:
    """Show one day: a grid on large screens, a list on phones and in print."""
    now = request.access.venue.now()
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
    now = request.access.venue.now()
    work, _today = load_service_day(request.access.venue, parse_day(request.GET.get("day")), now=now)
    if request.GET.get("seen") == day_digest(work, now=now):
        return HttpResponse(status=204)
    return render(request, "reservations/day_fragment.html", context_of(request, work, now=now))


def context_of(request: PageRequest, work: ServiceDay, *, now: datetime) -> dict[str, Any]:
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


@page(Right.RESERVATIONS)
def show_tile(request: PageRequest) -> HttpResponse:
    """Render tiles of the overview with today's covers, the next arrivals and pending requests."""
    venue = request.access.venue
    now = venue.now()
    work = load_service_day(venue, None, now=now)[0]
    sheet, before = DaySheet.load(work, now=now), work.day - timedelta(days=7)
    covers_before = reports.sum_by_day(venue, before, before).get(before, reports.Covers()).covers
    context = {
        "sheet": sheet,
        "soon": sheet.in_stages(EXPECTED)[:MAX_ARRIVALS],
        "venue": venue,
        "before": before,
        # None if there is nothing to compare with.
        "more": sheet.covers - covers_before if covers_before else None,
        "fewer": covers_before - sheet.covers,
    }
    return render(request, "reservations/overview_tile.html", context)


@page(Right.RESERVATIONS, section="day", methods=("GET", "HEAD", "POST"))
def add_to_waitlist(request: PageRequest) -> HttpResponse:
    """Put a party on the waiting list, with the wait that staff quoted to it."""
    venue = request.access.venue
    now = venue.now()
    reservation = Reservation(venue=venue)
    day = parse_day(request.GET.get("day")) or service_date_of(venue, at=now)
    form = WaitlistForm(
        request.POST or None, instance=reservation, now=now, initial={"date": day, "quoted_minutes": 30}
    )
    if request.method == "POST" and form.is_valid():
        try:
            commands.add_to_waitlist(reservation, now=now, actor=request.access.actor)
        except ApiError as refusal:
            form.add_domain_error(refusal)
        else:
            messages.success(request, _("%(guest)s is on the waiting list.") % {"guest": reservation.customer_name})
            return redirect_to_day(request, reservation.starts_at)
    context = {"form": form, "day": day, "sees_guests": request.access.may_view(Right.GUESTS)}
    return render(request, "reservations/waitlist_add.html", context, status=400 if form.errors else 200)


@page(Right.RESERVATIONS, section="day")
def waitlist(request: PageRequest) -> HttpResponse:
    """List the waiting parties by date, in order of priority."""
    venue = request.access.venue
    now = venue.now()
    rows: Any = (
        Reservation.objects.filter(waiting_list.IS_WAITLISTED, venue=venue, ends_at__gt=now)
        .annotate(is_unreached=waiting_list.has_undelivered_mail(now=now))
        .order_by("date", "offer_count", "created_at", "id")[: MAX_WAITING + 1]
    )
    parties = []
    for reservation in rows:
        reservation.venue = venue
        stage = stage_of(reservation, now=now)
        parties.append(
            {
                "reservation": reservation,
                "badge": BADGES[stage],
                "steps": next_steps(reservation, now=now),
                "held_until": waiting_list.offer_expires_at(reservation) if stage == Stage.OFFERED else None,
                "is_to_be_called": reservation.is_unreached or not waiting_list.can_mail_offers(reservation),
            }
        )
    context = {
        "parties": parties[:MAX_WAITING],
        "is_cut": len(parties) > MAX_WAITING,
        "max_shown": MAX_WAITING,
        "venue": venue,
        "undo": pop_undo(request),
    }
    return render(request, "reservations/waitlist.html", context)

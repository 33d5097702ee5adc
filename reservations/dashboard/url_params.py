"""URL parameters of the reservation pages, redirects, and the Undo that the next page offers."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest
from accounts.models import Venue
from framework.db.natural_sort import natural
from framework.errors import ApiError
from framework.public_ids import decode
from reservations.booking.service_day import service_date_of
from reservations.booking.venue_time import FIRST_DAY, LAST_DAY
from reservations.models import Reservation, Table
from reservations.models.reservations import PREFIX
from reservations.notifications import GRACE_PERIOD

# Unix time of the end of the last year that the pages support.
LAST_MOMENT = int(datetime(LAST_DAY.year + 1, 1, 1, tzinfo=UTC).timestamp()) - 1
# In the session.
UNDO = "reservation_undo"


def parse_day(text: str | None) -> date | None:
    """Parse a day; None for an empty text. Raises Http404 for an invalid day."""
    if not text:
        return None
    try:
        day = date.fromisoformat(text) if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else None
    except ValueError:
        day = None
    if day is None or not FIRST_DAY <= day <= LAST_DAY:
        raise Http404(_("There is no such day."))
    return day


def parse_moment(text: str | None) -> datetime | None:
    """Parse a Unix time; None for an empty text. Raises Http404 for an invalid one."""
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,10}", text) or int(text) > LAST_MOMENT:
        raise Http404(_("There is no such time."))
    return datetime.fromtimestamp(int(text), UTC)


def get_reservation(request: PageRequest, public_id: str) -> Reservation:
    """Return the venue's reservation, with its venue. One query. Raises Http404, also for one of another venue."""
    key = decode(PREFIX, public_id)
    reservation = Reservation.objects.filter(venue=request.access.venue, pk=key).first() if key else None
    if reservation is None:
        raise Http404(_("There is no such reservation."))
    reservation.venue = request.access.venue
    return reservation


def list_table_names(venue: Venue) -> list[str]:
    """Return the names of the active tables in order. One query."""
    tables = Table.objects.filter(venue=venue, is_active=True).order_by(natural("name"), "name")
    return list(tables.values_list("name", flat=True))


def redirect_to_day(request: PageRequest, at: datetime) -> HttpResponse:
    venue = request.access.venue
    day = service_date_of(venue, at=at)
    return redirect(f"{reverse('reservation-day', kwargs={'venue': venue.public_id})}?day={day}")


def redirect_back(request: PageRequest, reservation: Reservation) -> HttpResponse:
    """Redirect to the page of the form: the day, the waiting list, or the reservation."""
    venue, place = request.access.venue.public_id, request.POST.get("back")
    if place == "day":
        return redirect_to_day(request, reservation.starts_at)
    if place == "waiting":
        return redirect("waitlist", venue=venue)
    return redirect("reservation", venue=venue, reservation=reservation.public_id)


def store_undo(request: HttpRequest, undo: dict[str, Any]) -> None:
    """Store what the next page offers to undo, for reservations/day_flash.html."""
    request.session[UNDO] = undo


def pop_undo(request: HttpRequest) -> dict[str, Any] | None:
    return request.session.pop(UNDO) if UNDO in request.session else None


def choose_mail_delay(request: HttpRequest, *, delay: timedelta = GRACE_PERIOD) -> timedelta | None:
    """Return after which time the guest is emailed about a change; None if the user chose not to."""
    return None if request.POST.get("notify") == "no" else delay


def run_with_message(request: HttpRequest, command: Callable[[], object], done: str) -> bool:
    """Run `command`, add the message `done` or its error, and return whether it succeeded."""
    try:
        command()
    except ApiError as refusal:
        messages.error(request, refusal.message)
        return False
    messages.success(request, done)
    return True

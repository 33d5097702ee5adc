"""URL parameters of the reservation pages, and redirects."""

import re
from collections.abc import Callable
from datetime import date

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from accounts.dashboard.decorators import PageRequest
from framework.errors import Refusal
from framework.public_ids import decode
from reservations.booking.service_day import service_date_of
from reservations.models import Reservation
from reservations.models.reservations import PREFIX

# The pages show no days outside this range: the first and the last day of the calendar have no adjacent day.
FIRST_YEAR, LAST_YEAR = 1970, 2200


def parse_day(text: str | None) -> date | None:
    """Parse a day; None for an empty text. Raises Http404 for an invalid day."""
    if not text:
        return None
    try:
        day = date.fromisoformat(text) if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else None
    except ValueError:
        day = None
    if day is None or not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise Http404("There is no such day.")
    return day


def get_reservation(request: PageRequest, public_id: str) -> Reservation:
    """Return the venue's reservation, with its venue. One query. Raises Http404, also for one of another venue."""
    key = decode(PREFIX, public_id)
    reservation = Reservation.objects.filter(venue=request.access.venue, pk=key).first() if key else None
    if reservation is None:
        raise Http404("There is no such reservation.")
    reservation.venue = request.access.venue
    return reservation


def day_url(request: PageRequest, day: date) -> str:
    """Return the URL of a day."""
    return f"{reverse('reservation-day', kwargs={'venue': request.access.venue.public_id})}?day={day}"


def reservation_url(request: PageRequest, reservation: Reservation) -> str:
    """Return the URL of a reservation."""
    return reverse(
        "reservation",
        kwargs={"venue": request.access.venue.public_id, "reservation": reservation.public_id},
    )


def redirect_back(request: PageRequest, reservation: Reservation) -> HttpResponse:
    """Redirect to the page of the form: the day, the waiting list, or the reservation."""
    place = request.POST.get("back")
    if place == "day":
        day = service_date_of(request.access.venue, at=reservation.starts_at)
        return redirect(day_url(request, day))
    if place == "waiting":
        return redirect("waitlist", venue=request.access.venue.public_id)
    return redirect(reservation_url(request, reservation))


def run_with_message(request: HttpRequest, command: Callable[[], object], done: str) -> bool:
    """Run `command`, add the message `done` or its error, and return whether it succeeded."""
    try:
        command()
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return False
    messages.success(request, done)
    return True

"""What an address or a form of these pages names: a day, a reservation of the venue; and where an answer leads."""

import re
from datetime import date
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from accounts.dashboard.decorators import PageRequest
from framework.errors import Refusal
from framework.public_ids import decode
from reservations.booking.service_day import working_day_of
from reservations.models import Reservation
from reservations.models.reservations import PREFIX

# Days beyond are on no page: the calendar's ends have no evening before and no day after.
FIRST_YEAR, LAST_YEAR = 1970, 2200


def day_of(text: str | None) -> date | None:
    """The day that is written so; None where none is named. Raises Http404 for what is no day."""
    if not text:
        return None
    try:
        found = date.fromisoformat(text) if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else None
    except ValueError:
        found = None
    if found is None or not FIRST_YEAR <= found.year <= LAST_YEAR:
        raise Http404("There is no such day.")
    return found


def reservation_of(request: PageRequest, public_id: str) -> Reservation:
    """The reservation of this venue, which stays loaded. One query. Raises Http404, also for another venue's."""
    key = decode(PREFIX, public_id)
    found = Reservation.objects.filter(venue=request.access.venue, pk=key).first() if key else None
    if found is None:
        raise Http404("There is no such reservation.")
    found.venue = request.access.venue
    return found


def address_of_day(request: PageRequest, day: date) -> str:
    """The page of a day."""
    return f"{reverse('reservation-day', kwargs={'venue': request.access.venue.public_id})}?day={day}"


def address_of(request: PageRequest, reservation: Reservation) -> str:
    """The page of a reservation."""
    named = {"venue": request.access.venue.public_id, "reservation": reservation.public_id}
    return reverse("reservation", kwargs=named)


def back(request: PageRequest, reservation: Reservation) -> HttpResponse:
    """Go to where the form stood: on the day, on the waiting list, or on the page of the reservation."""
    place = request.POST.get("back")
    if place == "day":
        day = working_day_of(request.access.venue, at=reservation.starts_at)
        return redirect(address_of_day(request, day))
    if place == "waiting":
        return redirect("waitlist", venue=request.access.venue.public_id)
    return redirect(address_of(request, reservation))


def say(request: HttpRequest, verb: Any, done: str) -> bool:
    """Do it, and say what came of it or why it could not be; whether it was done."""
    try:
        verb()
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return False
    messages.success(request, done)
    return True

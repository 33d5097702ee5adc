"""The waiting list of a venue: who waits for which evening, since when, and what staff may do for them."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from reservations.booking import waitlist as booking_waitlist
from reservations.models import Reservation
from reservations.service.display_status import LOOKS, Stage, stage_of, steps_of

# More are not shown; who waits for so many is helped by none.
MOST = 200


@page(Right.RESERVATIONS, section="day")
def waitlist(request: PageRequest) -> HttpResponse:
    """Who waits, evening by evening, in the order of their turns."""
    venue, now = request.access.venue, timezone.now()
    rows: Any = (
        Reservation.objects.filter(booking_waitlist.WAITING, venue=venue, ends_at__gt=now)
        .annotate(is_unreached=booking_waitlist.unreached(now=now))
        .order_by("date", "offers", "created_at", "id")[: MOST + 1]
    )
    parties = []
    for reservation in rows:
        reservation.venue = venue
        stage = stage_of(reservation, now=now)
        parties.append(
            {
                "reservation": reservation,
                "look": LOOKS[stage],
                "steps": steps_of(reservation, now=now),
                "held_until": booking_waitlist.held_until(reservation) if stage == Stage.OFFERED else None,
                "is_to_be_called": reservation.is_unreached or not booking_waitlist.is_mailed_offers(reservation),
            }
        )
    known = {"parties": parties[:MOST], "is_cut": len(parties) > MOST, "most": MOST, "venue": venue}
    return render(request, "reservations/waitlist.html", known)

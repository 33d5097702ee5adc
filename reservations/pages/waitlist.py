"""The waiting list of a venue: who waits for which evening, since when, and what staff may do for them."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.pages.doorway import PageRequest, page
from accounts.rights import Right
from reservations import waiting
from reservations.models import Reservation
from reservations.stages import LOOKS, Stage, stage_of, steps_of

# More are not shown; who waits for so many is helped by none.
MOST = 200


@page(Right.RESERVATIONS, section="day")
def waitlist(request: PageRequest) -> HttpResponse:
    """Who waits, evening by evening, in the order of their turns."""
    venue, now = request.access.venue, timezone.now()
    rows: Any = (
        Reservation.objects.filter(waiting.WAITING, venue=venue, ends_at__gt=now)
        .annotate(is_unreached=waiting.unreached(now=now))
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
                "held_until": waiting.held_until(reservation) if stage == Stage.OFFERED else None,
                "is_to_be_called": reservation.is_unreached or not waiting.is_mailed_offers(reservation),
            }
        )
    known = {"parties": parties[:MOST], "is_cut": len(parties) > MOST, "most": MOST, "venue": venue}
    return render(request, "reservations/waitlist.html", known)

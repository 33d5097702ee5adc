"""The waiting list of a venue."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from reservations.booking import waitlist as booking_waitlist
from reservations.models import Reservation
from reservations.service.display_status import LOOKS, Stage, stage_of, steps_of

# The page lists at most so many parties.
MAX_SHOWN = 200


@page(Right.RESERVATIONS, section="day")
def waitlist(request: PageRequest) -> HttpResponse:
    """List the waiting parties by date, in order of priority."""
    venue, now = request.access.venue, timezone.now()
    rows: Any = (
        Reservation.objects.filter(booking_waitlist.WAITING, venue=venue, ends_at__gt=now)
        .annotate(is_unreached=booking_waitlist.unreached(now=now))
        .order_by("date", "offers", "created_at", "id")[: MAX_SHOWN + 1]
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
    context = {
        "parties": parties[:MAX_SHOWN],
        "is_cut": len(parties) > MAX_SHOWN,
        "max_shown": MAX_SHOWN,
        "venue": venue,
    }
    return render(request, "reservations/waitlist.html", context)

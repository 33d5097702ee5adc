"""The waiting list of a venue."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from reservations.booking import waitlist as booking_waitlist
from reservations.models import Reservation
from reservations.service.display_status import BADGES, Stage, next_steps, stage_of

# The page lists at most so many parties.
MAX_SHOWN = 200


@page(Right.RESERVATIONS, section="day")
def waitlist(request: PageRequest) -> HttpResponse:
    """List the waiting parties by date, in order of priority."""
    venue, now = request.access.venue, timezone.now()
    rows: Any = (
        Reservation.objects.filter(booking_waitlist.IS_WAITLISTED, venue=venue, ends_at__gt=now)
        .annotate(is_unreached=booking_waitlist.has_undelivered_mail(now=now))
        .order_by("date", "offer_count", "created_at", "id")[: MAX_SHOWN + 1]
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
                "held_until": booking_waitlist.offer_expires_at(reservation) if stage == Stage.OFFERED else None,
                "is_to_be_called": reservation.is_unreached or not booking_waitlist.can_mail_offers(reservation),
            }
        )
    context = {
        "parties": parties[:MAX_SHOWN],
        "is_cut": len(parties) > MAX_SHOWN,
        "max_shown": MAX_SHOWN,
        "venue": venue,
    }
    return render(request, "reservations/waitlist.html", context)

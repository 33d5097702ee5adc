"""Covers of a venue by day and hour."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce, ExtractHour

from accounts.models import Venue
from reservations.models import Reservation

CAME = Q(status=Reservation.Status.CONFIRMED) & (Q(arrival__isnull=True) | ~Q(arrival=Reservation.Arrival.NO_SHOW))


@dataclass(frozen=True, slots=True)
class Covers:
    """Guests of confirmed reservations that are not no-shows, and numbers of reservations."""

    covers: int = 0
    no_shows: int = 0
    cancelled: int = 0


def sum_by_day(venue: Venue, first: date, last: date) -> Mapping[date, Covers]:
    """Return the covers of each day with reservations, by their date at the venue. One query, by index."""
    rows = Reservation.objects.filter(venue=venue, date__range=(first, last)).order_by().values("date")
    found = rows.annotate(
        covers=Coalesce(Sum("party_size", filter=CAME), 0),
        no_shows=Count("pk", filter=Q(arrival=Reservation.Arrival.NO_SHOW)),
        cancelled=Count("pk", filter=Q(status=Reservation.Status.CANCELLED)),
    )
    names = ("date", "covers", "no_shows", "cancelled")
    return {day: Covers(*counts) for day, *counts in found.values_list(*names)}


def sum_by_hour(venue: Venue, day: date) -> Mapping[int, int]:
    """Return the covers that start in each hour of a day, by the venue's clock. One query, by index."""
    rows = Reservation.objects.filter(CAME, venue=venue, date=day).order_by()
    found: Any = rows.values_list(ExtractHour("time")).annotate(Sum("party_size"))
    return dict(found)

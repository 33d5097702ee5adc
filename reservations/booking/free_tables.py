"""What is free at a time for one party: the tables and the combinations among which staff choose."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from django.db.models import Prefetch

from reservations.booking import commands
from reservations.booking.venue_time import moment_of
from reservations.models import Combination, Reservation, Seating, Table


@dataclass(frozen=True, slots=True)
class Opening:
    """Tables that are free for the whole stay; one, or several that are pushed together."""

    names: list[str]
    seats_min: int
    seats_max: int
    fits: bool


@dataclass(frozen=True, slots=True)
class Openings:
    """What is free from then (UTC) on, the places that seat the party first, and the smallest of those."""

    starts_at: datetime
    ends_at: datetime
    places: Sequence[Opening]


def openings(reservation: Reservation, *, day: date, at: time) -> Openings:
    """What the party could have at that time; the tables that it has itself count as free. Seven queries at most.

    Raises NoSuchTime.
    """
    there = Reservation(venue=reservation.venue, date=day, time=at, party_size=reservation.party_size)
    starts_at = moment_of(reservation.venue, day=day, at=at)
    ends_at = starts_at + commands.stay(there, has_tables=True)
    taken = set(
        Seating.objects.filter(table__venue=reservation.venue, during__overlap=(starts_at, ends_at))
        .exclude(reservation=reservation.pk)
        .values_list("table_id", flat=True)
    )
    active = Table.objects.filter(venue=reservation.venue, is_active=True)
    party = reservation.party_size
    found = [
        Opening([table.name], table.seats_min, table.seats_max, table.seats_min <= party <= table.seats_max)
        for table in active
        if table.pk not in taken
    ]
    several = Combination.objects.filter(venue=reservation.venue, is_active=True)
    for combination in several.prefetch_related(Prefetch("tables", Table.objects.order_by("name"))):
        parts = list(combination.tables.all())
        if len(parts) > 1 and all(table.is_active and table.pk not in taken for table in parts):
            fits = combination.seats_min <= party <= combination.seats_max
            names = [table.name for table in parts]
            found.append(Opening(names, combination.seats_min, combination.seats_max, fits))
    found.sort(key=lambda place: (not place.fits, len(place.names), place.seats_max, place.names))
    return Openings(starts_at, ends_at, found)

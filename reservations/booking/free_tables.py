"""Free tables and combinations at a time, for staff to choose from."""

from dataclasses import dataclass
from datetime import date, datetime, time

from django.db.models import Prefetch

from reservations.booking import commands
from reservations.booking.venue_time import to_utc
from reservations.models import Combination, Reservation, Seating, Table


@dataclass(frozen=True, slots=True)
class FreePlace:
    """A table or a combination that is free for the whole stay; `fits` if the party is of its size."""

    names: list[str]
    seats_min: int
    seats_max: int
    fits: bool


def list_free_places(reservation: Reservation, *, day: date, at: time) -> tuple[datetime, list[FreePlace]]:
    """Return the end of the stay at this time, and the places for it, best fit first; its own tables count as free.

    At most seven queries. Raises NonexistentTime.
    """
    venue, party_size = reservation.venue, reservation.party_size
    moved = Reservation(venue=venue, date=day, time=at, party_size=party_size)
    starts_at = to_utc(venue, day=day, at=at)
    ends_at = starts_at + commands.stay_duration(moved, has_tables=True)
    taken = set(
        Seating.objects.filter(table__venue=venue, during__overlap=(starts_at, ends_at))
        .exclude(reservation=reservation.pk)
        .values_list("table_id", flat=True)
    )
    combinations = Combination.objects.filter(venue=venue, is_active=True).prefetch_related(
        Prefetch("tables", Table.objects.order_by("name"))
    )
    candidates: list[tuple[Table | Combination, list[Table]]] = [
        *((table, [table]) for table in Table.objects.filter(venue=venue, is_active=True)),
        *((combination, list(combination.tables.all())) for combination in combinations),
    ]
    places = [
        FreePlace(
            names=[table.name for table in tables],
            seats_min=place.seats_min,
            seats_max=place.seats_max,
            fits=place.seats_min <= party_size <= place.seats_max,
        )
        for place, tables in candidates
        if len(tables) > isinstance(place, Combination)
        and all(table.is_active and table.pk not in taken for table in tables)
    ]
    places.sort(key=lambda place: (not place.fits, len(place.names), place.seats_max, place.names))
    return ends_at, places

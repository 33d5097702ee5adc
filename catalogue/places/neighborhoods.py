"""The neighborhoods of restaurants follow those of the landmarks.

A restaurant whose sources and staff state no neighborhood has the nearest one within 1500 m. A trigger records each
point where a neighborhood was added, moved, renamed or deleted, and this module works out the restaurants around it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from catalogue.models import Landmark, NeighborhoodChange
from catalogue.search.geocoding.distance import Location, distance_m, mercator_scale
from framework.db.sql_files import read_sql

NEIGHBORHOOD_REACH_M = 1500

NEAREST = read_sql("catalogue", "find_neighborhoods")
LOCK_NEARBY = read_sql("catalogue", "lock_restaurants_of_neighborhoods")
# In the order of the keys, in which all writers lock them.
UPDATE = """
UPDATE catalogue_restaurant AS restaurant SET neighborhood = found.name, updated_at = %s
FROM unnest(%s::uuid[], %s::text[]) AS found (id, name) WHERE restaurant.id = found.id
"""


def find_neighborhoods(locations: Sequence[Location]) -> list[str | None]:
    """Return the nearest neighborhood within 1500 m of each place, or None. One query."""
    names: list[str | None] = [None] * len(locations)
    arguments: list[Any] = [
        list(range(len(locations))),
        [place.lat for place in locations],
        [place.lng for place in locations],
        [_plane_reach(place) for place in locations],
        Landmark.Kind.NEIGHBORHOOD,
    ]
    with connection.cursor() as cursor:
        cursor.execute(NEAREST, arguments)
        for number, name, lat, lng in cursor.fetchall():
            if distance_m(locations[number], Location(lat, lng)) <= NEIGHBORHOOD_REACH_M:
                names[number] = name
    return names


def update_neighborhoods(*, now: datetime, batch: int = 1000, at_most: int = 50_000) -> bool:
    """Work out the restaurants around changed neighborhoods; return whether changes are left for another call.

    One transaction for each `batch` of restaurants around a change, which takes up to half a second, until `at_most`
    are read. Changes that another worker has claimed are passed over; a killed call loses one batch.
    """
    read = 0
    while read < at_most:
        with transaction.atomic():
            change = NeighborhoodChange.objects.select_for_update(skip_locked=True).order_by("pk").first()
            if change is None:
                return False
            read += max(1, _update_batch(change, now=now, batch=batch))
    return NeighborhoodChange.objects.exists()


def _update_batch(change: NeighborhoodChange, *, now: datetime, batch: int) -> int:
    """Work out the next restaurants around a change that is locked; return their number."""
    center = Location(change.latitude, change.longitude)
    with connection.cursor() as cursor:
        cursor.execute(LOCK_NEARBY, [change.after, center.lat, center.lng, _plane_reach(center), batch])
        rows: list[tuple[UUID, float, float, str | None, bool]] = cursor.fetchall()
        names = find_neighborhoods([Location(lat, lng) for _, lat, lng, _, _ in rows])
        found = {
            pk: name
            for (pk, _, _, former, is_stated), name in zip(rows, names, strict=True)
            if not is_stated and name != former
        }
        if found:
            cursor.execute(UPDATE, [now, list(found), list(found.values())])
    if len(rows) < batch:
        change.delete()
    else:
        change.after = rows[-1][0]
        change.save(update_fields=["after"])
    return len(rows)


def _plane_reach(place: Location) -> float:
    """The radius of a circle on the Mercator plane that contains all within reach."""
    return NEIGHBORHOOD_REACH_M * mercator_scale(place, radius_m=NEIGHBORHOOD_REACH_M).high

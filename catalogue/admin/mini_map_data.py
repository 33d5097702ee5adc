"""A picture of where a place is: what is around it, drawn by us on no map of others."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians
from uuid import UUID

from django.db import connection

from catalogue.search.geocoding.distance import METRES_SQL, PLANE_SQL, Location, distance_m, project_mercator

RADIUS_M = 1000
MOST_PLACES, MOST_LANDMARKS = 60, 12
# The drawing, in its own units, and its middle.
SIZE = 480
MIDDLE = SIZE / 2
EDGE = 20
METRES_PER_DEGREE = 111_195
ROUND_M = (50, 100, 200, 250, 500, 1000)


@dataclass(frozen=True, slots=True)
class Spot:
    """Something around a place. `x` and `y` are in units of the drawing, `metres` from its middle."""

    key: UUID
    name: str
    kind: str
    metres: int
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Ring:
    """A distance from the middle."""

    metres: int
    radius: str
    label_y: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The nearest places and landmarks within a kilometre; `is_full` where there are more than are drawn."""

    places: Sequence[Spot]
    landmarks: Sequence[Spot]
    rings: Sequence[Ring]
    scale_m: int
    # Where the bar of the scale ends.
    scale: str
    is_full: bool


# {0} is the table, {1} what is told of a row, {2} what holds for it: all words of ours.
NEAREST = """
SELECT r.id, r.name, {1}, r.latitude, r.longitude FROM {0} AS r
WHERE r.position <@ circle(point(%(x)s, %(y)s), %(reach)s) AND {2} AND {metres} <= %(radius)s
ORDER BY {plane} LIMIT %(limit)s
"""


def around(here: Location, *, but: UUID | None = None, radius_m: int = RADIUS_M) -> Surroundings:
    """What is around a point, the nearest first. Two queries, by the indexes of the places' positions."""
    others = "r.merged_into_id IS NULL AND r.erased_at IS NULL AND r.id IS DISTINCT FROM %(but)s::uuid"
    found = _nearest("catalogue_restaurant", "r.status", others, here, but, radius_m, MOST_PLACES + 1)
    places, is_full = found[:MOST_PLACES], len(found) > MOST_PLACES
    # Where many stand close together the picture ends with the last of them.
    reach = max(60, places[-1][3]) if is_full else radius_m
    known = _nearest("catalogue_landmark", "r.kind", "TRUE", here, but, radius_m, MOST_LANDMARKS)
    unit = (MIDDLE - EDGE) / reach
    scale_m = max((each for each in ROUND_M if each <= reach / 2), default=ROUND_M[0])
    rings = [each for each in ROUND_M if each <= reach][-3:]
    return Surroundings(
        places=[_spot(row, here, unit) for row in places],
        landmarks=[_spot(row, here, unit) for row in known if row[3] <= reach],
        rings=[Ring(each, f"{each * unit:.1f}", f"{MIDDLE - each * unit - 3:.1f}") for each in rings],
        scale_m=scale_m,
        scale=f"{EDGE + scale_m * unit:.1f}",
        is_full=is_full,
    )


def _nearest(
    table: str, told: str, others: str, here: Location, but: UUID | None, radius_m: int, limit: int
) -> list[tuple[UUID, str, str, int, Location]]:
    middle = project_mercator(here)
    asked = {
        "x": middle.x,
        "y": middle.y,
        "lat": here.lat,
        "lng": here.lng,
        "but": but,
        "radius": radius_m,
        # The plane is stretched; a hundredth more than the stretch at the middle is enough for a kilometre.
        "reach": radius_m * 1.02 / cos(radians(here.lat)),
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(NEAREST.format(table, told, others, metres=METRES_SQL, plane=PLANE_SQL), asked)
        rows = [(key, name, kind, Location(lat, lng)) for key, name, kind, lat, lng in cursor.fetchall()]
    return [(key, name, kind, round(distance_m(here, there)), there) for key, name, kind, there in rows]


def _spot(row: tuple[UUID, str, str, int, Location], here: Location, unit: float) -> Spot:
    key, name, kind, metres, there = row
    east = (there.lng - here.lng) * METRES_PER_DEGREE * cos(radians(here.lat))
    north = (there.lat - here.lat) * METRES_PER_DEGREE
    return Spot(key, name, kind, metres, f"{MIDDLE + east * unit:.1f}", f"{MIDDLE - north * unit:.1f}")

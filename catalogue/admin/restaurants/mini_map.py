"""The map of a restaurant's surroundings: an SVG of nearby places and landmarks, without external map tiles."""

from math import cos, radians
from typing import Any
from uuid import UUID

from django.db import connection
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from catalogue.models import Restaurant
from catalogue.search.geocoding.distance import METRES_SQL, PLANE_SQL, Location, distance_m, project_mercator

RADIUS_M = 1000
MAX_PLACES, MAX_LANDMARKS = 60, 12
# Size and centre of the SVG, in its units.
SIZE = 480
CENTER = SIZE / 2
MARGIN = 20
METRES_PER_DEGREE = 111_195
RING_RADII_M = (50, 100, 200, 250, 500, 1000)


# {0} is the table, {1} the column of the kind, {2} the condition: constants only.
NEAREST = """
SELECT r.id, r.name, {1}, r.latitude, r.longitude FROM {0} AS r
WHERE r.position <@ circle(point(%(x)s, %(y)s), %(reach)s) AND {2} AND {metres} <= %(radius)s
ORDER BY {plane} LIMIT %(limit)s
"""


def find_surroundings(here: Location, *, exclude: UUID | None = None, radius_m: int = RADIUS_M) -> dict[str, Any]:
    """Return what catalogue/map.html shows around a point, the nearest first; `is_full` if there is more.

    Spots have `x` and `y` in units of the SVG, and `metres` from its centre. Two queries, by the position indexes.
    """
    is_current = "r.merged_into_id IS NULL AND r.erased_at IS NULL AND r.id IS DISTINCT FROM %(exclude)s::uuid"
    nearest = _nearest("catalogue_restaurant", "r.status", is_current, here, exclude, radius_m, MAX_PLACES + 1)
    places, is_full = nearest[:MAX_PLACES], len(nearest) > MAX_PLACES
    # In dense areas the map ends at the last drawn place.
    reach = max(60, places[-1][3]) if is_full else radius_m
    landmarks = _nearest("catalogue_landmark", "r.kind", "TRUE", here, exclude, radius_m, MAX_LANDMARKS)
    unit = (CENTER - MARGIN) / reach
    scale_m = max((radius for radius in RING_RADII_M if radius <= reach / 2), default=RING_RADII_M[0])
    rings = [radius for radius in RING_RADII_M if radius <= reach][-3:]
    return {
        "places": [_spot(row, here, unit) for row in places],
        "landmarks": [_spot(row, here, unit) for row in landmarks if row[3] <= reach],
        "rings": [
            {"metres": radius, "radius": f"{radius * unit:.1f}", "label_y": f"{CENTER - radius * unit - 3:.1f}"}
            for radius in rings
        ],
        "scale_m": scale_m,
        # The x coordinate of the end of the scale bar.
        "scale": f"{MARGIN + scale_m * unit:.1f}",
        "is_full": is_full,
    }


def _nearest(
    table: str, kind: str, condition: str, here: Location, exclude: UUID | None, radius_m: int, limit: int
) -> list[tuple[UUID, str, str, int, Location]]:
    center = project_mercator(here)
    parameters = {
        "x": center.x,
        "y": center.y,
        "lat": here.lat,
        "lng": here.lng,
        "exclude": exclude,
        "radius": radius_m,
        # The Mercator scale at the centre plus 1 % is enough for a kilometre.
        "reach": radius_m * 1.02 / cos(radians(here.lat)),
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(NEAREST.format(table, kind, condition, metres=METRES_SQL, plane=PLANE_SQL), parameters)
        rows = [(key, name, kind, Location(lat, lng)) for key, name, kind, lat, lng in cursor.fetchall()]
    return [(key, name, kind, round(distance_m(here, there)), there) for key, name, kind, there in rows]


def _spot(row: tuple[UUID, str, str, int, Location], here: Location, unit: float) -> dict[str, Any]:
    key, name, kind, metres, there = row
    east = (there.lng - here.lng) * METRES_PER_DEGREE * cos(radians(here.lat))
    north = (there.lat - here.lat) * METRES_PER_DEGREE
    x, y = f"{CENTER + east * unit:.1f}", f"{CENTER - north * unit:.1f}"
    return {"key": key, "name": name, "kind": kind, "metres": metres, "x": x, "y": y}


def render_map(restaurant: Restaurant, *, marked: UUID | None = None) -> SafeString | None:
    """Render the map, with the restaurant `marked` highlighted; None without a location. Two queries."""
    if restaurant.latitude is None or restaurant.longitude is None:
        return None
    surroundings = find_surroundings(Location(restaurant.latitude, restaurant.longitude), exclude=restaurant.pk)
    return render_to_string("catalogue/map.html", {"place": restaurant, "map": surroundings, "marked": marked})

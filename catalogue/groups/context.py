"""What lies around a place: landmarks, museums, parks within a walk."""

from datetime import datetime
from typing import Any

from django.db import connection

from catalogue import geo
from catalogue.geo import Location
from catalogue.models import Landmark, Restaurant
from config.api.ids import encode

REACH_M = 1_500.0
MOST = 20
# A city or a neighborhood lies around a place in another sense.
KINDS = [kind for kind in Landmark.Kind.values if kind not in (Landmark.Kind.CITY, Landmark.Kind.NEIGHBORHOOD)]

# The circle of the plane finds candidates by its index, the great circle decides.
AROUND = f"""
SELECT * FROM (
    SELECT r.id, r.name, r.kind, r.latitude, r.longitude, r.wikidata, r.source_id, {geo.METRES_SQL} AS metres
    FROM catalogue_landmark r
    WHERE r.position <@ circle({geo.CENTER_SQL}, %(reach)s) AND r.kind = ANY(%(kinds)s)
) AS near
WHERE metres <= %(metres)s ORDER BY metres, id LIMIT %(most)s
"""  # noqa: S608  # the fragments are constants of catalogue.geo


def around(restaurant: Restaurant, now: datetime) -> dict[str, Any]:
    """The nearest landmarks, nearest first; None where there is none or the place is not known. One query."""
    if restaurant.latitude is None or restaurant.longitude is None:
        return {"context": None}
    center = Location(restaurant.latitude, restaurant.longitude)
    point = geo.project(center)
    parameters: dict[str, Any] = {
        "lat": center.lat,
        "lng": center.lng,
        "x": point.x,
        "y": point.y,
        "reach": REACH_M * geo.stretch(center, radius_m=REACH_M).high,
        "kinds": KINDS,
        "metres": REACH_M,
        "most": MOST,
    }
    with connection.cursor() as cursor:
        cursor.execute(AROUND, parameters)
        entries = [_entry(center, *row) for row in cursor.fetchall()]
    return {"context": {"neighborhood": restaurant.neighborhood, "entries": entries} if entries else None}


def _entry(
    center: Location,
    pk: Any,
    name: str,
    kind: str,
    latitude: float,
    longitude: float,
    wikidata: str | None,
    source: str,
    metres: float,
) -> dict[str, Any]:
    walk = geo.walk(metres)
    return {
        "id": encode("lm", pk),
        "name": name,
        "kind": kind,
        "distance_m": round(metres),
        "walking_distance_m": walk.distance_m,
        "walking_minutes": walk.minutes,
        "bearing": geo.bearing(center, Location(latitude, longitude)),
        "wikidata": wikidata,
        "source": source,
    }

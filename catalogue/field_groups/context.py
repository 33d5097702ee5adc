"""What lies around a place: landmarks, museums, parks within a walk."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from catalogue.models import Landmark, Restaurant
from catalogue.places import Place
from catalogue.search.geocoding import distance
from catalogue.search.geocoding.distance import Location
from framework.db import prepared_statements
from framework.public_ids import encode

REACH_M = 1_500.0
MOST = 20
# A city or a neighborhood lies around a place in another sense.
KINDS = [kind for kind in Landmark.Kind.values if kind not in (Landmark.Kind.CITY, Landmark.Kind.NEIGHBORHOOD)]

# The circle of the plane finds candidates by its index, the great circle decides.
AROUND = f"""
SELECT * FROM (
    SELECT r.id, r.name, r.kind, r.latitude, r.longitude, r.wikidata, r.source_id, {distance.METRES_SQL} AS metres
    FROM catalogue_landmark r
    WHERE r.position <@ circle({distance.CENTER_SQL}, %(reach)s) AND r.kind = ANY(%(kinds)s)
) AS near
WHERE metres <= %(metres)s ORDER BY metres, id LIMIT %(most)s
"""  # noqa: S608  # the fragments are constants of catalogue.search.geocoding.distance


# Another place may have a neighborhood of the same name; the nearest centre is meant, within a ride.
NEIGHBORHOOD_M = 20_000.0
CENTER_OF = f"""
SELECT * FROM (
    SELECT r.id, r.name, r.latitude, r.longitude, {distance.METRES_SQL} AS metres
    FROM catalogue_landmark r
    JOIN catalogue_landmarkname AS named ON named.landmark_id = r.id
    WHERE named.folded = fold(%(neighborhood)s) AND r.kind = 'neighborhood'
) AS near
WHERE metres <= %(metres)s ORDER BY metres, id LIMIT 1
"""  # noqa: S608  # the fragments are constants of catalogue.search.geocoding.distance


def around(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """The nearest landmarks, nearest first; None where there is none or the place is not known. One query."""
    entries = nearest(restaurant)
    return {"context": {"neighborhood": restaurant.neighborhood, "entries": entries} if entries else None}


def nearest(
    restaurant: Restaurant | Place, *, kinds: Sequence[str] = KINDS, radius_m: float = REACH_M, most: int = MOST
) -> list[dict[str, Any]]:
    """What lies within so many metres, nearest first; nothing where the place is not known. One query."""
    if restaurant.latitude is None or restaurant.longitude is None:
        return []
    center = Location(restaurant.latitude, restaurant.longitude)
    point = distance.project(center)
    parameters: dict[str, Any] = {
        "lat": center.lat,
        "lng": center.lng,
        "x": point.x,
        "y": point.y,
        "reach": radius_m * distance.stretch(center, radius_m=radius_m).high,
        "kinds": list(kinds),
        "metres": radius_m,
        "most": most,
    }
    return [_entry(center, *row) for row in prepared_statements.fetch_all(AROUND, parameters)]


def neighborhood(restaurant: Restaurant | Place) -> dict[str, Any] | None:
    """Its neighborhood, and how far its centre is where that is known; None without one. One query."""
    name = restaurant.neighborhood
    if name is None:
        return None
    found: dict[str, Any] = {"name": name, "id": None, "center": None, "distance_m": None}
    if restaurant.latitude is None or restaurant.longitude is None:
        return found
    parameters: dict[str, Any] = {"lat": restaurant.latitude, "lng": restaurant.longitude, "neighborhood": name}
    row = prepared_statements.fetch_one(CENTER_OF, {**parameters, "metres": NEIGHBORHOOD_M})
    if row is None:
        return found
    pk, _, latitude, longitude, metres = row
    center = {"lat": latitude, "lng": longitude}
    return {**found, "id": encode("lm", pk), "center": center, "distance_m": round(metres)}


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
    walk = distance.walk(metres)
    return {
        "id": encode("lm", pk),
        "name": name,
        "kind": kind,
        "distance_m": round(metres),
        "walking_distance_m": walk.distance_m,
        "walking_minutes": walk.minutes,
        "bearing": distance.bearing(center, Location(latitude, longitude)),
        "wikidata": wikidata,
        "source": source,
    }

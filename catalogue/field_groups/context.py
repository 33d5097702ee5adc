"""The field group `context`: landmarks, museums and parks near a restaurant."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from catalogue.models import Landmark, Restaurant
from catalogue.places import Place
from catalogue.search.geocoding import distance
from catalogue.search.geocoding.distance import Location
from framework.db import prepared_statements
from framework.public_ids import encode

DEFAULT_RADIUS_M = 1_500.0
MAX_ENTRIES = 20
# Cities and neighborhoods contain the restaurant.
# A hotel is where somebody stays, and no sight around a restaurant.
NO_SIGHTS = (Landmark.Kind.CITY, Landmark.Kind.NEIGHBORHOOD, Landmark.Kind.HOTEL)
KINDS = [kind for kind in Landmark.Kind.values if kind not in NO_SIGHTS]

# The circle on the plane finds candidates by an index, the great-circle distance decides.
AROUND = f"""
SELECT * FROM (
    SELECT r.id, r.name, r.kind, r.latitude, r.longitude, r.wikidata, r.source_id, {distance.METRES_SQL} AS metres
    FROM catalogue_landmark r
    WHERE r.position <@ circle({distance.CENTER_SQL}, %(reach)s) AND r.kind = ANY(%(kinds)s)
) AS near
WHERE metres <= %(metres)s ORDER BY metres, id LIMIT %(limit)s
"""  # noqa: S608  # built from constants


# Several neighborhoods may have the same name: the nearest one within this distance is used.
MAX_NEIGHBORHOOD_DISTANCE_M = 20_000.0
CENTER_OF = f"""
SELECT * FROM (
    SELECT r.id, r.name, r.latitude, r.longitude, {distance.METRES_SQL} AS metres
    FROM catalogue_landmark r
    JOIN catalogue_landmarkname AS named ON named.landmark_id = r.id
    WHERE named.folded = fold(%(neighborhood)s) AND r.kind = 'neighborhood'
) AS near
WHERE metres <= %(metres)s ORDER BY metres, id LIMIT 1
"""  # noqa: S608  # built from constants


def read_group(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """Return the nearest landmarks; None without any, or without a location. One query."""
    entries = list_landmarks(restaurant)
    return {"context": {"neighborhood": restaurant.neighborhood, "entries": entries} if entries else None}


def list_landmarks(
    restaurant: Restaurant | Place,
    *,
    kinds: Sequence[str] = KINDS,
    radius_m: float = DEFAULT_RADIUS_M,
    limit: int = MAX_ENTRIES,
) -> list[dict[str, Any]]:
    """Return the landmarks within a radius, nearest first; none without a location. One query."""
    if restaurant.latitude is None or restaurant.longitude is None:
        return []
    center = Location(restaurant.latitude, restaurant.longitude)
    parameters: dict[str, Any] = distance.circle_parameters(center, radius_m=radius_m) | {
        "kinds": list(kinds),
        "metres": radius_m,
        "limit": limit,
    }
    entries = []
    for pk, name, kind, lat, lng, wikidata, source, metres in prepared_statements.fetch_all(AROUND, parameters):
        walk = distance.estimate_walk(metres)
        entries.append(
            {
                "id": encode("lm", pk),
                "name": name,
                "kind": kind,
                "distance_m": round(metres),
                "walking_distance_m": walk.distance_m,
                "walking_minutes": walk.minutes,
                "bearing": distance.bearing(center, Location(lat, lng)),
                "wikidata": wikidata,
                "source": source,
            }
        )
    return entries


def describe_neighborhood(restaurant: Restaurant | Place) -> dict[str, Any] | None:
    """Return the neighborhood and the distance of its center, if known; None without a neighborhood. One query."""
    name = restaurant.neighborhood
    if name is None:
        return None
    result: dict[str, Any] = {"name": name, "id": None, "center": None, "distance_m": None}
    if restaurant.latitude is None or restaurant.longitude is None:
        return result
    parameters: dict[str, Any] = {"lat": restaurant.latitude, "lng": restaurant.longitude, "neighborhood": name}
    row = prepared_statements.fetch_one(CENTER_OF, {**parameters, "metres": MAX_NEIGHBORHOOD_DISTANCE_M})
    if row is None:
        return result
    pk, _, latitude, longitude, metres = row
    center = {"lat": latitude, "lng": longitude}
    return {**result, "id": encode("lm", pk), "center": center, "distance_m": round(metres)}

"""The area of a market from a file: a GeoJSON polygon or a bounding box.

A market is a circle. That of a file has its centre in the middle of the bounding box, and reaches its farthest corner.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from catalogue.search.geocoding.distance import Location, distance_m
from framework.errors import InvalidRequest

# GeoJSON of a large country with all its detail.
MAX_BYTES = 20_000_000
MAX_POSITIONS = 100_000
MAX_LATITUDE, MAX_LONGITUDE = 85, 180
MAX_RADIUS_M = 500_000
# Radii are rounded up to this.
ROUNDED_TO_M = 100

Position = tuple[float, float]


class InvalidArea(InvalidRequest):
    """A file that describes no area."""


@dataclass(frozen=True, slots=True)
class Area:
    """A circle: its centre, and its radius in metres."""

    center: Location
    radius_m: int


def read_area(content: bytes) -> Area:
    """Return the circle around a polygon, or around the bounding box `[west, south, east, north]`.

    The polygon is a Polygon, a MultiPolygon, or the one Feature with it. Raises InvalidArea.
    """
    if len(content) > MAX_BYTES:
        raise InvalidArea(f"The file has more than {MAX_BYTES // 1_000_000} MB.")
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidArea("The file is not JSON.") from error
    rings = [_box_ring(value)] if isinstance(value, list) else _read_rings(value)
    positions = [position for ring in rings for position in ring]
    if len(positions) > MAX_POSITIONS:
        raise InvalidArea(f"The polygon has more than {MAX_POSITIONS:,} positions: simplify it.")
    for ring in rings:
        if _is_line(ring):
            raise InvalidArea("The polygon is empty: its corners lie on one line.")
        if crossing := _find_crossing(ring):
            raise InvalidArea(f"The polygon crosses itself near {crossing[1]:.4f}, {crossing[0]:.4f}.")
    west, east = min(lng for lng, _ in positions), max(lng for lng, _ in positions)
    south, north = min(lat for _, lat in positions), max(lat for _, lat in positions)
    if east - west > MAX_LONGITUDE:
        raise InvalidArea("The polygon crosses the 180th meridian, or spans half of the world: a market is a city.")
    center = Location(round((south + north) / 2, 6), round((west + east) / 2, 6))
    metres = max(distance_m(center, Location(lat, lng)) for lng, lat in positions)
    if metres > MAX_RADIUS_M:
        raise InvalidArea(f"The polygon reaches {metres / 1000:,.0f} km from its middle; a market has 500 km at most.")
    return Area(center, math.ceil(metres / ROUNDED_TO_M) * ROUNDED_TO_M)


def _box_ring(value: Sequence[Any]) -> list[Position]:
    if len(value) != 4:
        raise InvalidArea("A bounding box is four numbers: [west, south, east, north].")
    west, south = _read_position(value[:2])
    east, north = _read_position(value[2:])
    if west >= east or south >= north:
        raise InvalidArea("The bounding box is empty: it is [west, south, east, north].")
    return [(west, south), (east, south), (east, north), (west, north), (west, south)]


def _read_rings(value: Any) -> list[list[Position]]:
    """Return the outer rings: holes do not change the circle."""
    geometry = _find_geometry(value)
    polygons = geometry.get("coordinates")
    if geometry["type"] == "Polygon":
        polygons = [polygons]
    if not isinstance(polygons, list) or not polygons or not all(isinstance(rings, list) for rings in polygons):
        raise InvalidArea("The polygon has no coordinates.")
    if not all(polygons):
        raise InvalidArea("The polygon is empty: it has no ring.")
    return [_read_ring(rings[0]) for rings in polygons]


def _find_geometry(value: Any) -> dict[str, Any]:
    found = value
    if isinstance(found, dict) and found.get("type") == "FeatureCollection":
        features = found.get("features")
        if not isinstance(features, list) or len(features) != 1:
            count = len(features) if isinstance(features, list) else 0
            raise InvalidArea(f"The file has {count} features: one is expected, the area of the market.")
        found = features[0]
    if isinstance(found, dict) and found.get("type") == "Feature":
        found = found.get("geometry")
    kind = found.get("type") if isinstance(found, dict) else None
    if not isinstance(found, dict) or kind not in ("Polygon", "MultiPolygon"):
        what = f"a {kind}" if isinstance(kind, str) and kind else "something else"
        raise InvalidArea(
            f"A GeoJSON Polygon or MultiPolygon is expected, or [west, south, east, north]; the file has {what[:60]}."
        )
    return found


def _read_ring(value: Any) -> list[Position]:
    if not isinstance(value, list) or len(value) < 4:
        raise InvalidArea("The ring of a polygon has four positions or more, of which the last is the first again.")
    ring = [_read_position(position) for position in value]
    if ring[0] != ring[-1]:
        raise InvalidArea("The ring of the polygon is not closed: its last position has to be its first one again.")
    # Repeated positions are no crossing.
    return [position for number, position in enumerate(ring) if not number or position != ring[number - 1]]


def _read_position(value: Any) -> Position:
    numbers = value[:2] if isinstance(value, list) else []
    if len(numbers) < 2 or not all(
        isinstance(number, (int, float)) and not isinstance(number, bool) and abs(number) <= 1e6 for number in numbers
    ):
        raise InvalidArea("A position is two numbers, the longitude and the latitude in degrees.")
    lng, lat = map(float, numbers)
    if abs(lng) > MAX_LONGITUDE or abs(lat) > MAX_LATITUDE:
        hint = ""
        if abs(lng) <= MAX_LATITUDE and abs(lat) <= MAX_LONGITUDE:
            hint = " Are they swapped? GeoJSON has the longitude first."
        raise InvalidArea(f"Longitude {lng:g}, latitude {lat:g} is beyond 180 or {MAX_LATITUDE} degrees.{hint}")
    return lng, lat


def _is_line(ring: Sequence[Position]) -> bool:
    """Whether all positions lie on one line, but for the rounding of floats."""
    width, height = (max(values) - min(values) for values in zip(*ring, strict=True))
    doubled_area = sum(abs(_turn(ring[0], start, end)) for start, end in pairwise(ring))
    return bool(doubled_area <= 1e-9 * width * height)


def _find_crossing(ring: Sequence[Position]) -> Position | None:
    """Return a corner near which two sides of a closed ring cross or touch, apart from the corners that they share.

    The sides are sorted by their west ends, and each is compared with those that it overlaps from west to east.
    """
    sides = sorted((min(start, end)[0], max(start, end)[0], start, end) for start, end in pairwise(ring))
    for number, (_, east, start, end) in enumerate(sides):
        for other in range(number + 1, len(sides)):
            west, _, other_start, other_end = sides[other]
            if west > east:
                break
            if _is_crossing(start, end, other_start, other_end):
                return other_start
    return None


def _is_crossing(a: Position, b: Position, c: Position, d: Position) -> bool:
    """Whether the sides a-b and c-d have more in common than a corner."""
    turns = _turn(a, b, c), _turn(a, b, d), _turn(c, d, a), _turn(c, d, b)
    if turns[0] * turns[1] < 0 and turns[2] * turns[3] < 0:
        return True
    shared = {a, b} & {c, d}
    return any(
        turn == 0 and point not in shared and _is_between(start, end, point)
        for turn, start, end, point in zip(turns, (a, a, c, c), (b, b, d, d), (c, d, a, b), strict=True)
    )


def _turn(a: Position, b: Position, c: Position) -> float:
    """Positive if a, b, c turn left, negative if right, 0 on a line."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _is_between(start: Position, end: Position, point: Position) -> bool:
    return all(min(start[axis], end[axis]) <= point[axis] <= max(start[axis], end[axis]) for axis in (0, 1))

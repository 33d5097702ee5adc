"""A point for any GeoJSON geometry (RFC 7946)."""

from typing import Any

from catalogue.importers.parsing.parsed_place import read_location
from catalogue.importers.row_errors import RowRejected
from catalogue.search.geocoding.distance import Location

Ring = list[tuple[float, float]]


def find_point(geometry: Any) -> Location:
    """Return the point itself, the middle vertex of a line, or a point inside the (largest) polygon.

    Raises RowRejected for a missing or malformed geometry.
    """
    if not isinstance(geometry, dict):
        raise RowRejected("There is no geometry.")
    try:
        lng, lat = _find_point(geometry.get("type"), geometry.get("coordinates"))
    except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
        raise RowRejected("The geometry is broken.") from error
    return read_location(lat, lng)


def _find_point(kind: Any, coordinates: Any) -> tuple[Any, Any]:
    match kind:
        case "Point":
            lng, lat = coordinates[:2]
            return lng, lat
        case "LineString":
            return _find_point("Point", coordinates[len(coordinates) // 2])
        case "Polygon":
            return _point_inside([_read_ring(ring) for ring in coordinates])
        case "MultiPolygon":
            return _point_inside(
                max(([_read_ring(ring) for ring in polygon] for polygon in coordinates), key=_outer_area)
            )
    raise RowRejected(f"A geometry of type {kind!r:.40} is not read.")


def _read_ring(coordinates: list[list[float]]) -> Ring:
    return [(float(position[0]), float(position[1])) for position in coordinates]


def _outer_area(rings: list[Ring]) -> float:
    return abs(_area(rings[0]))


def _area(ring: Ring) -> float:
    return sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(ring, [*ring[1:], ring[0]], strict=True)) / 2


def _point_inside(rings: list[Ring]) -> tuple[float, float]:
    """Return the middle of the widest section of a horizontal line at half height inside the polygon."""
    south, north = min(y for _, y in rings[0]), max(y for _, y in rings[0])
    level = (south + north) / 2
    crossings = sorted(
        x1 + (level - y1) / (y2 - y1) * (x2 - x1)
        for ring in rings
        for (x1, y1), (x2, y2) in zip(ring, [*ring[1:], ring[0]], strict=True)
        if (y1 > level) != (y2 > level)
    )
    # Each pair of crossings encloses a section. A polygon without height has none: its first corner is used.
    sections = list(zip(crossings[::2], crossings[1::2], strict=True))
    if not sections:
        return rings[0][0]
    west, east = max(sections, key=lambda section: section[1] - section[0])
    return (west + east) / 2, level

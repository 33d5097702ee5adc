"""One point for any GeoJSON geometry (RFC 7946), so that a building can stand on the map as a place."""

from typing import Any

from catalogue.importers.parsing.parsed_place import read_location
from catalogue.importers.row_errors import RejectedError
from catalogue.search.geocoding.distance import Location

Ring = list[tuple[float, float]]


def representative_point(geometry: Any) -> Location:
    """The point itself, the middle vertex of a line, or a point that lies inside of the (largest) polygon.

    Raises RejectedError when there is no geometry, or one that is broken.
    """
    if not isinstance(geometry, dict):
        raise RejectedError("There is no geometry.")
    try:
        lng, lat = _point(geometry.get("type"), geometry.get("coordinates"))
    except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
        raise RejectedError("The geometry is broken.") from error
    return read_location(lat, lng)


def _point(kind: Any, coordinates: Any) -> tuple[Any, Any]:
    match kind:
        case "Point":
            lng, lat = coordinates[:2]
            return lng, lat
        case "LineString":
            return _point("Point", coordinates[len(coordinates) // 2])
        case "Polygon":
            return _inside([_ring(ring) for ring in coordinates])
        case "MultiPolygon":
            return _inside(max(([_ring(ring) for ring in polygon] for polygon in coordinates), key=_outer_area))
    raise RejectedError(f"A geometry of type {kind!r:.40} is not read.")


def _ring(coordinates: list[list[float]]) -> Ring:
    return [(float(position[0]), float(position[1])) for position in coordinates]


def _outer_area(rings: list[Ring]) -> float:
    return abs(_area(rings[0]))


def _area(ring: Ring) -> float:
    return sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(ring, [*ring[1:], ring[0]], strict=True)) / 2


def _inside(rings: list[Ring]) -> tuple[float, float]:
    """The middle of the widest stretch that a level line at half the height has inside of the polygon."""
    lowest, highest = min(y for _, y in rings[0]), max(y for _, y in rings[0])
    level = (lowest + highest) / 2
    crossings = sorted(
        x1 + (level - y1) / (y2 - y1) * (x2 - x1)
        for ring in rings
        for (x1, y1), (x2, y2) in zip(ring, [*ring[1:], ring[0]], strict=True)
        if (y1 > level) != (y2 > level)
    )
    # Each pair of crossings encloses a stretch. What has no height has none: its first corner stands for it.
    stretches = list(zip(crossings[::2], crossings[1::2], strict=True))
    if not stretches:
        return rings[0][0]
    west, east = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
    return (west + east) / 2, level

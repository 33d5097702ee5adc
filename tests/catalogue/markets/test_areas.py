"""The circle around the polygon or the bounding box of a file, and what is no area."""

import json
import math
from typing import Any

import pytest

from catalogue.markets import Area, InvalidArea, read_area
from catalogue.search.geocoding.distance import Location

# Lyon, roughly.
SQUARE = [[4.8, 45.7], [4.9, 45.7], [4.9, 45.8], [4.8, 45.8], [4.8, 45.7]]
# Half of the diagonal: 5,560 m north and 3,882 m east at the southern corners.
AROUND_SQUARE = Area(Location(45.75, 4.85), 6800)


def area(value: Any) -> Area:
    return read_area(json.dumps(value).encode())


def polygon(*rings: list[Any]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


@pytest.mark.parametrize(
    "value",
    [
        polygon(SQUARE),
        polygon(SQUARE[::-1]),
        polygon(SQUARE, [[4.84, 45.74], [4.86, 45.74], [4.86, 45.76], [4.84, 45.74]]),
        {"type": "MultiPolygon", "coordinates": [[SQUARE]]},
        {"type": "Feature", "properties": {}, "geometry": polygon(SQUARE)},
        {"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": polygon(SQUARE)}]},
        polygon([[*position, 170.0] for position in SQUARE]),
        polygon([SQUARE[0], *SQUARE]),
        [4.8, 45.7, 4.9, 45.8],
    ],
)
def test_a_market_is_the_circle_around_the_middle_of_the_polygon_to_its_farthest_corner(value: Any) -> None:
    assert area(value) == AROUND_SQUARE


def test_the_circle_contains_both_parts_of_a_multipolygon() -> None:
    islands = [[[[lng + east, lat] for lng, lat in SQUARE]] for east in (0, 0.3)]

    # 15,510 m to the middle of 0.4 degrees, and 5,560 m north of the middle.
    assert area({"type": "MultiPolygon", "coordinates": islands}) == Area(Location(45.75, 5.0), 16_500)


def test_a_file_may_have_a_byte_order_mark() -> None:
    assert read_area(b"\xef\xbb\xbf[4.8, 45.7, 4.9, 45.8]") == AROUND_SQUARE


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            polygon([[4.8, 45.7], [4.9, 45.8], [4.9, 45.7], [4.8, 45.8], [4.8, 45.7]]),
            "crosses itself near 45.7000, 4.9000",
        ),
        # It touches its own side.
        (
            polygon([[0, 0], [4, 0], [4, 4], [2, 0], [0, 4], [0, 0]]),
            "crosses itself near",
        ),
        # It runs back over its own side.
        (polygon([[0, 0], [1, 0], [1, 1], [1, 0.5], [0, 0]]), "crosses itself near"),
        (polygon([[4.8, 45.7], [4.9, 45.8], [5.0, 45.9], [4.8, 45.7]]), "is empty: its corners lie on one line"),
        (polygon([[4.8, 45.7]] * 4), "is empty: its corners lie on one line"),
        (polygon(), "The polygon is empty: it has no ring."),
        ({"type": "MultiPolygon", "coordinates": []}, "The polygon has no coordinates."),
        ({"type": "Polygon"}, "The polygon has no coordinates."),
        (polygon([[4.8, 45.7], [4.9, 45.7], [4.8, 45.7]]), "has four positions or more"),
        (polygon(SQUARE[:-1]), "is not closed"),
        ({"type": "Point", "coordinates": [4.8, 45.7]}, "the file has a Point."),
        ({"type": "LineString", "coordinates": SQUARE}, "the file has a LineString."),
        ({"type": "Feature", "geometry": None}, "the file has something else."),
        ({"type": "FeatureCollection", "features": []}, "The file has 0 features: one is expected"),
        ({"type": "FeatureCollection", "features": [{}, {}]}, "The file has 2 features: one is expected"),
        (7, "the file has something else."),
        (polygon([["4.8", 45.7], *SQUARE[1:]]), "A position is two numbers"),
        (polygon([[True, False], *SQUARE[1:]]), "A position is two numbers"),
        (polygon([[4.8], *SQUARE[1:]]), "A position is two numbers"),
        (polygon([4.8, 45.7, 4.9, 45.7]), "A position is two numbers"),
        ([4.8, 45.7, 4.9], "A bounding box is four numbers: [west, south, east, north]."),
        ([4.9, 45.7, 4.8, 45.8], "The bounding box is empty"),
        ([4.8, 45.7, 190, 45.8], "Longitude 190, latitude 45.8 is beyond 180 or 85 degrees."),
        # New York with the latitude first would be in the Antarctic.
        (
            [-74.3, 40.5, 45.8, -93.7],
            "latitude -93.7 is beyond 180 or 85 degrees. Are they swapped? GeoJSON has the longitude first.",
        ),
        ([-179.9, -18, 179.9, -17], "crosses the 180th meridian"),
        ([-5, 42, 8, 51], "The polygon reaches 720 km from its middle; a market has 500 km at most."),
    ],
)
def test_what_is_no_area_is_refused_with_the_reason(value: Any, message: str) -> None:
    with pytest.raises(InvalidArea) as refused:
        area(value)
    assert message in refused.value.message


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"{", b"[" * 100_000, b"<kml/>"])
def test_a_file_that_is_not_json_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidArea, match=r"^The file is not JSON\.$"):
        read_area(content)


def test_nan_and_infinity_are_no_coordinates() -> None:
    for text in (b"[NaN, 45.7, 4.9, 45.8]", b"[4.8, 45.7, Infinity, 45.8]"):
        with pytest.raises(InvalidArea, match=r"^A position is two numbers"):
            read_area(text)


def circle(corners: int) -> list[list[float]]:
    angles = [2 * math.pi * corner / corners for corner in range(corners)]
    ring = [[4.85 + 0.1 * math.cos(angle), 45.75 + 0.1 * math.sin(angle)] for angle in angles]
    return [*ring, ring[0]]


@pytest.mark.exhaustive
def test_a_polygon_of_5000_corners_is_read_and_one_of_100001_is_refused() -> None:
    assert area(polygon(circle(5_000))) == Area(Location(45.75, 4.85), 11_200)
    with pytest.raises(InvalidArea, match="more than 100,000 positions: simplify it"):
        area(polygon(circle(100_000)))

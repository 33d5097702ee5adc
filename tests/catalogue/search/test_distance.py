"""Distances, the plane and walks."""

from math import cos, degrees, radians, sin
from random import Random

import pytest
from django.db import connection

from catalogue.search.geocoding import distance
from catalogue.search.geocoding.distance import Location

CITIES = [Location(55.6737, 12.5681), Location(1.3521, 103.8198), Location(-33.8688, 151.2093), Location(84.5, 0.0)]


def around(center: Location, *, radius_m: float, random: Random) -> Location:
    """A point within about the radius."""
    angle, away = random.uniform(0, 360), radius_m * random.random() ** 0.5 / distance.EARTH_RADIUS_M
    return Location(
        center.lat + degrees(away * cos(radians(angle))),
        center.lng + degrees(away * sin(radians(angle)) / cos(radians(center.lat))),
    )


def test_the_distance_from_tivoli_to_the_david_collection_is_as_on_the_map() -> None:
    assert distance.distance_m(Location(55.6737, 12.5681), Location(55.68497, 12.57857)) == pytest.approx(1414, abs=1)


def test_a_degree_of_a_meridian_is_a_360th_of_the_circumference() -> None:
    assert distance.distance_m(Location(10, 20), Location(11, 20)) == pytest.approx(111_195.08, abs=0.01)


def test_a_place_has_no_distance_from_itself() -> None:
    assert distance.distance_m(CITIES[0], CITIES[0]) == 0


@pytest.mark.django_db
def test_postgresql_measures_and_projects_as_python_does() -> None:
    random = Random(1)
    for center in CITIES:
        there = around(center, radius_m=20_000, random=random)
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {distance.METRES_SQL}, mercator(latitude, longitude)::text"  # noqa: S608  # a constant of ours
                " FROM (SELECT %(latitude)s::float8 AS latitude, %(longitude)s::float8 AS longitude) AS r",
                {"lat": center.lat, "lng": center.lng, "latitude": there.lat, "longitude": there.lng},
            )
            metres, point = cursor.fetchone()
        assert metres == pytest.approx(distance.distance_m(center, there), rel=1e-9)
        x, y = map(float, point.strip("()").split(","))
        projected = distance.project_mercator(there)
        assert projected.x == pytest.approx(x, abs=1e-3)
        assert projected.y == pytest.approx(y, abs=1e-3)


@pytest.mark.parametrize("center", CITIES)
@pytest.mark.parametrize("radius_m", [50, 1_500, 20_000])
def test_the_plane_stretches_every_distance_by_no_less_and_no_more_than_promised(
    center: Location, radius_m: float
) -> None:
    random = Random(2)
    bounds = distance.mercator_scale(center, radius_m=radius_m)
    here = distance.project_mercator(center)
    for _ in range(300):
        there = around(center, radius_m=radius_m * 0.99, random=random)
        metres, point = distance.distance_m(center, there), distance.project_mercator(there)
        plane = ((point.x - here.x) ** 2 + (point.y - here.y) ** 2) ** 0.5
        assert bounds.low * metres <= plane + 1e-6
        assert plane <= bounds.high * metres + 1e-6


def test_the_stretch_at_the_equator_begins_at_the_equator() -> None:
    assert distance.mercator_scale(Location(0.05, 0), radius_m=20_000).low == pytest.approx(
        distance.MERCATOR_RADIUS_M / distance.EARTH_RADIUS_M, rel=1e-8
    )


@pytest.mark.parametrize(
    ("straight_m", "walked_m", "minutes"), [(492.0, 640, 8), (0.0, 0, 0), (1.0, 1, 1), (62.0, 81, 2)]
)
def test_a_walk_is_three_tenths_longer_than_the_line_at_eighty_metres_a_minute(
    straight_m: float, walked_m: int, minutes: int
) -> None:
    assert distance.estimate_walk(straight_m) == distance.Walk(distance_m=walked_m, minutes=minutes)

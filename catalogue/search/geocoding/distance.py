"""Distances: great circles, the Web Mercator projection, and the SQL of both.

Rows store their position twice: in degrees, and as a PostgreSQL `point` in Web Mercator metres with a GiST index
(catalogue/sql/mercator.sql). The index finds candidates on the plane, the great-circle distance decides. A circle on
the plane does not cross the 180th meridian; no market is near it.
"""

from dataclasses import dataclass
from math import asin, atan2, ceil, cos, degrees, log, pi, radians, sin, sqrt, tan
from typing import NamedTuple

from catalogue.models.postgres_fields import Point

# The mean earth radius R1 (IUGG), which is usual for great circles, and the sphere of Web Mercator (EPSG:3857).
EARTH_RADIUS_M = 6_371_008.8
MERCATOR_RADIUS_M = 6_378_137.0

# The usual ratio of walking distance to straight line in a city (docs/decisions/0009).
DETOUR_FACTOR = 1.3
WALKING_M_PER_MINUTE = 80

# Great-circle metres from (lat, lng) to the row `r`, whose location is not NULL (least() would ignore NULL).
METRES_SQL = f"""(2 * {EARTH_RADIUS_M} * asin(least(1, sqrt(
    sin(radians(r.latitude - %(lat)s) / 2) ^ 2
    + cos(radians(%(lat)s)) * cos(radians(r.latitude)) * sin(radians(r.longitude - %(lng)s) / 2) ^ 2))))"""

# The reference point on the plane, and a row's distance from it there, in whose order the GiST index returns rows.
CENTER_SQL = "point(%(x)s, %(y)s)"
PLANE_SQL = f"(r.position <-> {CENTER_SQL})"


@dataclass(frozen=True, slots=True)
class Location:
    """A position in degrees."""

    lat: float
    lng: float


class Walk(NamedTuple):
    """The length of a walk in metres, and its minutes, rounded up."""

    distance_m: int
    minutes: int


@dataclass(frozen=True, slots=True)
class MercatorScale:
    """Bounds of the number of metres on the plane for one metre on the ground."""

    low: float
    high: float


def distance_m(here: Location, there: Location) -> float:
    """Return the great-circle distance (haversine, mean radius); METRES_SQL is the same in SQL."""
    lat, other = radians(here.lat), radians(there.lat)
    chord = sin((other - lat) / 2) ** 2 + cos(lat) * cos(other) * sin(radians(there.lng - here.lng) / 2) ** 2
    return 2 * EARTH_RADIUS_M * asin(min(1.0, sqrt(chord)))


def bearing(here: Location, there: Location) -> int:
    """Return the initial bearing of the great circle, in whole degrees clockwise from north: 0 to 359."""
    lat, other, east = radians(here.lat), radians(there.lat), radians(there.lng - here.lng)
    north = cos(lat) * sin(other) - sin(lat) * cos(other) * cos(east)
    return round(degrees(atan2(sin(east) * cos(other), north))) % 360


def project_mercator(location: Location) -> Point:
    """Project to Web Mercator metres, like the SQL function `mercator`."""
    return Point(
        MERCATOR_RADIUS_M * radians(location.lng),
        MERCATOR_RADIUS_M * log(tan(pi / 4 + radians(location.lat) / 2)),
    )


def mercator_scale(center: Location, *, radius_m: float) -> MercatorScale:
    """Return the bounds of the Mercator scale within a circle on the ground.

    Mercator stretches by 1 / cos(latitude) in every direction, so the extremes are at the rims nearest to and farthest
    from the equator. What is within `d` metres of the center is within `d * high` on the plane, and what is within `p`
    on the plane is within `p / low` metres. The factor 1e-9 covers the rounding of floats.
    """
    lat, reach = radians(abs(center.lat)), radius_m / EARTH_RADIUS_M
    scale = MERCATOR_RADIUS_M / EARTH_RADIUS_M
    return MercatorScale(
        low=scale / cos(max(0.0, lat - reach)) * (1 - 1e-9), high=scale / cos(lat + reach) * (1 + 1e-9)
    )


def circle_parameters(center: Location, *, radius_m: float) -> dict[str, float]:
    """Return the parameters of METRES_SQL and CENTER_SQL, and `reach`, the radius of the circle on the plane."""
    point = project_mercator(center)
    reach = radius_m * mercator_scale(center, radius_m=radius_m).high
    return {"lat": center.lat, "lng": center.lng, "x": point.x, "y": point.y, "reach": reach}


def estimate_walk(straight_m: float) -> Walk:
    """Estimate the walk over a straight-line distance."""
    walk_m = straight_m * DETOUR_FACTOR
    return Walk(distance_m=round(walk_m), minutes=ceil(walk_m / WALKING_M_PER_MINUTE))

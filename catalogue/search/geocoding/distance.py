"""Where things are and how far apart. All that knows the shape of the earth is here, SQL included.

Rows carry their place twice: degrees, and a PostgreSQL `point` in Web-Mercator metres with a GiST index (the SQL
function of catalogue/sql/mercator.sql). The plane finds candidates fast, the great circle decides. A circle of the
plane does not reach across the 180th meridian; no market lies there.
"""

from dataclasses import dataclass
from math import asin, atan2, ceil, cos, degrees, log, pi, radians, sin, sqrt, tan
from typing import NamedTuple

from catalogue.models.postgres_fields import Point

# The mean radius R1 of the earth (IUGG), the usual one for great circles; and the sphere of Web Mercator (EPSG:3857).
EARTH_RADIUS_M = 6_371_008.8
MERCATOR_RADIUS_M = 6_378_137.0

# People do not walk through walls: 1.3 is the usual ratio of a city's streets to the straight line (seed 001 asks for
# a walking distance; docs/decisions says why it is estimated).
DETOUR = 1.3
WALKED_M_PER_MINUTE = 80

# Great-circle metres from (lat, lng) to the row `r`, which has a location: least() takes NULL for no argument.
METRES_SQL = f"""(2 * {EARTH_RADIUS_M} * asin(least(1, sqrt(
    sin(radians(r.latitude - %(lat)s) / 2) ^ 2
    + cos(radians(%(lat)s)) * cos(radians(r.latitude)) * sin(radians(r.longitude - %(lng)s) / 2) ^ 2))))"""

# The reference point on the plane, and a row's distance from it there: the order that the GiST index can walk in.
CENTER_SQL = "point(%(x)s, %(y)s)"
PLANE_SQL = f"(r.position <-> {CENTER_SQL})"


@dataclass(frozen=True, slots=True)
class Location:
    """A place on earth, in degrees."""

    lat: float
    lng: float


class Walk(NamedTuple):
    """A walk: metres, and minutes rounded up."""

    distance_m: int
    minutes: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """How many metres of the plane one metre on the ground is, at least and at most."""

    low: float
    high: float


def distance_m(here: Location, there: Location) -> float:
    """Great-circle metres (haversine, mean radius); METRES_SQL is the same in SQL."""
    lat, other = radians(here.lat), radians(there.lat)
    chord = sin((other - lat) / 2) ** 2 + cos(lat) * cos(other) * sin(radians(there.lng - here.lng) / 2) ** 2
    return 2 * EARTH_RADIUS_M * asin(min(1.0, sqrt(chord)))


def bearing(here: Location, there: Location) -> int:
    """The direction in which the great circle sets out, in whole degrees from north, clockwise: 0 to 359."""
    lat, other, east = radians(here.lat), radians(there.lat), radians(there.lng - here.lng)
    north = cos(lat) * sin(other) - sin(lat) * cos(other) * cos(east)
    return round(degrees(atan2(sin(east) * cos(other), north))) % 360


def project(location: Location) -> Point:
    """The place on the plane; the SQL function `mercator` gives the same."""
    return Point(
        MERCATOR_RADIUS_M * radians(location.lng),
        MERCATOR_RADIUS_M * log(tan(pi / 4 + radians(location.lat) / 2)),
    )


def stretch(center: Location, *, radius_m: float) -> Stretch:
    """Bounds of the plane's scale within a circle on the ground.

    Mercator stretches by 1 / cos(latitude) in every direction, so the extremes lie at the circle's rims nearest to and
    farthest from the equator. What is within `d` metres of the centre is within `d * high` on the plane, and what is
    within `p` on the plane is within `p / low` metres. A hair is added on both sides for the rounding of floats.
    """
    lat, reach = radians(abs(center.lat)), radius_m / EARTH_RADIUS_M
    scale = MERCATOR_RADIUS_M / EARTH_RADIUS_M
    return Stretch(low=scale / cos(max(0.0, lat - reach)) * (1 - 1e-9), high=scale / cos(lat + reach) * (1 + 1e-9))


def walk(straight_m: float) -> Walk:
    """The estimated walk over a straight line of so many metres."""
    walked = straight_m * DETOUR
    return Walk(distance_m=round(walked), minutes=ceil(walked / WALKED_M_PER_MINUTE))

"""Which market and which neighbourhood a place lies in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from django.db import connection

from catalogue.importers.row_errors import RejectedError
from catalogue.models import Landmark, Market
from catalogue.search.geocoding.distance import Location, distance_m, mercator_scale

NEIGHBORHOOD_REACH_M = 1500


class OutsideError(RejectedError):
    """A place that is well-formed and lies outside of the market; in a file of the whole world most do."""


# The circle holds all that is near enough on the ground and a little more; the distance decides in Python.
NEAREST = """
SELECT wanted.number, near.name, near.latitude, near.longitude
FROM unnest(%s::integer[], %s::float8[], %s::float8[], %s::float8[]) AS wanted (number, lat, lng, reach)
CROSS JOIN LATERAL (
    SELECT name, latitude, longitude
    FROM catalogue_landmark
    WHERE kind = %s AND position <@ circle(mercator(wanted.lat, wanted.lng), wanted.reach)
    ORDER BY position <-> mercator(wanted.lat, wanted.lng), id
    LIMIT 1
) AS near
"""


@dataclass(frozen=True, slots=True)
class Atlas:
    """The markets, and the one that all rows of a run have to lie in, where it was named."""

    markets: tuple[Market, ...]
    only: Market | None = None

    @classmethod
    def load(cls, *, only: Market | None) -> Self:
        return cls(markets=tuple(Market.objects.order_by("slug")), only=only)

    def nearest(self, location: Location) -> Market | None:
        """The market whose centre is nearest, of those whose radius reaches the place."""
        reached = [(away, market) for market in self.markets if (away := _away(market, location)) <= market.radius_m]
        return min(reached, key=lambda each: each[0])[1] if reached else None

    def market_of(self, location: Location | None, *, stated: str | None = None, country: str | None = None) -> Market:
        """The run's market, else the one that the row states, else the nearest.

        Where a place has no location its country decides whether it may lie there. Raises OutsideError, which is a
        RejectedError, for a place that lies elsewhere.
        """
        market = self.only or self._named(stated) or (self.nearest(location) if location else None)
        if market is not None and location is None:
            return _checked(market, stated=stated, country=country)
        if location is None:
            raise RejectedError("There is no location, and the import names no market.")
        if market is None:
            raise OutsideError(f"{location.lat}, {location.lng} lies in no market.")
        _checked(market, stated=stated, country=None)
        if (away := _away(market, location)) > market.radius_m:
            raise OutsideError(f"The place lies {away / 1000:.1f} km from the centre of {market.name}: too far.")
        return market

    def _named(self, slug: str | None) -> Market | None:
        if slug is None:
            return None
        market = next((market for market in self.markets if market.slug == slug), None)
        if market is None:
            raise RejectedError(f"market: there is no `{slug}`.")
        return market


def neighborhoods(locations: Sequence[Location]) -> list[str | None]:
    """The nearest neighbourhood within 1500 m of each place, or None. One query."""
    reach_m = [NEIGHBORHOOD_REACH_M * mercator_scale(place, radius_m=NEIGHBORHOOD_REACH_M).high for place in locations]
    found: list[str | None] = [None] * len(locations)
    for number, name, lat, lng in _nearest(locations, reach_m):
        if distance_m(locations[number], Location(lat, lng)) <= NEIGHBORHOOD_REACH_M:
            found[number] = name
    return found


def _checked(market: Market, *, stated: str | None, country: str | None) -> Market:
    if market.slug != (stated or market.slug):
        raise RejectedError(f"The row is of market `{stated}`, the import of `{market.slug}`.")
    if country not in (None, market.country):
        raise OutsideError(f"The address is in {country}, {market.name} is in {market.country}.")
    return market


def _nearest(locations: Sequence[Location], reach_m: list[float]) -> Iterable[tuple[int, str, float, float]]:
    with connection.cursor() as cursor:
        cursor.execute(
            NEAREST,
            [
                list(range(len(locations))),
                [place.lat for place in locations],
                [place.lng for place in locations],
                reach_m,
                Landmark.Kind.NEIGHBORHOOD,
            ],
        )
        return list(cursor.fetchall())


def _away(market: Market, location: Location) -> float:
    return distance_m(Location(market.latitude, market.longitude), location)

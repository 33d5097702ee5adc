"""The market of a place."""

from dataclasses import dataclass
from typing import Self

from catalogue.importers.row_errors import RowRejected
from catalogue.models import Market
from catalogue.search.geocoding.distance import Location, distance_m


class OutsideMarkets(RowRejected):
    """A well-formed place outside of the market; in a worldwide file most places are."""


@dataclass(frozen=True, slots=True)
class MarketIndex:
    """All markets, and the one that all rows of a run have to be in, if one was given."""

    all: tuple[Market, ...]
    only: Market | None = None

    @classmethod
    def load(cls, *, only: Market | None) -> Self:
        return cls(all=tuple(Market.objects.order_by("slug")), only=only)

    def find_nearest(self, location: Location) -> Market | None:
        """Return the market with the nearest centre of those whose radius contains the place."""
        candidates = [
            (distance, market) for market in self.all if (distance := _distance_m(market, location)) <= market.radius_m
        ]
        return min(candidates, key=lambda each: each[0])[1] if candidates else None

    def find_market(
        self, location: Location | None, *, declared: str | None = None, country: str | None = None
    ) -> Market:
        """Return the run's market, else the one that the row declares, else the nearest.

        For a place without a location its country is checked. Raises OutsideMarkets, a RowRejected, for a place that
        lies elsewhere.
        """
        market = self.only or self._find_by_slug(declared) or (self.find_nearest(location) if location else None)
        if market is not None and location is None:
            return _check_market(market, declared=declared, country=country)
        if location is None:
            raise RowRejected("There is no location, and the import names no market.")
        if market is None:
            raise OutsideMarkets(f"{location.lat}, {location.lng} lies in no market.")
        _check_market(market, declared=declared, country=None)
        if (distance := _distance_m(market, location)) > market.radius_m:
            raise OutsideMarkets(f"The place lies {distance / 1000:.1f} km from the centre of {market.name}: too far.")
        return market

    def _find_by_slug(self, slug: str | None) -> Market | None:
        if slug is None:
            return None
        market = next((market for market in self.all if market.slug == slug), None)
        if market is None:
            raise RowRejected(f"market: there is no `{slug}`.")
        return market


def _check_market(market: Market, *, declared: str | None, country: str | None) -> Market:
    if market.slug != (declared or market.slug):
        raise RowRejected(f"The row is of market `{declared}`, the import of `{market.slug}`.")
    if country not in (None, market.country):
        raise OutsideMarkets(f"The address is in {country}, {market.name} is in {market.country}.")
    return market


def _distance_m(market: Market, location: Location) -> float:
    return distance_m(Location(market.latitude, market.longitude), location)

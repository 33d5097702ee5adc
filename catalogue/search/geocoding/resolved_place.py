"""The place that a name was resolved to."""

from dataclasses import dataclass

from catalogue.search.geocoding.distance import Location

# Metres around the middle of a city that a search covers if it names no radius: of a market, and of another one.
MARKET_RADIUS_M, TOWN_RADIUS_M = 20_000, 5_000


@dataclass(frozen=True, slots=True)
class ResolvedPlace:
    """A landmark or a restaurant, which have an id, or an area, a city or an airport, which have none.

    `kind` is a Landmark.Kind, or one of OTHER_KINDS. `city` and `country` (ISO 3166-1) are those of the market, `near`
    is the text that means this place and no other. A place is `ambiguous` if one of another city is about as likely.
    """

    id: str | None
    name: str
    kind: str
    market: str | None
    lat: float
    lng: float
    city: str | None = None
    country: str | None = None
    near: str | None = None
    ambiguous: bool = False

    @property
    def source(self) -> str | None:
        """The source of a city that is no landmark of ours."""
        return "geonames" if self.kind == "city" and self.id is None else None

    @property
    def radius_m(self) -> int | None:
        """Metres around it that a search covers if it names no radius; None for the usual ones."""
        if self.kind != "city":
            return None
        return MARKET_RADIUS_M if self.id else TOWN_RADIUS_M

    @property
    def location(self) -> Location:
        return Location(self.lat, self.lng)


OTHER_KINDS = ("restaurant", "postal_code", "street", "airport")

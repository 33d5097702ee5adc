"""The query of a restaurant search."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from framework.errors import InvalidRequest

DEFAULT_RADIUS_M = 1_500
MAX_RADIUS_M = 20_000
# Per side, on the ground: all matches in the box are sorted.
MAX_BOX_SIDE_M = 100_000.0
MAX_OPEN_AHEAD = timedelta(days=365)
# Within these days a search uses the stored open intervals, which reach 15 days ahead.
INTERVALS_AHEAD = timedelta(days=14)
MAX_CLOCK_SKEW = timedelta(hours=1)
MAX_OPEN_MINUTES = 24 * 60
# A request for 20:00 also matches offers at 18:30.
OFFER_TIME_TOLERANCE = timedelta(minutes=90)

# Degrees that are no values of attributes: plain yes, and yes or limited.
YES, LIMITED = ":yes", ":limited"


class Sort(StrEnum):
    """The order of hits; ties are sorted by id.

    `best` is by relevance with `q` (the whole name, words of the name, then cuisine, neighborhood or dish; ties by
    number of reviews), by distance with a reference point, else by number of reviews. `offer` is by the highest
    matching discount, and excludes restaurants without one.
    """

    BEST = "best"
    DISTANCE = "distance"
    RATING = "rating"
    REVIEWS = "reviews"
    OFFER = "offer"


class Facet(StrEnum):
    """A property by which matches are counted."""

    CUISINE = "cuisine"
    PRICE = "price"
    RATING = "rating"
    NEIGHBORHOOD = "neighborhood"
    ATTRIBUTES = "attributes"
    OPEN_NOW = "open_now"
    MARKET = "market"


@dataclass(frozen=True, slots=True)
class BoundingBox:
    """A box in degrees, which does not cross the 180th meridian."""

    west: float
    south: float
    east: float
    north: float


@dataclass(frozen=True, slots=True)
class LocalMoment:
    """A time of a day on the clock of the place: `day` is today, tonight, tomorrow, or a weekday from 0, Monday."""

    day: str
    at: dt.time


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The parameters of GET /v1/restaurants.

    `ll` is (latitude, longitude) in degrees, `radius` in metres. `open` is the word "now", a time of day or a moment;
    both are in the time zone of the searched market where they have none. `open_for` is the number of minutes that the
    restaurant stays open from then. A restaurant has at least one of `cuisine`, none of `cuisine_not`, and all of
    `attributes` and `diet` (`vegan` is the attribute `diet_vegan`, `vegan:only` a degree of it), one of the kinds
    `kind` and none of `kind_not`.
    `date`, `time` and `bookable_at` are the restaurant's local time. With `bookable_at` a restaurant has a free table
    for `party_size` then, with or without an offer.
    """

    near: str | None = None
    ll: tuple[float, float] | None = None
    bbox: BoundingBox | None = None
    radius: int | None = None
    q: str | None = None
    market: str | None = None
    neighborhood: str | None = None
    open: Literal["now"] | dt.time | datetime | LocalMoment | None = None
    open_for: int | None = None
    cuisine: tuple[str, ...] = ()
    cuisine_not: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    diet: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    kind_not: tuple[str, ...] = ()
    price: tuple[int, ...] = ()
    price_max: int | None = None
    rating_min: Decimal | None = None
    reviews_min: int | None = None
    offer: Literal["any"] | None = None
    offer_min: int | None = None
    date: dt.date | None = None
    time: dt.time | None = None
    party_size: int | None = None
    bookable_at: datetime | None = None
    sort: Sort = Sort.BEST
    limit: int = 20
    cursor: str | None = None
    facets: tuple[Facet, ...] = ()
    include_total: bool = False
    lang: str | None = None

    @property
    def has_offer_filter(self) -> bool:
        """Whether hits need a matching discount."""
        party_size = self.party_size if self.bookable_at is None else None
        given = (self.offer, self.offer_min, self.date, self.time, party_size)
        return self.sort is Sort.OFFER or any(value is not None for value in given)

    @property
    def tags(self) -> list[str]:
        """The tags of the required attributes, including diets, without those that may be limited."""
        return [tag.removesuffix(YES) for tag in self._attribute_tags if not tag.endswith(LIMITED)]

    @property
    def limited_tags(self) -> list[str]:
        """The keys of attributes that may be limited."""
        return [tag.removesuffix(LIMITED) for tag in self._attribute_tags if tag.endswith(LIMITED)]

    @property
    def _attribute_tags(self) -> list[str]:
        return [*self.attributes, *(f"diet_{diet}" for diet in self.diet)]

    @property
    def kind_tags(self) -> list[str]:
        return [f"kind_{kind}" for kind in self.kind]

    @property
    def excluded_kind_tags(self) -> list[str]:
        return [f"kind_{kind}" for kind in self.kind_not]

    @property
    def pagination_key(self) -> tuple[object, ...]:
        """The parameters that all pages of a search share."""
        return tuple(getattr(self, name) for name in SHARED_BY_PAGES)

    def check(self) -> None:
        """Raise InvalidRequest for parameters that exclude or need one another."""
        has_point = self.near is not None or self.ll is not None
        rules: Sequence[tuple[bool, str, str]] = [
            (self.near is not None and self.ll is not None, "ll", "Give `near` or `ll`, not both."),
            (
                self.radius is not None and not has_point,
                "radius",
                "`radius` needs a reference point: add `near` or `ll`.",
            ),
            (
                self.radius is not None and self.bbox is not None,
                "radius",
                "Give `radius` or `bbox`, not both: the box is the area, and distances are from the reference point.",
            ),
            (
                self.sort is Sort.DISTANCE and not has_point,
                "sort",
                "`sort=distance` needs a reference point: add `near` or `ll`.",
            ),
            (
                self.open_for is not None and self.open is None,
                "open_for",
                "`open_for` counts from a moment: add `open`, for example `open=now`.",
            ),
            (
                self.bookable_at is not None and self.party_size is None,
                "party_size",
                "`bookable_at` needs `party_size`: a table is free for a party.",
            ),
            (
                bool(self.facets) and not (has_point or self.bbox or self.market or self.q or self.neighborhood),
                "facets",
                "`facets` count within an area: add `near`, `ll`, `bbox`, `market`, `neighborhood` or `q`.",
            ),
        ]
        for is_broken, param, message in rules:
            if is_broken:
                raise InvalidRequest(message, param=param)
        if both := set(self.kind) & set(self.kind_not):
            raise InvalidRequest(
                f"`{min(both)}` is in `kind` and in `kind_not`; nothing can match both.", param="kind_not"
            )
        if both := set(self.cuisine) & set(self.cuisine_not):
            raise InvalidRequest(
                f"`{min(both)}` is in `cuisine` and in `cuisine_not`; nothing can match both.", param="cuisine_not"
            )


PER_PAGE = ("limit", "cursor", "facets", "include_total", "lang")
SHARED_BY_PAGES = tuple(field.name for field in fields(Query) if field.name not in PER_PAGE)

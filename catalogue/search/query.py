"""A question to the catalogue, as it is asked."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from framework.errors import InvalidRequest

RADIUS_M = 1_500
MOST_RADIUS_M = 20_000
# Sides of a box, on the ground: what lies in it is counted and put in order.
MOST_BOX_M = 100_000.0
# The worker keeps the open spans 15 days ahead.
OPEN_AHEAD = timedelta(days=14)
# A caller's clock may be slow.
OPEN_BEHIND = timedelta(hours=1)
MOST_OPEN_MINUTES = 24 * 60
# What is offered at half past six is worth telling whoever wants to eat at eight.
OFFER_WITHIN = timedelta(minutes=90)


class Sort(StrEnum):
    """In which order hits come; equal ones by their ids.

    `best` is by relevance with `q` (the whole name, words of the name, then cuisine, neighborhood or dish; equally
    relevant ones by number of reviews), by distance with a reference point, else by number of reviews. `offer` is by
    the highest discount that fits, and keeps those that have one.
    """

    BEST = "best"
    DISTANCE = "distance"
    RATING = "rating"
    REVIEWS = "reviews"
    OFFER = "offer"


class Facet(StrEnum):
    """What hits are counted by."""

    CUISINE = "cuisine"
    PRICE = "price"
    RATING = "rating"
    NEIGHBORHOOD = "neighborhood"
    ATTRIBUTES = "attributes"
    OPEN_NOW = "open_now"
    MARKET = "market"


@dataclass(frozen=True, slots=True)
class Box:
    """Degrees: from west to east and from south to north, not across the 180th meridian."""

    west: float
    south: float
    east: float
    north: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked for; the names are those of the parameters of GET /v1/restaurants.

    `ll` is (latitude, longitude) in degrees, `radius` in metres. `open` is the word "now", a time of day on the wall
    clock of the place that is asked about, or a moment, which is on that clock where it has no zone; `open_for` are
    the minutes that a place stays open from then.
    A restaurant has at least one of `cuisine`, none of `cuisine_not`, all of `attributes` and `diet` (`vegan` is the
    attribute `diet_vegan`). `date` and `time` are on the restaurant's wall clock.
    """

    near: str | None = None
    ll: tuple[float, float] | None = None
    bbox: Box | None = None
    radius: int | None = None
    q: str | None = None
    market: str | None = None
    neighborhood: str | None = None
    open: Literal["now"] | dt.time | datetime | None = None
    open_for: int | None = None
    cuisine: tuple[str, ...] = ()
    cuisine_not: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    diet: tuple[str, ...] = ()
    price: tuple[int, ...] = ()
    price_max: int | None = None
    rating_min: Decimal | None = None
    reviews_min: int | None = None
    offer: Literal["any"] | None = None
    offer_min: int | None = None
    date: dt.date | None = None
    time: dt.time | None = None
    party_size: int | None = None
    sort: Sort = Sort.BEST
    limit: int = 20
    cursor: str | None = None
    facets: tuple[Facet, ...] = ()
    include_total: bool = False
    lang: str | None = None

    @property
    def asks_for_offers(self) -> bool:
        """Whether only restaurants with a discount that fits are wanted."""
        wishes = (self.offer, self.offer_min, self.date, self.time, self.party_size)
        return self.sort is Sort.OFFER or any(wish is not None for wish in wishes)

    @property
    def tags(self) -> list[str]:
        """The keys of all attributes that a restaurant is to have."""
        return [*self.attributes, *(f"diet_{diet}" for diet in self.diet)]

    @property
    def walked(self) -> tuple[object, ...]:
        """What the pages of one walk have in common."""
        return tuple(getattr(self, name) for name in WALKED)

    def check(self) -> None:
        """Raise InvalidRequest for parameters that do not go together."""
        has_point = self.near is not None or self.ll is not None
        needs: Sequence[tuple[bool, str, str]] = [
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
                bool(self.facets) and not (has_point or self.bbox or self.market or self.q or self.neighborhood),
                "facets",
                "`facets` count within an area: add `near`, `ll`, `bbox`, `market`, `neighborhood` or `q`.",
            ),
        ]
        for wrong, param, message in needs:
            if wrong:
                raise InvalidRequest(message, param=param)
        if both := set(self.cuisine) & set(self.cuisine_not):
            raise InvalidRequest(
                f"`{min(both)}` stands in `cuisine` and in `cuisine_not`; nothing can match both.", param="cuisine_not"
            )


# What is asked beside the walk, page by page.
PAGED = ("limit", "cursor", "facets", "include_total", "lang")
WALKED = tuple(field.name for field in fields(Query) if field.name not in PAGED)

"""A question to the catalogue, as it is asked."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Literal

RADIUS_M = 1_500
# The worker keeps the open spans 15 days ahead.
OPEN_AHEAD = timedelta(days=14)
# A caller's clock may be slow.
OPEN_BEHIND = timedelta(hours=1)


class Sort(StrEnum):
    """In which order hits come; equal ones by their ids.

    `best` is by relevance with `q` (the whole name, words of the name, then cuisine or neighborhood; equally relevant
    ones by number of reviews), by distance with a reference point, else by number of reviews.
    """

    BEST = "best"
    DISTANCE = "distance"
    RATING = "rating"
    REVIEWS = "reviews"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked for; the names are those of the parameters of GET /v1/restaurants.

    `ll` is (latitude, longitude) in degrees, `radius` in metres. `open` is the word "now", a time of day on the wall
    clock of the place that is asked about, or a moment. `cuisine` holds slugs, of which a restaurant has at least one.
    """

    near: str | None = None
    ll: tuple[float, float] | None = None
    radius: int | None = None
    q: str | None = None
    market: str | None = None
    neighborhood: str | None = None
    open: Literal["now"] | time | datetime | None = None
    cuisine: tuple[str, ...] = ()
    price: tuple[int, ...] = ()
    price_max: int | None = None
    rating_min: Decimal | None = None
    reviews_min: int | None = None
    sort: Sort = Sort.BEST
    limit: int = 20
    cursor: str | None = None

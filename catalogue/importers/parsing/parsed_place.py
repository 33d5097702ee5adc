"""A restaurant as one source states it, before it is matched with what the catalogue has."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time
from math import isfinite
from typing import Any

from catalogue.importers.row_errors import RejectedError
from catalogue.models import Restaurant
from catalogue.search.geocoding.distance import Location

# The border of Web Mercator, which is also the border of the constraints.
MOST_LATITUDE = 85


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """The little of a row that tells whether it has to be read at all; `content` is what to read it from, as JSON.

    `country` is stated where it has to be checked: a place without a location is only known by its address.
    """

    record: str
    digest: str
    location: Location | None
    market: str | None = None
    country: str | None = None
    content: Any = field(repr=False)

    @property
    def point(self) -> tuple[float, float]:
        """Latitude and longitude, for formats that refuse a row without them."""
        if self.location is None:
            raise RejectedError("There is no location.")
        return self.location.lat, self.location.lng


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLine:
    """A review as its source states it; `record` is unique within its restaurant."""

    record: str
    stars: int
    author: str
    created_at: datetime
    text: str = ""
    lang: str = ""
    visited_on: date | None = None
    helpful_count: int = 0
    owner_reply: str | None = None
    owner_replied_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLine:
    """A discount that comes back on these weekdays (0 is Monday)."""

    weekdays: tuple[int, ...]
    time: time
    percent: int
    active: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What one source states of one restaurant, in the restaurant's own words; None and empty state nothing.

    `reviews` and `flow_rules` are all that the source has of them; None where it does not speak of them.
    """

    record: str
    digest: str
    name: str
    market_id: str
    country: str
    latitude: float | None = None
    longitude: float | None = None
    alt_names: list[str] = field(default_factory=list)
    status: str = Restaurant.Status.OPEN
    neighborhood: str | None = None
    line1: str | None = None
    locality: str | None = None
    region: str | None = None
    postal_code: str | None = None
    phone: str | None = None
    website: str | None = None
    price_level: int | None = None
    cuisines: list[str] = field(default_factory=list)
    hours: dict[str, Any] | None = None
    attributes: dict[str, bool | str] = field(default_factory=dict)
    external_ids: dict[str, str] = field(default_factory=dict)
    cuisine_labels: dict[str, str] = field(default_factory=dict)
    reviews: tuple[ReviewLine, ...] | None = None
    flow_rules: tuple[RuleLine, ...] | None = None

    @property
    def cuisine_id(self) -> str | None:
        """The main cuisine, which the sources name first."""
        return self.cuisines[0] if self.cuisines else None


# The columns of a restaurant that a source may fill.
COLUMNS = (
    "name",
    "alt_names",
    "status",
    "market_id",
    "neighborhood",
    "line1",
    "locality",
    "region",
    "postal_code",
    "country",
    "latitude",
    "longitude",
    "phone",
    "website",
    "price_level",
    "cuisine_id",
    "cuisines",
    "hours",
    "attributes",
    "external_ids",
)


def read_location(latitude: object, longitude: object) -> Location:
    """Raises RejectedError for what is no place on earth, or one beyond 85 degrees north or south."""
    location = Location(_number(latitude), _number(longitude))
    if abs(location.lat) > MOST_LATITUDE or abs(location.lng) > 180:
        raise RejectedError(f"Latitude {location.lat}, longitude {location.lng} is not a place on our map.")
    return location


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):
            number = float(value)
            if isfinite(number):
                return number
    raise RejectedError("The coordinates are not two numbers.")

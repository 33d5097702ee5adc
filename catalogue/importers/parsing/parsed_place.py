"""Extracted records and parsed places, before they are matched with the catalogue."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

from catalogue.hours import HORIZON_DAYS, Hours, holidays, read_osm
from catalogue.importers.parsing.text_cleaning import fit_text, parse_country
from catalogue.importers.row_errors import RowRejected
from catalogue.models import Market, Restaurant
from catalogue.search.geocoding.distance import Location

# The limit of Web Mercator, and of the database constraints.
MAX_LATITUDE = 85


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedRecord:
    """The part of a row that decides whether it has to be parsed; `content` is the JSON to parse.

    `country` is set if it has to be checked: a place without a location is only known by its address.
    """

    record: str
    digest: str
    location: Location | None
    market: str | None = None
    country: str | None = None
    content: Any = field(repr=False)

    @property
    def point(self) -> tuple[float, float]:
        """Latitude and longitude. Raises RowRejected without them."""
        if self.location is None:
            raise RowRejected("There is no location.")
        return self.location.lat, self.location.lng


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReview:
    """A review; `record` is unique within its restaurant. `rating` is set if it is not the whole number of stars."""

    record: str
    stars: int
    rating: Decimal | None = None
    author: str
    created_at: datetime
    text: str = ""
    lang: str = ""
    visited_on: date | None = None
    helpful_count: int = 0
    owner_reply: str | None = None
    owner_replied_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRule:
    """A discount on these weekdays (0 is Monday)."""

    weekdays: tuple[int, ...]
    time: time
    percent: int
    active: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedPhoto:
    """A photo to download. Without a licence it has that of its source."""

    url: str
    kind: str
    alt: str
    caption: str | None = None
    author: str | None = None
    license: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedPlace:
    """A restaurant as one source describes it, with the columns of Restaurant; None and empty values are unknown.

    `cuisine_labels` has the label of each cuisine, the main one first. `reviews`, `flow_rules` and `photos` are
    all of the source; None if it does not have any information about them. `left_out` says which values were invalid.
    """

    record: str
    digest: str
    name: str
    market_id: str
    country: str
    latitude: float | None
    longitude: float | None
    alt_names: list[str] = field(default_factory=list)
    status: str = Restaurant.Status.OPEN
    neighborhood: str | None = None
    line1: str | None = None
    locality: str | None = None
    region: str | None = None
    postal_code: str | None = None
    phone: str | None = None
    website: str | None = None
    rating: Decimal | None = None
    review_count: int | None = None
    price_level: int | None = None
    hours: dict[str, Any] | None = None
    attributes: dict[str, bool | str] = field(default_factory=dict)
    external_ids: dict[str, str] = field(default_factory=dict)
    cuisine_labels: dict[str, str] = field(default_factory=dict)
    reviews: tuple[ParsedReview, ...] | None = None
    flow_rules: tuple[ParsedRule, ...] | None = None
    photos: tuple[ParsedPhoto, ...] | None = None
    # The nearest one that the catalogue knows, if the source states none.
    nearby_neighborhood: str | None = None
    left_out: tuple[str, ...] = ()

    @property
    def cuisines(self) -> list[str]:
        return list(self.cuisine_labels)

    @property
    def cuisine_id(self) -> str | None:
        return next(iter(self.cuisine_labels), None)


# The columns of a restaurant that a source may fill. The number of reviews follows the rating.
COLUMNS = (
    "name", "alt_names", "status", "market_id", "neighborhood", "line1", "locality", "region", "postal_code",
    "country", "latitude", "longitude", "phone", "website", "price_level", "cuisine_id", "cuisines", "hours",
    "attributes", "external_ids", "rating",
)  # fmt: skip
MAX_LENGTHS = {"neighborhood": 120, "line1": 200, "locality": 120, "region": 120, "postal_code": 20}


def build_place(extracted: ExtractedRecord, *, market: Market, country: object = None, **columns: Any) -> ParsedPlace:
    """Return the place of a record in a market.

    Parts of the address that do not fit their columns are left out; the country is the market's unless it is a code.
    """
    columns |= {name: fit_text(columns.get(name), length) for name, length in MAX_LENGTHS.items()}
    return ParsedPlace(
        record=extracted.record,
        digest=extracted.digest,
        market_id=market.slug,
        country=parse_country(country) or market.country,
        latitude=extracted.location.lat if extracted.location else None,
        longitude=extracted.location.lng if extracted.location else None,
        **columns,
    )


def read_osm_hours(text: str, *, market: Market, on: date, point: tuple[float, float]) -> Hours:
    """Read opening hours as OpenStreetMap writes them, from a date on, with the holidays of the market."""
    relevant = holidays.holidays_for_hours(text, market=market.slug, first=on, days=HORIZON_DAYS)
    return read_osm(text, timezone=market.timezone, on=on, point=point, holidays=relevant)


def read_location(latitude: object, longitude: object) -> Location:
    """Raises RowRejected for invalid coordinates, or beyond 85 degrees north or south."""
    location = Location(_number(latitude), _number(longitude))
    if abs(location.lat) > MAX_LATITUDE or abs(location.lng) > 180:
        raise RowRejected(f"Latitude {location.lat}, longitude {location.lng} is not a place on our map.")
    return location


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):
            number = float(value)
            if isfinite(number):
                return number
    raise RowRejected("The coordinates are not two numbers.")

"""Builders of the catalogue's rows; what a test does not say is something plausible."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

from accounts.models import Venue
from catalogue.hours import Hours
from catalogue.insights import FALLBACK
from catalogue.models import (
    Attribute,
    Cuisine,
    FlowRule,
    FlowSlot,
    Holiday,
    Insight,
    Landmark,
    LandmarkName,
    Listing,
    Market,
    Photo,
    Restaurant,
    Review,
    Source,
    SourceRecord,
)
from tests.support import builders

# A Saturday; 19:00 in Copenhagen.
NOW = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)

TIVOLI = (55.6737, 12.5681)

numbers = count(1)


def source(key: str = "osm", **fields: Any) -> Source:
    """A source; the same one when it is there."""
    given = {"name": key, "license": "ODbL-1.0", "attribution": f"© {key}", **fields}
    return Source.objects.get_or_create(key=key, defaults=given)[0]


def market(slug: str = "copenhagen", **fields: Any) -> Market:
    """Copenhagen, or a market that lies where Copenhagen does; the same one when it is there."""
    given: dict[str, Any] = {
        "name": slug.replace("-", " ").title(),
        "country": "DK",
        "timezone": "Europe/Copenhagen",
        "currency": "DKK",
        "calling_code": "45",
        "latitude": 55.6761,
        "longitude": 12.5683,
        "radius_m": 25_000,
        **fields,
    }
    return Market.objects.get_or_create(slug=slug, defaults=given)[0]


def cuisine(slug: str = "seafood") -> Cuisine:
    """A cuisine; the same one when it is there."""
    return Cuisine.objects.get_or_create(slug=slug, defaults={"label": slug.capitalize()})[0]


def unsaved(**fields: Any) -> Restaurant:
    """A restaurant for bulk_create; its market and cuisine are stored."""
    number = next(numbers)
    cuisines = fields.pop("cuisines", ["seafood"])
    given: dict[str, Any] = {
        "slug": f"place-{number}",
        "name": f"Place {number}",
        "country": "DK",
        "latitude": TIVOLI[0],
        "longitude": TIVOLI[1],
        "cuisine": cuisine(cuisines[0]) if cuisines else None,
        "cuisines": cuisines,
        "created_at": NOW,
        "updated_at": NOW,
        **fields,
    }
    if not isinstance(given.get("market"), Market):
        given["market"] = market(given.get("market", "copenhagen"))
    return Restaurant(**given)


def restaurant(**fields: Any) -> Restaurant:
    """A seafood place at Tivoli of which little is known."""
    made = unsaved(**fields)
    made.save(force_insert=True)
    return made


def week(
    opens: str, closes: str, *, timezone: str = "Europe/Copenhagen", days: Iterable[int] = range(7)
) -> dict[str, Any]:
    """Hours in JSON: the same every day; a close that is not after its open lies on the next day."""
    stated = {
        "timezone": timezone,
        "periods": [
            {
                "kind": "regular",
                "open": {"day": day, "time": opens},
                "close": {"day": day if closes > opens else (day + 1) % 7, "time": closes},
            }
            for day in days
        ],
    }
    return Hours.from_json(stated).to_json()


def landmark(name: str, *names: str, at: tuple[float, float] = TIVOLI, **fields: Any) -> Landmark:
    """A landmark with its names."""
    given: dict[str, Any] = {"kind": Landmark.Kind.LANDMARK, "source": source("tablewire"), **fields}
    if isinstance(given.get("market"), str):
        given["market"] = market(given["market"])
    made = Landmark.objects.create(name=name, latitude=at[0], longitude=at[1], **given)
    LandmarkName.objects.bulk_create(LandmarkName(landmark=made, name=each) for each in (name, *names))
    return made


def rule(place: Restaurant, *, percent: int = 30, at: str = "17:30", weekdays: Iterable[int] = range(7)) -> FlowRule:
    """A discount of every day."""
    return FlowRule.objects.create(
        restaurant=place, percent=percent, time=time.fromisoformat(at), weekdays=list(weekdays)
    )


def listing(place: Restaurant, venue: Venue | None = None, **fields: Any) -> Listing:
    """Joins the restaurant to a venue: a new one with a table for four and dinner from 17:00 to 22:00 without one."""
    if venue is None:
        venue = builders.venue(timezone=place.market.timezone)
        builders.table(venue)
        builders.period(venue, first="17:00", last="22:00")
    given = {"by_staff": True, "created_at": NOW, **fields}
    return Listing.objects.create(restaurant=place, venue=venue, **given)


def slot(
    place: Restaurant, *, starts_at: datetime = NOW + timedelta(hours=1), seats: int = 8, **fields: Any
) -> FlowSlot:
    """An offer of 30 percent in an hour that nobody has booked yet."""
    local = starts_at.astimezone(ZoneInfo(place.market.timezone))
    given: dict[str, Any] = {
        "percent": 30,
        "applies_to": "food",
        "party_min": 1,
        "party_max": 8,
        "seats_left": seats,
        "book_before": starts_at - timedelta(minutes=30),
        **fields,
    }
    return FlowSlot.objects.create(
        restaurant=place, starts_at=starts_at, date=local.date(), time=local.time(), seats=seats, **given
    )


def photo(place: Restaurant, **fields: Any) -> Photo:
    """A generated photo, newer than those made before it."""
    number = next(numbers)
    given: dict[str, Any] = {
        "kind": "food",
        "alt": "A plate of food",
        "license": "CC0-1.0",
        "source": source("demo"),
        "width": 1200,
        "height": 900,
        "created_at": NOW - timedelta(days=300) + timedelta(minutes=number),
        **fields,
    }
    if not given.get("file"):
        given.setdefault("card_seed", number)
    return Photo.objects.create(restaurant=place, **given)


def attribute(key: str = "outdoor_seating", **fields: Any) -> Attribute:
    """An attribute; the same one when it is there."""
    given = {
        "label": key.replace("_", " ").capitalize(),
        "kind": "diet" if key.startswith("diet_") else "amenity",
        **fields,
    }
    return Attribute.objects.get_or_create(key=key, defaults=given)[0]


def holiday(place: Market, on: date, name: str = "A holiday", **fields: Any) -> Holiday:
    """A public holiday of a market."""
    return Holiday.objects.create(market=place, date=on, name=name, **fields)


def listed(place: Restaurant, key: str = "osm", record: str | None = None) -> SourceRecord:
    """What a source says of a restaurant."""
    return SourceRecord.objects.create(
        restaurant=place,
        source=source(key),
        record=record or f"node/{next(numbers)}",
        digest="0" * 64,
        fields=["name", "hours"],
        updated_at=NOW,
    )


def review(place: Restaurant, text: str = "", *, stars: int = 5, lang: str = "en", **fields: Any) -> Review:
    """A review, younger than those made before it; the restaurant counts it."""
    number = next(numbers)
    given: dict[str, Any] = {"author": "Ada L.", "created_at": NOW - timedelta(days=300) + timedelta(minutes=number)}
    made = Review.objects.create(
        restaurant=place, text=text, stars=stars, lang=lang if text else "", source=source("demo"), **given | fields
    )
    place.review_count = place.reviews.count()
    place.save(update_fields=["review_count"])
    return made


def insight(place: Restaurant, text: str = "Guests talk most about the ramen.", **fields: Any) -> Insight:
    """An insight that claims nothing but its text."""
    given: dict[str, Any] = {
        "detail": {"best_time": None, "dishes": [], "aspects": [], "watch_outs": [], "disclosure": "Made by hand."},
        "provider": FALLBACK.name,
        "provider_version": FALLBACK.version,
        "input_hash": "0" * 64,
        "review_count": max(place.review_count, 5),
        "restaurant_review_count": max(place.review_count, 5),
        "reviews_through": NOW,
        "generated_at": NOW,
        **fields,
    }
    return Insight.objects.create(restaurant=place, text=text, **given)

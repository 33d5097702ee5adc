"""What is told of each."""

from datetime import datetime
from math import ceil
from os import environ
from typing import Any
from zoneinfo import ZoneInfo

from rest_framework import serializers

from benchmarks.references.data_middleware import encode
from benchmarks.references.textbook.models import Photo, Restaurant, Review, Slot, SourceRecord

PUBLIC = environ.get("REFERENCE_PUBLIC_URL", "http://127.0.0.1")
FOREVER = 9999


class PublicId(serializers.Field):  # type: ignore[type-arg]  # not at run time
    """A UUID as callers see it."""

    def __init__(self, prefix: str, **options: Any) -> None:
        super().__init__(read_only=True, **options)
        self.prefix = prefix

    def to_representation(self, value: Any) -> str:
        return encode(self.prefix, value)


class SlotSerializer(serializers.ModelSerializer[Slot]):
    id = PublicId("fo")
    time = serializers.TimeField(format="%H:%M")

    class Meta:
        model = Slot
        fields = ("percent", "time", "id", "date", "seats_left")


class SourceRecordSerializer(serializers.ModelSerializer[SourceRecord]):
    source = serializers.CharField(source="source_id")  # type: ignore[assignment]  # a name of DRF's too
    license = serializers.CharField(source="source.license")

    class Meta:
        model = SourceRecord
        fields = ("source", "record", "license", "updated_at", "fields")


class HitSerializer(serializers.ModelSerializer[Restaurant]):
    """A restaurant in a list."""

    market = serializers.CharField(source="market_id")
    rating = serializers.FloatField()
    cuisine = serializers.CharField(source="cuisine.label", default=None)
    location = serializers.SerializerMethodField()
    walking_distance_m = serializers.SerializerMethodField()
    walking_minutes = serializers.SerializerMethodField()
    distance_m = serializers.SerializerMethodField()
    open_now = serializers.BooleanField(default=True)
    next_change = serializers.SerializerMethodField()
    flow_offer = serializers.SerializerMethodField()

    class Meta:
        model = Restaurant
        fields: tuple[str, ...] = (
            *("slug", "name", "neighborhood", "market", "rating", "review_count", "price_level", "cuisine"),
            *("cuisines", "phone", "location", "walking_distance_m", "walking_minutes", "distance_m"),
            *("open_now", "next_change", "flow_offer"),
        )

    def get_location(self, restaurant: Any) -> dict[str, float] | None:
        """Where it is."""
        return {"lat": restaurant.latitude, "lng": restaurant.longitude} if restaurant.latitude is not None else None

    def get_walking_distance_m(self, restaurant: Any) -> int:
        """The way there."""
        metres: float = restaurant.metres
        return round(metres * 1.3)

    def get_walking_minutes(self, restaurant: Any) -> int:
        """The time it takes."""
        metres: float = restaurant.metres
        return ceil(metres * 1.3 / 80)

    def get_distance_m(self, restaurant: Any) -> int:
        """The straight line."""
        metres: float = restaurant.metres
        return round(metres)

    def get_next_change(self, restaurant: Any) -> datetime | None:
        """When it closes."""
        return local_time(restaurant.closes, restaurant.market.timezone)

    def get_flow_offer(self, restaurant: Any) -> Any:
        """The next offer."""
        slots = restaurant.slots.all()
        return SlotSerializer(slots[0]).data if slots else None


class RecordSerializer(serializers.ModelSerializer[Restaurant]):
    """A restaurant."""

    id = PublicId("rst")
    market = serializers.CharField(source="market_id")
    address = serializers.SerializerMethodField()
    location = serializers.SerializerMethodField()
    phone_verified = serializers.SerializerMethodField()
    rating = serializers.FloatField()
    cuisine = serializers.CharField(source="cuisine.label", default=None)
    hours = serializers.SerializerMethodField()
    sources = SourceRecordSerializer(source="source_records", many=True)
    attribution = serializers.SerializerMethodField()
    flow_offer = serializers.SerializerMethodField()

    class Meta:
        model = Restaurant
        fields: tuple[str, ...] = (
            *("slug", "name", "id", "alt_names", "status", "market", "neighborhood", "address", "location", "phone"),
            *("phone_verified", "phone_verified_at", "website", "menu_url", "description", "rating", "review_count"),
            *(
                "price_level",
                "cuisine",
                "cuisines",
                "hours",
                "attributes",
                "external_ids",
                "sources",
                "attribution",
                "verified_at",
            ),
            *("updated_at", "version", "flow_offer"),
        )

    def get_address(self, restaurant: Restaurant) -> dict[str, str | None]:
        """Where its door is."""
        parts = {name: getattr(restaurant, name) for name in ("line1", "locality", "region", "postal_code", "country")}
        town = " ".join(filter(None, (restaurant.postal_code, restaurant.locality)))
        places = (restaurant.line1, town, restaurant.region, restaurant.country)
        return {**parts, "formatted": ", ".join(filter(None, places))}

    def get_location(self, restaurant: Restaurant) -> dict[str, float | None] | None:
        """Where it is."""
        return {"lat": restaurant.latitude, "lng": restaurant.longitude} if restaurant.latitude is not None else None

    def get_phone_verified(self, restaurant: Restaurant) -> bool:
        """Whether somebody has called."""
        return restaurant.phone_verified_at is not None

    def get_hours(self, restaurant: Any) -> dict[str, Any]:
        """The rules, and the state."""
        hours = restaurant.hours or {"timezone": restaurant.market.timezone, "periods": []}
        now = self.context["now"]
        is_open = restaurant.opens is not None and restaurant.opens <= now
        is_known = hours.get("known", False)
        is_shut = restaurant.status not in ("open", "unverified")
        change = restaurant.closes if is_open else restaurant.opens
        return {
            **{name: value for name, value in hours.items() if name != "known"},
            "state": "closed" if is_shut else ("open" if is_open else "closed") if is_known else "unknown",
            "open_now": False if is_shut else is_open if is_known else None,
            "next_change": local_time(change, restaurant.market.timezone) if is_known and not is_shut else None,
        }

    def get_attribution(self, restaurant: Any) -> list[dict[str, str]]:
        """The lines of its sources."""
        return attributions({payload.source for payload in restaurant.source_records.all()})

    def get_flow_offer(self, restaurant: Any) -> Any:
        """The next offer."""
        slots = restaurant.slots.all()
        return SlotSerializer(slots[0]).data if slots else None


class PhotoSerializer(serializers.ModelSerializer[Photo]):
    id = PublicId("ph")
    url = serializers.SerializerMethodField()
    small_url = serializers.SerializerMethodField()

    class Meta:
        model = Photo
        fields = ("id", "url", "small_url")

    def get_url(self, photo: Photo) -> str:
        """The large one."""
        return f"{PUBLIC}/photos/{encode('ph', photo.pk)}/large.webp"

    def get_small_url(self, photo: Photo) -> str:
        """The small one."""
        return f"{PUBLIC}/photos/{encode('ph', photo.pk)}/small.webp"


class ReviewSerializer(serializers.ModelSerializer[Review]):
    id = PublicId("rev")
    photos = PhotoSerializer(many=True)
    owner_reply = serializers.SerializerMethodField()
    source = serializers.CharField(source="source_id")  # type: ignore[assignment]  # a name of DRF's too

    class Meta:
        model = Review
        fields = (
            *("id", "stars", "text", "lang", "author", "visited_on", "created_at", "helpful_count", "photos"),
            *("owner_reply", "source"),
        )

    def get_owner_reply(self, review: Review) -> dict[str, Any] | None:
        """What the owner says."""
        if review.owner_reply is None:
            return None
        return {"text": review.owner_reply, "created_at": review.owner_replied_at}


def local_time(at: datetime | None, zone: str) -> datetime | None:
    """The moment on the clock of a zone."""
    return at.astimezone(ZoneInfo(zone)) if at is not None and at.year < FOREVER else None


def attributions(sources: Any) -> list[dict[str, str]]:
    """The lines that these ask for."""
    return [
        {"source": source.key, "text": source.attribution, "license": source.license}
        for source in sorted(sources, key=lambda source: source.key)
    ]

"""The shapes of the catalogue on the wire."""

from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.models import Landmark, Restaurant
from config.api.fields import ClockTime, Constant
from config.api.ids import pattern

SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
PHONE = r"^\+[1-9][0-9]{6,14}$"
PLACE_KINDS = [*Landmark.Kind.values, "restaurant"]


class Moment(serializers.DateTimeField):
    """A moment to the second, in the zone that it is given in."""

    def to_representation(self, value: Any) -> Any:
        """Return it for the renderer, which writes RFC 3339."""
        return value.replace(microsecond=0) if isinstance(value, datetime) else value


class LocationRecord(serializers.Serializer[Any]):
    """Where it is, in degrees."""

    lat = serializers.FloatField(min_value=-85, max_value=85)
    lng = serializers.FloatField(min_value=-180, max_value=180)


class OfferRecord(serializers.Serializer[Any]):
    """The next discount; date and time are on the restaurant's clock."""

    percent = serializers.IntegerField(min_value=1, max_value=90)
    time = ClockTime()
    date = serializers.DateField()


class AttributionRecord(serializers.Serializer[Any]):
    """A source, its licence, and the line that is to be shown with it."""

    source = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    text = serializers.CharField()
    license = serializers.CharField(help_text="SPDX identifier.")


class Hit(serializers.Serializer[Any]):
    """A restaurant in a list. What is not known is null; distances are null without a reference point."""

    slug = serializers.RegexField(SLUG)
    name = serializers.CharField()
    neighborhood = serializers.CharField(allow_null=True)
    market = serializers.RegexField(SLUG)
    rating = serializers.FloatField(allow_null=True, min_value=1, max_value=5, help_text="Stars.")
    review_count = serializers.IntegerField(min_value=0)
    price_level = serializers.IntegerField(allow_null=True, min_value=1, max_value=4)
    cuisine = serializers.CharField(allow_null=True, help_text="The label of the main cuisine.")
    cuisines = serializers.ListField(child=serializers.RegexField(SLUG), help_text="Slugs, the main one first.")
    phone = serializers.RegexField(PHONE, allow_null=True, help_text="E.164.")
    walking_distance_m = serializers.IntegerField(
        allow_null=True, min_value=0, help_text="From the reference point; estimated from the straight line."
    )
    walking_minutes = serializers.IntegerField(allow_null=True, min_value=0)
    distance_m = serializers.IntegerField(allow_null=True, min_value=0, help_text="In a straight line.")
    open_now = serializers.BooleanField(allow_null=True, help_text="Null where the hours are not known.")
    next_change = Moment(
        allow_null=True, help_text="When it opens or closes next; null where that is not known or not in sight."
    )
    flow_offer = OfferRecord(allow_null=True)
    location = LocationRecord(allow_null=True)


class PlaceRecord(serializers.Serializer[Any]):
    """What a name was taken to mean."""

    id = serializers.RegexField(f"{pattern('lm')}|{pattern('rst')}")
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=PLACE_KINDS)
    market = serializers.RegexField(SLUG, allow_null=True)
    lat = serializers.FloatField(min_value=-85, max_value=85)
    lng = serializers.FloatField(min_value=-180, max_value=180)


class ListingRecord(serializers.Serializer[Any]):
    """Where a page stands in its list."""

    limit = serializers.IntegerField(min_value=1, help_text="Rows on a page, at most.")
    next_cursor = serializers.CharField(allow_null=True, help_text="Give it as `cursor` for the next page.")
    has_more = serializers.BooleanField()
    as_of = Moment(help_text="The moment of which all pages of this list speak.")


class QueryRecord(serializers.Serializer[Any]):
    """What the parameters were taken to mean."""

    near = serializers.CharField(allow_null=True)
    resolved = PlaceRecord(allow_null=True)
    alternatives = PlaceRecord(many=True, help_text="What else `near` could have meant, likeliest first.")
    open_at = Moment(allow_null=True, help_text="The moment at which all hits are open; null when not asked for.")
    distance_method = Constant("estimated")


@extend_schema_serializer(many=False)
class SearchAnswer(serializers.Serializer[Any]):
    """A page of restaurants."""

    data = Hit(many=True, source="hits")  # type: ignore[assignment]  # a name of the contract
    pagination = ListingRecord(source="*")
    query = QueryRecord(source="*")
    attribution = AttributionRecord(many=True, help_text="Show these lines with the data.")


class AddressRecord(serializers.Serializer[Any]):
    """A postal address."""

    line1 = serializers.CharField(allow_null=True)
    locality = serializers.CharField(allow_null=True)
    region = serializers.CharField(allow_null=True)
    postal_code = serializers.CharField(allow_null=True)
    country = serializers.RegexField("^[A-Z]{2}$", help_text="ISO 3166-1 alpha-2.")
    formatted = serializers.CharField(allow_null=True, help_text="All of it in one line.")


class WeekMoment(serializers.Serializer[Any]):
    """A moment of the week on the restaurant's clock."""

    day = serializers.IntegerField(min_value=0, max_value=6, help_text="0 is Monday.")
    time = ClockTime()

    def to_representation(self, instance: Any) -> Any:
        """Return it as it is kept."""
        return instance


class PeriodRecord(serializers.Serializer[Any]):
    """A weekly opening; it may close on the day after."""

    kind = serializers.ChoiceField(
        choices=["regular", "open_end"],
        help_text="`open_end`: only the opening is promised, the close is an estimate.",
    )
    open = WeekMoment()
    close = WeekMoment()


class SpanRecord(serializers.Serializer[Any]):
    """An opening on a special day; a close that is not after its open lies on the next day."""

    open = ClockTime()
    close = ClockTime()

    def to_representation(self, instance: Any) -> Any:
        """Return it as it is kept."""
        return instance


class SpecialDayRecord(serializers.Serializer[Any]):
    """What replaces the weekly periods that open on a date; none: closed."""

    date = serializers.DateField()
    periods = SpanRecord(many=True)


class HoursRecord(serializers.Serializer[Any]):
    """Opening hours, and the state that they give now."""

    timezone = serializers.CharField(help_text="IANA name.")
    state = serializers.ChoiceField(choices=["open", "closed", "unknown"])
    open_now = serializers.BooleanField(allow_null=True, help_text="Null where the state is unknown.")
    next_change = Moment(allow_null=True, help_text="When it opens or closes next.")
    periods = PeriodRecord(many=True)
    special_days = SpecialDayRecord(many=True)
    display = serializers.ListField(child=serializers.CharField(), help_text="Lines for people.")
    osm = serializers.CharField(allow_null=True, help_text="The opening_hours of OpenStreetMap they were read from.")


class SourceRecord(serializers.Serializer[Any]):
    """What a source gave."""

    source = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    record = serializers.CharField(help_text="The source's own id.")
    license = serializers.CharField(help_text="SPDX identifier.")
    updated_at = Moment()
    fields = serializers.ListField(child=serializers.CharField(), help_text="What was taken from it.")  # type: ignore[assignment]  # a name of the contract


class RestaurantRecord(serializers.Serializer[Any]):
    """A restaurant. What is not known is null."""

    slug = serializers.RegexField(SLUG)
    name = serializers.CharField()
    id = serializers.RegexField(pattern("rst"))
    alt_names = serializers.ListField(child=serializers.CharField())
    status = serializers.ChoiceField(choices=Restaurant.Status.values)
    market = serializers.RegexField(SLUG)
    neighborhood = serializers.CharField(allow_null=True)
    address = AddressRecord()
    location = LocationRecord(allow_null=True)
    phone = serializers.RegexField(PHONE, allow_null=True, help_text="E.164.")
    phone_verified = serializers.BooleanField(help_text="Confirmed by people or by two agreeing sources.")
    phone_verified_at = Moment(allow_null=True)
    website = serializers.CharField(allow_null=True)
    rating = serializers.FloatField(allow_null=True, min_value=1, max_value=5, help_text="Stars.")
    review_count = serializers.IntegerField(min_value=0)
    price_level = serializers.IntegerField(allow_null=True, min_value=1, max_value=4)
    cuisine = serializers.CharField(allow_null=True, help_text="The label of the main cuisine.")
    cuisines = serializers.ListField(child=serializers.RegexField(SLUG), help_text="Slugs, the main one first.")
    hours = HoursRecord()
    attributes = serializers.DictField(help_text="Amenities by name, as the sources tell them.")
    flow_offer = OfferRecord(allow_null=True)
    external_ids = serializers.DictField(help_text="Ids that others have given it.")
    sources = SourceRecord(many=True)
    attribution = AttributionRecord(many=True, help_text="Show these lines with the data.")
    verified_at = Moment(allow_null=True)
    updated_at = Moment()
    version = serializers.IntegerField(min_value=1)


class OpeningRecord(serializers.Serializer[Any]):
    """A span of time in which it is open, on its own clock."""

    opens_at = Moment()
    closes_at = Moment()


class OpeningsRecord(serializers.Serializer[Any]):
    """When a restaurant is open on some days; spans are merged, in order, and cut to these days."""

    slug = serializers.RegexField(SLUG)
    timezone = serializers.CharField(help_text="IANA name.")
    to = serializers.DateField(source="last")
    spans = OpeningRecord(many=True, allow_null=True, help_text="Null where the hours are not known.")

    def get_fields(self) -> dict[str, Any]:
        """Add the field whose name is a word of Python."""
        return {"from": serializers.DateField(source="first"), **super().get_fields()}


class LandmarkRecord(serializers.Serializer[Any]):
    """A place that `near` understands."""

    id = serializers.RegexField(pattern("lm"), source="place.id")
    name = serializers.CharField(source="place.name")
    kind = serializers.ChoiceField(choices=Landmark.Kind.values, source="place.kind")
    market = serializers.RegexField(SLUG, allow_null=True, source="place.market")
    location = LocationRecord(source="place.location")
    names = serializers.ListField(child=serializers.CharField(), help_text="All names that it is found by.")
    wikidata = serializers.RegexField("^Q[1-9][0-9]*$", allow_null=True)
    distance_m = serializers.IntegerField(allow_null=True, min_value=0, help_text="From `ll`; null without it.")


@extend_schema_serializer(many=False)
class LandmarkAnswer(serializers.Serializer[Any]):
    """A page of landmarks."""

    data = LandmarkRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = ListingRecord(source="*")


class CenterRecord(serializers.Serializer[Any]):
    """The middle of a market, in degrees."""

    lat = serializers.FloatField(min_value=-85, max_value=85, source="latitude")
    lng = serializers.FloatField(min_value=-180, max_value=180, source="longitude")


class MarketRecord(serializers.Serializer[Any]):
    """A city that the catalogue covers."""

    slug = serializers.RegexField(SLUG)
    name = serializers.CharField()
    country = serializers.RegexField("^[A-Z]{2}$", help_text="ISO 3166-1 alpha-2.")
    timezone = serializers.CharField(help_text="IANA name.")
    currency = serializers.RegexField("^[A-Z]{3}$", help_text="ISO 4217.")
    location = CenterRecord(source="*")
    radius_m = serializers.IntegerField(min_value=1, help_text="How far it reaches.")


@extend_schema_serializer(many=False)
class MarketAnswer(serializers.Serializer[Any]):
    """All markets."""

    data = MarketRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = ListingRecord(source="*")


class CuisineRecord(serializers.Serializer[Any]):
    """A kind of kitchen."""

    slug = serializers.RegexField(SLUG)
    label = serializers.CharField()  # type: ignore[assignment]  # a name of the contract


@extend_schema_serializer(many=False)
class CuisineAnswer(serializers.Serializer[Any]):
    """All cuisines."""

    data = CuisineRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = ListingRecord(source="*")

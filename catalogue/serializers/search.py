"""A page of a search."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.serializers.pieces import (
    PHONE,
    PLACE_KINDS,
    SLUG,
    AttributionRecord,
    ListingRecord,
    LocationRecord,
    Moment,
    OfferRecord,
)
from config.api.fields import Constant
from config.api.ids import pattern


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

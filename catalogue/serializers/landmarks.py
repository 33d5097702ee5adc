"""Landmarks and the dictionaries."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.models import Attribute, Landmark
from catalogue.serializers.shared import SLUG, AttributionRecord, LocationRecord
from framework.api.pagination.schema import CursorPageRecord
from framework.public_ids import pattern


class LandmarkRecord(serializers.Serializer[Any]):
    """A place that `near` understands."""

    id = serializers.RegexField(pattern("lm"), source="place.id")
    name = serializers.CharField(source="place.name")
    kind = serializers.ChoiceField(choices=Landmark.Kind.choices, source="place.kind")
    market = serializers.RegexField(SLUG, allow_null=True, source="place.market")
    location = LocationRecord(source="place.location")
    names = serializers.ListField(child=serializers.CharField(), help_text="All names that it is found by.")
    wikidata = serializers.RegexField("^Q[1-9][0-9]*$", allow_null=True)
    distance_m = serializers.IntegerField(allow_null=True, min_value=0, help_text="From `ll`; null without it.")


@extend_schema_serializer(many=False)
class LandmarkAnswer(serializers.Serializer[Any]):
    """A page of landmarks."""

    data = LandmarkRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = CursorPageRecord(source="*")
    attribution = AttributionRecord(many=True, help_text="Show these lines with the data.")


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
    pagination = CursorPageRecord(source="*")


class CuisineRecord(serializers.Serializer[Any]):
    """A kind of kitchen."""

    slug = serializers.RegexField(SLUG)
    label = serializers.CharField(help_text="In `lang`, else in English.")  # type: ignore[assignment]  # of the contract


@extend_schema_serializer(many=False)
class CuisineAnswer(serializers.Serializer[Any]):
    """All cuisines."""

    data = CuisineRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = CursorPageRecord(source="*")


class AttributeRecord(serializers.Serializer[Any]):
    """Something that a place may offer."""

    key = serializers.RegexField("^[a-z][a-z0-9_]*$", help_text="What `attributes` takes; `diet` without its `diet_`.")
    label = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    kind = serializers.ChoiceField(choices=Attribute.Kind.values)
    values = serializers.ListField(child=serializers.CharField(), help_text="Words that a record may have for yes.")


@extend_schema_serializer(many=False)
class AttributeAnswer(serializers.Serializer[Any]):
    """All attributes."""

    data = AttributeRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = CursorPageRecord(source="*")

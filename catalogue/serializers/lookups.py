"""Landmarks, dictionaries, suggestions and matches."""

from typing import Any

from rest_framework import serializers

from catalogue.matching.scoring import Verdict
from catalogue.models import Attribute, Landmark, Restaurant
from catalogue.search.text.autocomplete import Kind
from catalogue.serializers.shared import COUNTRY, SLUG, LocationRecord, page_of
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


LandmarkAnswer = page_of(
    LandmarkRecord, name="LandmarkAnswer", description="A page of landmarks.", has_attribution=True
)


class CenterRecord(serializers.Serializer[Any]):
    """The middle of a market, in degrees."""

    lat = serializers.FloatField(min_value=-85, max_value=85, source="latitude")
    lng = serializers.FloatField(min_value=-180, max_value=180, source="longitude")


class MarketRecord(serializers.Serializer[Any]):
    """A city that the catalogue covers."""

    slug = serializers.RegexField(SLUG)
    name = serializers.CharField()
    country = serializers.RegexField(COUNTRY, help_text="ISO 3166-1 alpha-2.")
    timezone = serializers.CharField(help_text="IANA name.")
    currency = serializers.RegexField("^[A-Z]{3}$", help_text="ISO 4217.")
    location = CenterRecord(source="*")
    radius_m = serializers.IntegerField(min_value=1, help_text="How far it reaches.")


MarketAnswer = page_of(MarketRecord, name="MarketAnswer", description="All markets.")


class CuisineRecord(serializers.Serializer[Any]):
    """A kind of kitchen."""

    slug = serializers.RegexField(SLUG)
    label = serializers.CharField(help_text="In `lang`, else in English.")  # type: ignore[assignment]  # of the contract


CuisineAnswer = page_of(CuisineRecord, name="CuisineAnswer", description="All cuisines.")


class AttributeRecord(serializers.Serializer[Any]):
    """Something that a place may offer."""

    key = serializers.RegexField("^[a-z][a-z0-9_]*$", help_text="What `attributes` takes; `diet` without its `diet_`.")
    label = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    kind = serializers.ChoiceField(choices=Attribute.Kind.values)
    values = serializers.ListField(child=serializers.CharField(), help_text="Words that a record may have for yes.")


AttributeAnswer = page_of(AttributeRecord, name="AttributeAnswer", description="All attributes.")


class SuggestionRecord(serializers.Serializer[Any]):
    """A completion of the text."""

    type = serializers.ChoiceField(choices=[kind.value for kind in Kind])
    text = serializers.CharField(help_text="What to show, and to search for.")
    slug = serializers.RegexField(SLUG, allow_null=True, help_text="Of a restaurant or a cuisine.")
    id = serializers.RegexField("^(rst|lm)_[0-9a-z]{26}$", allow_null=True, help_text="Of a restaurant or a landmark.")
    kind = serializers.ChoiceField(choices=Landmark.Kind.choices, allow_null=True, help_text="Of a landmark.")
    market = serializers.RegexField(SLUG, allow_null=True)
    neighborhood = serializers.CharField(allow_null=True, help_text="Of a restaurant.")
    address = serializers.CharField(allow_null=True, help_text="The street address of a restaurant.")
    distance_m = serializers.IntegerField(allow_null=True, min_value=0, help_text="From `ll`; null without it.")
    highlight = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(min_value=0), min_length=2, max_length=2),
        help_text="The spans of `text` that match: pairs of start and end, in characters. Empty for a correction.",
    )


SuggestionAnswer = page_of(SuggestionRecord, name="SuggestionAnswer", description="Suggestions, the best first.")


class MatchedAddressRecord(serializers.Serializer[Any]):
    """Where a restaurant is."""

    line1 = serializers.CharField(allow_null=True)
    postal_code = serializers.CharField(allow_null=True)
    locality = serializers.CharField(allow_null=True)
    country = serializers.RegexField(COUNTRY, help_text="ISO 3166-1 alpha-2.")


class ReasonsRecord(serializers.Serializer[Any]):
    """Similarities from 0 to 1; null if one of the two has no value."""

    name = serializers.FloatField(min_value=0, max_value=1)
    address = serializers.FloatField(min_value=0, max_value=1, allow_null=True)
    phone_equal = serializers.BooleanField(allow_null=True)


class MatchRecord(serializers.Serializer[Any]):
    """A restaurant that may match."""

    slug = serializers.RegexField(SLUG)
    id = serializers.RegexField(pattern("rst"))
    name = serializers.CharField()
    status = serializers.ChoiceField(choices=Restaurant.Status.choices)
    market = serializers.RegexField(SLUG)
    neighborhood = serializers.CharField(allow_null=True)
    address = MatchedAddressRecord()
    distance_m = serializers.IntegerField(allow_null=True, min_value=0, help_text="From `ll`; null without it.")
    score = serializers.FloatField(min_value=0, max_value=1, help_text="The similarity of the two records.")
    verdict = serializers.ChoiceField(
        choices=[verdict.value for verdict in Verdict],
        help_text="`same` is right in 95 of 100 cases, `likely` is worth a look.",
    )
    reasons = ReasonsRecord(source="evidence")


MatchAnswer = page_of(
    MatchRecord, name="MatchAnswer", description="Restaurants, the best match first.", has_attribution=True
)

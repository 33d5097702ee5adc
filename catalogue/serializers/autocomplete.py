"""Suggestions and matches."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.matching.scoring import Verdict
from catalogue.models import Landmark, Restaurant
from catalogue.search.text.autocomplete import Kind
from catalogue.serializers.shared import SLUG, AttributionRecord
from framework.api.pagination.schema import CursorPageRecord
from framework.public_ids import pattern


class SuggestionRecord(serializers.Serializer[Any]):
    """A completion of the text."""

    type = serializers.ChoiceField(choices=[kind.value for kind in Kind])
    text = serializers.CharField(help_text="What to show, and to search for.")
    slug = serializers.RegexField(SLUG, allow_null=True, help_text="Of a restaurant or a cuisine.")
    id = serializers.RegexField("^(rst|lm)_[0-9a-z]{26}$", allow_null=True, help_text="Of a restaurant or a landmark.")
    kind = serializers.ChoiceField(choices=Landmark.Kind.choices, allow_null=True, help_text="Of a landmark.")
    market = serializers.RegexField(SLUG, allow_null=True)
    neighborhood = serializers.CharField(allow_null=True, help_text="Of a restaurant.")
    distance_m = serializers.IntegerField(allow_null=True, min_value=0, help_text="From `ll`; null without it.")
    highlight = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(min_value=0), min_length=2, max_length=2),
        help_text="The spans of `text` that match: pairs of start and end, in characters. Empty for a correction.",
    )


@extend_schema_serializer(many=False)
class SuggestionAnswer(serializers.Serializer[Any]):
    """Suggestions, the best first."""

    data = SuggestionRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = CursorPageRecord(source="*")


class MatchedAddressRecord(serializers.Serializer[Any]):
    """Where a restaurant is."""

    line1 = serializers.CharField(allow_null=True)
    postal_code = serializers.CharField(allow_null=True)
    locality = serializers.CharField(allow_null=True)
    country = serializers.RegexField("^[A-Z]{2}$", help_text="ISO 3166-1 alpha-2.")


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


@extend_schema_serializer(many=False)
class MatchAnswer(serializers.Serializer[Any]):
    """Restaurants, the best match first."""

    data = MatchRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = CursorPageRecord(source="*")
    attribution = AttributionRecord(many=True, help_text="Show these lines with the data.")

"""Parameters of landmark search, autocomplete, matching and cuisines."""

from typing import Any

from rest_framework import serializers

from catalogue.filters.param_types import LatLng, MarketSlug, Words
from catalogue.models import Landmark
from framework.api.fields import TextField
from framework.api.query_params.declarations import IntegerParam, ListParam, ParsedTextParam, QueryParams


class Kinds(ListParam):
    """Kinds of landmarks."""

    def __init__(self, **options: Any) -> None:
        super().__init__(of="|".join(Landmark.Kind.values), **options)

    def to_internal_value(self, data: Any) -> Any:
        for kind in str(data).split(","):
            if kind not in Landmark.Kind.values:
                raise serializers.ValidationError(f"These must be of: {', '.join(Landmark.Kind.values)}.")
        return super().to_internal_value(data)


class LandmarkParams(QueryParams):
    """The parameters of GET /v1/landmarks."""

    q = Words(required=False, max_length=120, help_text="A name, or its beginning; may be misspelled.")
    ll = LatLng(
        required=False,
        help_text="latitude,longitude: equal matches are sorted by distance. Without `q` the landmarks within 20 km.",
    )
    kind = Kinds(required=False, max_length=200, help_text="Only these kinds, with commas between them.")
    market = MarketSlug(required=False, help_text="Only landmarks of this market.")
    limit = IntegerParam(required=False, default=20, min_value=1, max_value=50, help_text="Landmarks on a page.")
    cursor = TextField(
        required=False, max_length=400, help_text="`next_cursor` of the page before; valid for an hour."
    )


class AutocompleteParams(QueryParams):
    """The parameters of GET /v1/autocomplete."""

    q = Words(max_length=60, help_text="The text so far; at least two letters.")
    ll = LatLng(
        required=False,
        help_text="latitude,longitude: only suggestions of its market, and the distances of restaurants.",
    )
    market = MarketSlug(required=False, help_text="Only suggestions of this market, and cuisines.")
    limit = IntegerParam(required=False, default=10, min_value=1, max_value=20, help_text="Suggestions, at most.")


class MatchParams(QueryParams):
    """The parameters of GET /v1/match."""

    name = Words(max_length=200, help_text="The name of the place.")
    address = Words(required=False, max_length=300, help_text="Street and number; a comma before the town.")
    phone = Words(required=False, max_length=40, help_text="In any format; write the + as %2B.")
    ll = LatLng(required=False, help_text="latitude,longitude: within a kilometre.")
    market = MarketSlug(required=False, help_text="The market of the place.")
    limit = IntegerParam(required=False, default=5, min_value=1, max_value=20, help_text="Restaurants, at most.")


class CuisineParams(QueryParams):
    """The parameter of GET /v1/cuisines."""

    lang = ParsedTextParam(
        required=False,
        max_length=2,
        pattern="^[a-z]{2}$",
        help_text="ISO 639-1: labels in this language, or else in English.",
    )

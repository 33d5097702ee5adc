"""Parameters of landmark search, autocomplete, matching, cuisines and the change feed."""

from catalogue.filters.param_types import LatLng, MarketSlug, Words, integer, page_cursor, some_of
from catalogue.models import Landmark, Version
from framework.api.query_params.declarations import ChoiceParam, ListParam, ParsedTextParam, QueryParams


class LandmarkParams(QueryParams):
    """The parameters of GET /v1/landmarks."""

    q = Words(required=False, max_length=120, help_text="A name, or its beginning; may be misspelled.")
    ll = LatLng(
        required=False,
        help_text="latitude,longitude: equal matches are sorted by distance. Without `q` the landmarks within 20 km.",
    )
    kind = ListParam(
        required=False,
        of="|".join(Landmark.Kind.values),
        max_length=200,
        hint=f"These must be of: {', '.join(Landmark.Kind.values)}.",
        help_text="Only these kinds, with commas between them.",
    )
    market = MarketSlug(required=False, help_text="Only landmarks of this market.")
    limit = integer(1, 50, "Landmarks on a page.", default=20)
    cursor = page_cursor()


class AutocompleteParams(QueryParams):
    """The parameters of GET /v1/autocomplete."""

    q = Words(max_length=60, help_text="The text so far; at least two letters.")
    ll = LatLng(
        required=False,
        help_text="latitude,longitude: only suggestions of its market, and the distances of restaurants.",
    )
    market = MarketSlug(required=False, help_text="Only suggestions of this market, and cuisines.")
    limit = integer(1, 20, "Suggestions, at most.", default=10)


class MatchParams(QueryParams):
    """The parameters of GET /v1/match."""

    name = Words(max_length=200, help_text="The name of the place.")
    address = Words(required=False, max_length=300, help_text="Street and number; a comma separates the town.")
    phone = Words(required=False, max_length=40, help_text="In any format; write the + as %2B.")
    ll = LatLng(required=False, help_text="latitude,longitude: within a kilometre.")
    market = MarketSlug(required=False, help_text="The market of the place.")
    limit = integer(1, 20, "Restaurants, at most.", default=5)


class CuisineParams(QueryParams):
    """The parameter of GET /v1/cuisines."""

    lang = ParsedTextParam(
        required=False,
        max_length=2,
        pattern="^[a-z]{2}$",
        help_text="ISO 639-1: labels in this language, or else in English.",
    )


class ChangeParams(QueryParams):
    """The parameters of GET /v1/changes."""

    since = integer(
        0, 10**15 - 1, "`next_since` of the page before; the feed begins with the oldest change.", default=0
    )
    limit = integer(1, 1000, "Changes on a page.", default=100)
    market = MarketSlug(required=False, help_text="A slug of GET /v1/markets.")
    type = some_of(Version.Kind.values)
    include = ChoiceParam(
        choices=["record"], required=False, help_text="`record`: include the current free fields of the restaurant."
    )

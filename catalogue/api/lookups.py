"""Free REST views: landmarks, dictionaries, autocomplete and matching."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from catalogue import paywall, responses
from catalogue.api.openapi_responses import free_operation
from catalogue.filters.lookups import AutocompleteParams, CuisineParams, LandmarkParams, MatchParams
from catalogue.serializers.lookups import (
    AttributeAnswer,
    CuisineAnswer,
    LandmarkAnswer,
    MarketAnswer,
    MatchAnswer,
    SuggestionAnswer,
)
from payments.interface import DataViewSet


class LandmarkViewSet(DataViewSet[Any]):
    @free_operation("search_landmarks", "Search landmarks", LandmarkParams, answer=LandmarkAnswer)
    def list(self, request: Request) -> HttpResponse:
        """Landmarks, museums, parks, neighborhoods and cities: exact matches first, then prefixes, then
        misspellings.
        """
        params, now = LandmarkParams.read(request), timezone.now()
        return paywall.serve(request, responses.landmarks(params, now=now), now=now)


class MarketViewSet(DataViewSet[Any]):
    query_actions = ()

    @free_operation("list_markets", "List the markets", answer=MarketAnswer)
    def list(self, request: Request) -> HttpResponse:
        """The cities of the catalogue, sorted by name."""
        now = timezone.now()
        return paywall.serve(request, responses.markets(now=now), now=now)


class CuisineViewSet(DataViewSet[Any]):
    @free_operation("list_cuisines", "List the cuisines", CuisineParams, answer=CuisineAnswer)
    def list(self, request: Request) -> HttpResponse:
        """The values of `cuisine` with their labels, sorted by slug."""
        params, now = CuisineParams.read(request), timezone.now()
        return paywall.serve(request, responses.cuisines(params, now=now), now=now)


class AttributeViewSet(DataViewSet[Any]):
    query_actions = ()

    @free_operation("list_attributes", "List the attributes", answer=AttributeAnswer)
    def list(self, request: Request) -> HttpResponse:
        """The values of `attributes` and `diet` with their labels, sorted by key."""
        now = timezone.now()
        return paywall.serve(request, responses.attributes(now=now), now=now)


class AutocompleteViewSet(DataViewSet[Any]):
    @free_operation("autocomplete", "Complete a text while it is typed", AutocompleteParams, answer=SuggestionAnswer)
    def list(self, request: Request) -> HttpResponse:
        """Cuisines, landmarks, neighborhoods and restaurants whose name has a word that begins with the text. Free; no
        key.

        Case and accents do not matter. Without a match one letter may be wrong in a word of five or more.
        """
        params, now = AutocompleteParams.read(request), timezone.now()
        return paywall.serve(request, responses.suggestions(params, now=now), now=now)


class MatchViewSet(DataViewSet[Any]):
    @free_operation("match_restaurant", "Find the restaurant of a record of yours", MatchParams, answer=MatchAnswer)
    def list(self, request: Request) -> HttpResponse:
        """The matching restaurants, the best match first, closed ones too. Free; no key.

        Give the name and at least one of `address`, `phone`, `ll` and `market`: more make the match more certain.
        """
        params, now = MatchParams.read(request), timezone.now()
        return paywall.serve(request, responses.matches(params, now=now), now=now)

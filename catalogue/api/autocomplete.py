"""REST views of autocomplete and matching."""

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from catalogue import filters, paywall, responses, serializers
from catalogue.api.openapi_responses import CONDITIONAL, free_responses
from catalogue.models import Restaurant
from payments.interface import DataViewSet


class AutocompleteViewSet(DataViewSet[Restaurant]):
    """Suggestions for a text that is being typed."""

    queryset = Restaurant.objects.none()
    serializer_class = serializers.SuggestionRecord

    @extend_schema(
        operation_id="autocomplete",
        summary="Complete a text while it is typed",
        parameters=[filters.AutocompleteParams, *CONDITIONAL],
        responses=free_responses(serializers.SuggestionAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """Cuisines, landmarks, neighborhoods and restaurants whose name has a word that begins with the text. Free; no
        key.

        Case and accents do not matter. Without a match one letter may be wrong in a word of five or more.
        """
        params, now = filters.AutocompleteParams.read(request), timezone.now()
        return paywall.serve(request, responses.suggestions(params, now=now), now=now)


class MatchViewSet(DataViewSet[Restaurant]):
    """Restaurants that match a record of the caller."""

    queryset = Restaurant.objects.none()
    serializer_class = serializers.MatchRecord

    @extend_schema(
        operation_id="match_restaurant",
        summary="Find the restaurant of a record of yours",
        parameters=[filters.MatchParams, *CONDITIONAL],
        responses=free_responses(serializers.MatchAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """The matching restaurants, the best match first, closed ones too. Free; no key.

        Give the name and at least one of `address`, `phone`, `ll` and `market`: more make the match more certain.
        """
        params, now = filters.MatchParams.read(request), timezone.now()
        return paywall.serve(request, responses.matches(params, now=now), now=now)

"""Finding things by what they are called, over HTTP."""

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from catalogue import attribution, filters, paywall, responses, serializers
from catalogue.api.openapi_responses import CONDITIONAL, free
from catalogue.matching import match_endpoint
from catalogue.models import Restaurant
from catalogue.search.text import autocomplete
from framework.api.pagination.cursor import AttributedListing
from payments.identity.drf_authentication import DataViewSet


class AutocompleteViewSet(DataViewSet[Restaurant]):
    """Suggestions while somebody types."""

    queryset = Restaurant.objects.none()
    serializer_class = serializers.SuggestionRecord

    @extend_schema(
        operation_id="autocomplete",
        summary="Suggest while somebody types",
        parameters=[filters.Typed, *CONDITIONAL],
        responses=free(serializers.SuggestionAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """Cuisines, landmarks, neighborhoods and restaurants whose name has a word that begins so. Free; no key.

        Case and accents do not matter. Where nothing begins so, one letter may be wrong in a word of five or more.
        """
        typed = filters.Typed.read(request)
        found, now = autocomplete.suggest(**typed), timezone.now()
        page = responses.whole(found, limit=typed["limit"], now=now)
        return paywall.served(request, responses.listed(serializers.SuggestionAnswer(page).data), now=now)


class MatchViewSet(DataViewSet[Restaurant]):
    """Which of our restaurants a place is."""

    queryset = Restaurant.objects.none()
    serializer_class = serializers.MatchRecord

    @extend_schema(
        operation_id="match_restaurant",
        summary="Find the restaurant that a place of your list is",
        parameters=[filters.Sought, *CONDITIONAL],
        responses=free(serializers.MatchAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """The restaurants that it may be, best first, closed ones too. Free; no key.

        Give the name and at least one of `address`, `phone`, `ll` and `market`: the more, the surer.
        """
        sought, now = filters.Sought.read(request), timezone.now()
        found = match_endpoint.find_matches(**sought)
        lines = attribution.of_restaurants([match.slug for match in found])
        page = AttributedListing(rows=found, limit=sought["limit"], as_of=now, attribution=lines)
        return paywall.served(request, responses.listed(serializers.MatchAnswer(page).data), now=now)

"""REST views of landmarks and dictionaries."""

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from catalogue import filters, paywall, responses, serializers
from catalogue.api.openapi_responses import CONDITIONAL, free_responses
from catalogue.models import Attribute, Cuisine, Landmark, Market
from payments.interface import DataViewSet


class LandmarkViewSet(DataViewSet[Landmark]):
    """The places that `near` accepts."""

    queryset = Landmark.objects.none()
    serializer_class = serializers.LandmarkRecord

    @extend_schema(
        operation_id="search_landmarks",
        summary="Search landmarks",
        parameters=[filters.LandmarkParams, *CONDITIONAL],
        responses=free_responses(serializers.LandmarkAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """Landmarks, museums, parks, neighborhoods and cities: exact matches first, then prefixes, then
        misspellings.
        """
        now = timezone.now()
        return paywall.serve(request, responses.landmarks(filters.LandmarkParams.read(request), now=now), now=now)


class MarketViewSet(DataViewSet[Market]):
    """The markets."""

    queryset = Market.objects.none()
    serializer_class = serializers.MarketRecord
    query_actions = ()

    @extend_schema(
        operation_id="list_markets",
        summary="List the markets",
        parameters=CONDITIONAL,
        responses=free_responses(serializers.MarketAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """The cities of the catalogue, sorted by name."""
        now = timezone.now()
        return paywall.serve(request, responses.markets(now=now), now=now)


class CuisineViewSet(DataViewSet[Cuisine]):
    """The cuisines."""

    queryset = Cuisine.objects.none()
    serializer_class = serializers.CuisineRecord

    @extend_schema(
        operation_id="list_cuisines",
        summary="List the cuisines",
        parameters=[filters.CuisineParams, *CONDITIONAL],
        responses=free_responses(serializers.CuisineAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """The values of `cuisine` with their labels, sorted by slug."""
        now = timezone.now()
        return paywall.serve(request, responses.cuisines(filters.CuisineParams.read(request), now=now), now=now)


class AttributeViewSet(DataViewSet[Attribute]):
    """The attributes."""

    queryset = Attribute.objects.none()
    serializer_class = serializers.AttributeRecord
    query_actions = ()

    @extend_schema(
        operation_id="list_attributes",
        summary="List the attributes",
        parameters=CONDITIONAL,
        responses=free_responses(serializers.AttributeAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """The values of `attributes` and `diet` with their labels, sorted by key."""
        now = timezone.now()
        return paywall.serve(request, responses.attributes(now=now), now=now)

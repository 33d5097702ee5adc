"""Landmarks and the dictionaries over HTTP."""

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from catalogue import filters, paywall, responses, serializers
from catalogue.api.openapi_responses import CONDITIONAL, free
from catalogue.models import Attribute, Cuisine, Landmark, Market
from payments.identity.drf_authentication import DataViewSet


class LandmarkViewSet(DataViewSet[Landmark]):
    """The places that `near` understands."""

    queryset = Landmark.objects.none()
    serializer_class = serializers.LandmarkRecord

    @extend_schema(
        operation_id="search_landmarks",
        summary="Search landmarks",
        parameters=[filters.LookUp, *CONDITIONAL],
        responses=free(serializers.LandmarkAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """Landmarks, museums, parks, neighborhoods and cities: whole matches first, then begun, then misspelt ones."""
        now = timezone.now()
        return paywall.served(request, responses.landmarks(filters.LookUp.read(request), now=now), now=now)


class MarketViewSet(DataViewSet[Market]):
    """The markets."""

    queryset = Market.objects.none()
    serializer_class = serializers.MarketRecord
    query_actions = ()

    @extend_schema(
        operation_id="list_markets",
        summary="List the markets",
        parameters=CONDITIONAL,
        responses=free(serializers.MarketAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """The cities that the catalogue covers, by name."""
        now = timezone.now()
        return paywall.served(request, responses.markets(now=now), now=now)


class CuisineViewSet(DataViewSet[Cuisine]):
    """The cuisines."""

    queryset = Cuisine.objects.none()
    serializer_class = serializers.CuisineRecord

    @extend_schema(
        operation_id="list_cuisines",
        summary="List the cuisines",
        parameters=[filters.Language, *CONDITIONAL],
        responses=free(serializers.CuisineAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """The slugs that `cuisine` takes, with their labels, by slug."""
        now = timezone.now()
        return paywall.served(request, responses.cuisines(filters.Language.read(request), now=now), now=now)


class AttributeViewSet(DataViewSet[Attribute]):
    """The attributes."""

    queryset = Attribute.objects.none()
    serializer_class = serializers.AttributeRecord
    query_actions = ()

    @extend_schema(
        operation_id="list_attributes",
        summary="List the attributes",
        parameters=CONDITIONAL,
        responses=free(serializers.AttributeAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """The keys that `attributes` and `diet` take, with their labels, by key."""
        now = timezone.now()
        return paywall.served(request, responses.attributes(now=now), now=now)

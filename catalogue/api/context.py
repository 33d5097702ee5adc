"""Landmarks and the dictionaries over HTTP."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from catalogue import filters, landmarks, serializers
from catalogue.cursors import Listing
from catalogue.models import Cuisine, Landmark, Market
from config.api import openapi
from config.api.viewsets import StrictViewSet
from payments.authentication import WalletAuthentication

# A dictionary is listed whole; it would have to be paged beyond this.
DICTIONARY = 1_000


class LandmarkViewSet(StrictViewSet[Landmark]):
    """The places that `near` understands."""

    authentication_classes = [WalletAuthentication]
    permission_classes = [AllowAny]
    queryset = Landmark.objects.none()
    serializer_class = serializers.LandmarkRecord
    filter_backends = []

    @extend_schema(
        operation_id="search_landmarks",
        summary="Search landmarks",
        parameters=[filters.LookUp],
        responses=openapi.answers({200: serializers.LandmarkAnswer}),
    )
    def list(self, request: Request) -> Response:
        """Landmarks, museums, parks, neighborhoods and cities: whole matches first, then begun, then misspelt ones."""
        found = landmarks.look_up(**filters.LookUp.read(request), now=timezone.now())
        return Response(serializers.LandmarkAnswer(found).data)


class MarketViewSet(StrictViewSet[Market]):
    """The markets."""

    authentication_classes = [WalletAuthentication]
    permission_classes = [AllowAny]
    queryset = Market.objects.none()
    serializer_class = serializers.MarketRecord
    filter_backends = []
    reads_query = ()

    @extend_schema(
        operation_id="list_markets",
        summary="List the markets",
        responses=openapi.answers({200: serializers.MarketAnswer}),
    )
    def list(self, request: Request) -> Response:
        """The cities that the catalogue covers, by name."""
        return Response(serializers.MarketAnswer(whole(Market.objects.order_by("name")[:DICTIONARY])).data)


class CuisineViewSet(StrictViewSet[Cuisine]):
    """The cuisines."""

    authentication_classes = [WalletAuthentication]
    permission_classes = [AllowAny]
    queryset = Cuisine.objects.none()
    serializer_class = serializers.CuisineRecord
    filter_backends = []
    reads_query = ()

    @extend_schema(
        operation_id="list_cuisines",
        summary="List the cuisines",
        responses=openapi.answers({200: serializers.CuisineAnswer}),
    )
    def list(self, request: Request) -> Response:
        """The slugs that `cuisine` takes, with their labels, by slug."""
        return Response(serializers.CuisineAnswer(whole(Cuisine.objects.order_by("slug")[:DICTIONARY])).data)


def whole(rows: Any) -> Listing[Any]:
    """A dictionary as a list of one page."""
    return Listing(rows=list(rows), limit=DICTIONARY, as_of=timezone.now())

"""Restaurants over HTTP."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalogue import filters, groups, openings, search, serializers
from catalogue.models import Restaurant
from config.api import openapi
from config.api.viewsets import StrictViewSet

SLUG = OpenApiParameter(
    "slug",
    {"type": "string", "pattern": serializers.SLUG, "maxLength": 120},
    OpenApiParameter.PATH,
    description="The restaurant's name in the address: small letters, digits and hyphens.",
)


class RestaurantViewSet(StrictViewSet[Restaurant]):
    """Search restaurants and look one up."""

    queryset = Restaurant.objects.none()
    serializer_class = serializers.RestaurantRecord
    filter_backends = []
    lookup_field = "slug"
    # Anything else cannot be a slug, and need not be looked up.
    lookup_value_regex = "[a-z0-9-]{1,120}"
    reads_query = ("list", "retrieve", "hours")

    @extend_schema(
        operation_id="search_restaurants",
        summary="Search restaurants",
        parameters=[filters.Search],
        responses=openapi.answers({200: serializers.SearchAnswer}),
    )
    def list(self, request: Request) -> Response:
        """Around a landmark or a point, open now or at a moment, by words, cuisine, price and rating. Free; no key.

        Nothing in reach is an empty list. `near` that means nothing is 400 `place_not_resolved` with suggestions.
        Restaurants that have closed for good are not listed, those without a location not found by place.
        """
        query = search.Query(**filters.Search.read(request))
        page = search.find(query, now=timezone.now())
        return Response(serializers.SearchAnswer(page).data)

    @extend_schema(
        operation_id="get_restaurant",
        summary="Look a restaurant up",
        parameters=[SLUG, filters.Selection],
        responses=openapi.answers({200: serializers.RestaurantRecord}, refusals=[404]),
    )
    def retrieve(self, request: Request, slug: str) -> Response:
        """Its slug, its name and the field groups that were asked for. `core` is free; no key."""
        selection = filters.Selection.read(request)
        values = groups.record(slug, groups=selection["fields"], now=timezone.now())
        return Response(serializers.RestaurantRecord(values).data)

    @extend_schema(
        operation_id="get_restaurant_hours",
        summary="See when a restaurant is open",
        parameters=[SLUG, filters.Days],
        responses=openapi.answers({200: serializers.OpeningsRecord}, refusals=[404]),
    )
    @action(detail=True)
    def hours(self, request: Request, slug: str) -> Response:
        """The open spans of some days with their special days, on the restaurant's clock. Free; no key."""
        days = filters.Days.read(request)
        found = openings.of_days(slug, first=days.get("from"), last=days.get("to"), now=timezone.now())
        return Response(serializers.OpeningsRecord(found).data)

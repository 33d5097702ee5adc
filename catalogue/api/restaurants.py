"""REST views of restaurants."""

from functools import partial

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request

from catalogue import field_groups, filters, paywall, responses, search, serializers
from catalogue.api.openapi_responses import (
    CONDITIONAL,
    MOVED,
    PAYMENT,
    SLUG,
    free_responses,
    paid_responses,
    product_extensions,
)
from catalogue.filters.history import RestaurantParams
from catalogue.hours import date_range
from catalogue.models import Restaurant
from payments.interface import PREMIUM, DataViewSet

FOUND = PolymorphicProxySerializer(
    component_name="FoundRestaurants",
    serializers=[serializers.SearchAnswer, serializers.BatchAnswer],
    resource_type_field_name=None,
    many=False,
)


class RestaurantViewSet(DataViewSet[Restaurant]):
    """Search and retrieve restaurants."""

    queryset = Restaurant.objects.none()
    serializer_class = serializers.RestaurantRecord
    lookup_field = "slug"
    # No other text is a slug.
    lookup_value_regex = "[a-z0-9-]{1,120}"
    query_actions = ("list", "retrieve", "hours")

    @extend_schema(
        operation_id="search_restaurants",
        summary="Search restaurants",
        parameters=[filters.SearchParams, *CONDITIONAL],
        responses=free_responses(FOUND, errors=[403]),
    )
    def list(self, request: Request) -> HttpResponse:
        """Search by location, opening hours, words, cuisine, price and rating. Free; no key.

        No match is an empty list. An unknown `near` is 400 `place_not_resolved` with suggestions. Restaurants that
        have closed for good are left out, and a search by location leaves out those without one. `slugs` looks up
        restaurants instead of searching.
        """
        params = filters.SearchParams.read(request)
        now = timezone.now()
        if "slugs" in params:
            paywall.require_tier(request, PREMIUM)
            return paywall.build_response(request, search.look_up_slugs(**params, now=now).to_json(), now=now)
        return paywall.serve(request, responses.search_results(params, now=now), now=now)

    @extend_schema(
        operation_id="get_restaurant",
        summary="Retrieve a restaurant",
        parameters=[SLUG, RestaurantParams, *PAYMENT],
        responses=paid_responses(serializers.RestaurantRecord),
        extensions=product_extensions(*(group.product for group in field_groups.GROUPS.values() if group.product)),
    )
    def retrieve(self, request: Request, slug: str) -> HttpResponse:
        """The slug, the name and the requested field groups.

        `core` is free; no key. The others are paid by x402, one payment for a call: without a payment the response is
        402 with the price. `context` is sold to every tier, `reviews` and `photos` from Pro, `ai_insight` and
        `history` from Premium. A group without content is null and free. `at` returns `core` as of a past moment, sold
        as `history`. The slug of a renamed or merged restaurant is 308.
        """
        selection = RestaurantParams.read(request)
        now = timezone.now()
        is_buyer = partial(paywall.is_buyer, request, "ai_insight", now=now)
        return paywall.serve(request, responses.restaurant(slug, selection, now=now, is_buyer=is_buyer), now=now)

    @extend_schema(
        operation_id="get_restaurant_hours",
        summary="List the opening hours of a restaurant",
        parameters=[SLUG, filters.HoursParams, *CONDITIONAL, MOVED],
        responses=free_responses(serializers.HoursForDatesRecord, errors=[308, 404, 410]),
    )
    @action(detail=True)
    def hours(self, request: Request, slug: str) -> HttpResponse:
        """The open intervals, special days and public holidays of some days, in local time. Free; no key.

        `spans` is null if the hours are unknown, and empty for a closed restaurant.
        """
        days = filters.HoursParams.read(request)
        now = timezone.now()
        found = date_range.list_hours(slug, first=days.get("from"), last=days.get("to"), now=now)
        return paywall.build_response(request, serializers.HoursForDatesRecord(found).data, now=now)

"""Restaurants over HTTP."""

from functools import partial

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request

from catalogue import field_groups, filters, paywall, responses, search, serializers
from catalogue.api.openapi_responses import CONDITIONAL, MOVED, PAYMENT, SLUG, free, sells, sold
from catalogue.filters.history import LookBack
from catalogue.hours import date_range
from catalogue.models import Restaurant
from payments.identity.drf_authentication import DataViewSet
from payments.tiers.definitions import PREMIUM

FOUND = PolymorphicProxySerializer(
    component_name="FoundRestaurants",
    serializers=[serializers.SearchAnswer, serializers.BatchAnswer],
    resource_type_field_name=None,
    many=False,
)


class RestaurantViewSet(DataViewSet[Restaurant]):
    """Search restaurants and look one up."""

    queryset = Restaurant.objects.none()
    serializer_class = serializers.RestaurantRecord
    lookup_field = "slug"
    # Anything else cannot be a slug, and need not be looked up.
    lookup_value_regex = "[a-z0-9-]{1,120}"
    query_actions = ("list", "retrieve", "hours")

    @extend_schema(
        operation_id="search_restaurants",
        summary="Search restaurants",
        parameters=[filters.Search, *CONDITIONAL],
        responses=free(FOUND, errors=[403]),
    )
    def list(self, request: Request) -> HttpResponse:
        """Around a landmark or a point, open now or at a moment, by words, cuisine, price and rating. Free; no key.

        Nothing in reach is an empty list. `near` that means nothing is 400 `place_not_resolved` with suggestions.
        Restaurants that have closed for good are not listed, those without a location not found by place. With `slugs`
        nothing is searched for: these restaurants are looked up.
        """
        given = filters.Search.read(request)
        now = timezone.now()
        if "slugs" in given:
            paywall.require_tier(request, PREMIUM)
            return paywall.answer(request, search.look_up(**given, now=now).to_json(), now=now)
        return paywall.served(request, responses.found(given, now=now), now=now)

    @extend_schema(
        operation_id="get_restaurant",
        summary="Look a restaurant up",
        parameters=[SLUG, LookBack, *PAYMENT],
        responses=sold(serializers.RestaurantRecord),
        extensions=sells(*(group.product for group in field_groups.GROUPS.values() if group.product)),
    )
    def retrieve(self, request: Request, slug: str) -> HttpResponse:
        """Its slug, its name and the field groups that were asked for.

        `core` is free; no key. The others are paid for by x402, each call as a whole: without a payment the answer is
        402 with what it costs. `context` is sold to every tier, `reviews` and `photos` from Pro, `ai_insight` and
        `history` from Premium. A group without content is null and costs nothing. `at` is `core` as it was at some
        moment, and sold as `history`. A former slug, or that of a restaurant that was found to be another, is 308.
        """
        selection = LookBack.read(request)
        now = timezone.now()
        is_buyer = partial(paywall.is_buyer, request, "ai_insight", now=now)
        return paywall.served(request, responses.restaurant(slug, selection, now=now, is_buyer=is_buyer), now=now)

    @extend_schema(
        operation_id="get_restaurant_hours",
        summary="See when a restaurant is open",
        parameters=[SLUG, filters.Days, *CONDITIONAL, MOVED],
        responses=free(serializers.OpeningsRecord, errors=[308, 404, 410]),
    )
    @action(detail=True)
    def hours(self, request: Request, slug: str) -> HttpResponse:
        """The open spans, special days and public holidays of some days, on its own clock. Free; no key.

        `spans` is null where the hours are not known, and empty for a place that is closed, whatever its hours say.
        """
        days = filters.Days.read(request)
        now = timezone.now()
        found = date_range.of_days(slug, first=days.get("from"), last=days.get("to"), now=now)
        return paywall.answer(request, serializers.OpeningsRecord(found).data, now=now)

"""Restaurants over HTTP."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from catalogue import filters, groups, openings, search, selling, serializers
from catalogue.models import Restaurant
from config.api import openapi
from config.api.viewsets import StrictViewSet
from payments.authentication import WalletAuthentication

SLUG = OpenApiParameter(
    "slug",
    {"type": "string", "pattern": serializers.SLUG, "maxLength": 120},
    OpenApiParameter.PATH,
    description="The restaurant's name in the address: small letters, digits and hyphens.",
)

CHALLENGE = (
    "Something that was asked for is to be paid: `x402` and `PAYMENT-REQUIRED` say how, as the body does in version 1."
)


def header(name: str, words: str, *, response: int | None = None, required: bool = False) -> OpenApiParameter:
    """A header of a request, or of one of its answers."""
    answers = None if response is None else [response]
    return OpenApiParameter(
        name, str, OpenApiParameter.HEADER, description=words, response=answers or False, required=required
    )


PAYMENT = [
    header("X-Payment", "The payment: of x402 version 1, or the hash of a transaction that has paid."),
    header("PAYMENT-SIGNATURE", "The payment of x402 version 2."),
    header("X-Receipt", "Of an answer that was paid: brings it again."),
    header("x402", "Asset, decimal amount, receiver and network, in JSON.", response=402, required=True),
    header("PAYMENT-REQUIRED", "The challenge of x402 version 2, in base64.", response=402, required=True),
    header("PAYMENT-RESPONSE", "Where it was paid: the settlement of x402 version 2, in base64.", response=200),
    header("X-PAYMENT-RESPONSE", "Where it was paid: the settlement of x402 version 1.", response=200),
    header("X-Receipt", "Where it was paid: send it along to be served again.", response=200),
]


class RestaurantViewSet(StrictViewSet[Restaurant]):
    """Search restaurants and look one up."""

    authentication_classes = [WalletAuthentication]
    permission_classes = [AllowAny]
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
        parameters=[SLUG, filters.Selection, *PAYMENT],
        responses={
            **openapi.answers({200: serializers.RestaurantRecord}, refusals=[308, 403, 404, 410]),
            402: OpenApiResponse(serializers.PaymentRequiredRecord, description=CHALLENGE),
        },
    )
    def retrieve(self, request: Request, slug: str) -> Response:
        """Its slug, its name and the field groups that were asked for.

        `core` is free; no key. The others are paid for by x402, each call as a whole: without a payment the answer is
        402 with what it costs. `context` is sold to every tier, `reviews` from Pro, `ai_insight` from Premium. A group
        without content is null and costs nothing.
        """
        selection = filters.Selection.read(request)
        now = timezone.now()
        record = groups.record(slug, groups=selection["fields"], now=now)
        return selling.answer(request, serializers.document(record), sold=record.sold, now=now)

    @extend_schema(
        operation_id="get_restaurant_hours",
        summary="See when a restaurant is open",
        parameters=[SLUG, filters.Days],
        responses=openapi.answers({200: serializers.OpeningsRecord}, refusals=[308, 404, 410]),
    )
    @action(detail=True)
    def hours(self, request: Request, slug: str) -> Response:
        """The open spans, special days and public holidays of some days, on its own clock. Free; no key.

        `spans` is null where the hours are not known, and empty for a place that is closed, whatever its hours say.
        """
        days = filters.Days.read(request)
        now = timezone.now()
        found = openings.of_days(slug, first=days.get("from"), last=days.get("to"), now=now)
        return selling.answer(request, serializers.OpeningsRecord(found).data, now=now)

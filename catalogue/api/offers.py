"""Offers and bookings over HTTP."""

from collections.abc import Mapping
from http import HTTPStatus

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import idempotency
from catalogue import paywall, responses
from catalogue.api.openapi_responses import CONDITIONAL, MOVED, SLUG, free
from catalogue.filters.offers import Offers, Slots
from catalogue.models import FlowBooking, FlowSlot
from catalogue.offers import booking, idempotent_booking, search
from catalogue.offers.booking import Booked
from catalogue.offers.idempotent_booking import Wish
from catalogue.serializers import offers as serializers
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.urls import public_url
from framework.errors import InvalidRequest
from payments.identity.drf_authentication import DataViewSet

KEY = OpenApiParameter(
    idempotency.HEADER,
    idempotency.SCHEMA,
    OpenApiParameter.HEADER,
    required=True,
    description="Any text of yours, a new one for each booking. Sent again within 24 hours, the same request has no"
    " second effect and the same answer.",
)
TOKEN = OpenApiParameter(
    "X-Manage-Token",
    {"type": "string", "maxLength": 200},
    OpenApiParameter.HEADER,
    required=True,
    description="`manage_token` of the booking.",
)
# Anything else cannot be an id, and need not be looked up.
ID = "[a-z0-9_]{1,40}"


class FlowSlotViewSet(DataViewSet[FlowSlot]):
    """The offers of one restaurant."""

    queryset = FlowSlot.objects.none()
    serializer_class = serializers.FlowSlotRecord

    @extend_schema(
        operation_id="list_restaurant_offers",
        summary="See a restaurant's offers",
        parameters=[SLUG, Slots, *CONDITIONAL, MOVED],
        responses=free(serializers.FlowSlotAnswer, errors=[308, 404, 410]),
    )
    def list(self, request: Request, slug: str) -> HttpResponse:
        """Discounts at a time of day, soonest first: of one day, or of the next 14. Free; no key.

        Those that cannot be booked say why by their `status`. A restaurant that offers nothing has an empty list.
        """
        asked = Slots.read(request)
        now = timezone.now()
        return paywall.served(request, responses.offers_of(slug, asked, now=now), now=now)


class FlowOfferViewSet(DataViewSet[FlowSlot]):
    """The offers of all restaurants, and the tables that are booked at them."""

    queryset = FlowSlot.objects.none()
    serializer_class = serializers.FlowSlotRecord
    lookup_url_kwarg = "id"
    lookup_value_regex = ID

    @extend_schema(
        operation_id="search_offers",
        summary="Find offers around a place",
        parameters=[Offers, *CONDITIONAL],
        responses=free(serializers.FlowOfferAnswer),
    )
    def list(self, request: Request) -> HttpResponse:
        """Discounts that can be booked now, soonest first and of one moment the nearest, with their restaurants.

        Free; no key. Around a landmark or a point, in a market, or everywhere.
        """
        asked = Offers.read(request)
        now = timezone.now()
        return paywall.served(request, responses.offers(asked, now=now), now=now)

    @extend_schema(
        operation_id="get_offer",
        summary="Look an offer up",
        parameters=[schema.path_id("fo"), *CONDITIONAL],
        responses=free(serializers.FlowSlotRecord, errors=[404]),
    )
    def retrieve(self, request: Request, id: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """An offer and how it stands, also when it is over. Free; no key."""
        now = timezone.now()
        offer = search.one(booking.offer_key(id), now=now)
        return paywall.answer(request, serializers.FlowSlotRecord(offer).data, now=now)

    @extend_schema(
        operation_id="book_offer",
        summary="Book a table at an offer",
        parameters=[schema.path_id("fo"), KEY, schema.LOCATION],
        request=serializers.NewFlowBooking,
        responses=schema.documented_responses({201: serializers.FlowBookingRecord}, errors=[404, 409]),
    )
    @action(detail=True, methods=["post"])
    def bookings(self, request: Request, id: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """A table in the restaurant's own book, confirmed at once, or 409 and nothing is stored. Free; no key.

        The guest gets the restaurant's mail. One contact may hold three tables at offers that are still to come, and
        from one address ten tries are taken in an hour.
        """
        if idempotency.HEADER not in request.headers:
            raise InvalidRequest(
                f"Send the header `{idempotency.HEADER}` with a text of your own, so that nothing is booked twice.",
                param=idempotency.HEADER,
            )
        form = serializers.NewFlowBooking(data=json_body(request))
        form.is_valid(raise_exception=True)
        wish = Wish(at=id, guest=form.validated_data)
        return idempotency.respond_once(
            request, scope=wish.scope, effect=lambda: created(idempotent_booking.book(wish, now=timezone.now()))
        )


class FlowBookingViewSet(DataViewSet[FlowBooking]):
    """A table that was booked at an offer, for who has its token."""

    queryset = FlowBooking.objects.none()
    serializer_class = serializers.FlowBookingRecord
    lookup_url_kwarg = "id"
    lookup_value_regex = ID

    @extend_schema(
        operation_id="get_booking",
        summary="See a booking",
        parameters=[schema.path_id("fb"), TOKEN],
        responses=schema.documented_responses({200: serializers.FlowBookingRecord}, errors=[404]),
    )
    def retrieve(self, request: Request, id: str) -> Response:  # noqa: A002  # the name in the path
        """How it stands in the restaurant's book. Without the right token it is 404, as if there were none."""
        return answer(booking.shown(booking.find(id, token=token_of(request))))

    @extend_schema(
        operation_id="cancel_booking",
        summary="Cancel a booking",
        parameters=[schema.path_id("fb"), TOKEN],
        responses=schema.documented_responses({200: serializers.FlowBookingRecord}, errors=[404]),
    )
    def destroy(self, request: Request, id: str) -> Response:  # noqa: A002  # the name in the path
        """Until the guests are expected; the offer gets its seats back. To cancel again changes nothing and is 200."""
        return answer(booking.cancel(booking.find(id, token=token_of(request)), now=timezone.now()))


def created(booked: Booked) -> Response:
    """The record of a new booking, and where it is from now on."""
    location = public_url(f"/v1/flow/bookings/{booked.id}")
    return answer(booked, status=HTTPStatus.CREATED, headers={"Location": location})


def answer(booked: Booked, *, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> Response:
    """The record of a booking. It is about a person and holds the key to it, so no cache keeps it."""
    record = serializers.FlowBookingRecord(booked).data
    return Response(record, status=status, headers={"Cache-Control": "no-store, private", **(headers or {})})


def token_of(request: Request) -> str:
    """What proves that a booking is the caller's; empty without it."""
    return request.headers.get("X-Manage-Token", "")

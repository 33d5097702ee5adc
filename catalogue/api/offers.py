"""REST views of offers and bookings."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import idempotency
from catalogue import paywall, responses
from catalogue.api.openapi_responses import free_operation
from catalogue.bookings import tables
from catalogue.bookings.owners import owner_of
from catalogue.filters.offers import OfferParams
from catalogue.models import FlowBooking
from catalogue.offers import booking, idempotent_booking, search
from catalogue.offers.booking import NoSuchBooking
from catalogue.offers.idempotent_booking import BookingRequest
from catalogue.serializers import offers as serializers
from framework.api.cache_headers import NO_STORE
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.urls import public_url
from framework.errors import InvalidRequest
from payments.interface import DataViewSet

KEY = OpenApiParameter(
    idempotency.HEADER,
    idempotency.SCHEMA,
    OpenApiParameter.HEADER,
    required=True,
    description="A text that nobody guesses, such as a UUID, one for each booking. Repeated within 24 hours, the same"
    " request of the same caller has no second effect and the same response, which contains the `manage_token`.",
)
TOKEN = OpenApiParameter(
    "X-Manage-Token",
    {"type": "string", "maxLength": 200},
    OpenApiParameter.HEADER,
    required=True,
    description="`manage_token` of the booking.",
)
# No other text is an id.
ID = "[a-z0-9_]{1,40}"


class FlowOfferViewSet(DataViewSet[Any]):
    lookup_url_kwarg = "id"
    lookup_value_regex = ID

    @free_operation("search_offers", "Find offers around a place", OfferParams, answer=serializers.FlowOfferAnswer)
    def list(self, request: Request) -> HttpResponse:
        """Discounts that can be booked now with their restaurants, soonest first, then the nearest.

        Free; no key. Around a landmark or a point, in a market, or everywhere.
        """
        params = OfferParams.read(request)
        now = timezone.now()
        return paywall.serve(request, responses.offers(params, now=now), now=now)

    @free_operation(
        "get_offer", "Retrieve an offer", schema.path_id("fo"), answer=serializers.FlowSlotRecord, errors=[404]
    )
    def retrieve(self, request: Request, id: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """An offer with its status, even if it is over. Free; no key."""
        now = timezone.now()
        offer = search.get_slot(booking.parse_offer_id(id), now=now)
        return paywall.build_response(request, serializers.FlowSlotRecord(offer).data, now=now)

    @extend_schema(
        operation_id="book_offer",
        summary="Book a table at an offer",
        parameters=[schema.path_id("fo"), KEY, schema.LOCATION],
        request=serializers.NewFlowBooking,
        responses=schema.documented_responses({201: serializers.FlowBookingRecord}, errors=[404, 409]),
    )
    @action(detail=True, methods=["post"])
    def bookings(self, request: Request, id: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """Reserve a table with the restaurant: confirmed at once, or 409 and nothing is stored. Free; no key.

        The restaurant's confirmation is mailed to the guest. A contact has at most three upcoming bookings, and ten
        tries in an hour.
        """
        require_idempotency_key(request)
        form = serializers.NewFlowBooking(data=json_body(request))
        form.is_valid(raise_exception=True)
        booking_request = BookingRequest(at=id, guest=form.validated_data, owner=owner_of(request))
        return idempotency.respond_once(
            request,
            scope=booking_request.scope,
            effect=lambda: created(idempotent_booking.book_request(booking_request, now=timezone.now())),
        )


def require_idempotency_key(request: Request) -> None:
    """Raise InvalidRequest without the header: a booking whose answer is lost would be made twice."""
    if idempotency.HEADER not in request.headers:
        raise InvalidRequest(
            f"Send the header `{idempotency.HEADER}` with a text that nobody guesses, such as a UUID: a repeated"
            " request then books once.",
            param=idempotency.HEADER,
        )


class FlowBookingViewSet(DataViewSet[Any]):
    """A booking at an offer, for the owner of its token."""

    lookup_url_kwarg = "id"
    lookup_value_regex = ID

    @extend_schema(
        operation_id="get_booking",
        summary="Retrieve a booking",
        parameters=[schema.path_id("fb"), TOKEN],
        responses=schema.documented_responses({200: serializers.FlowBookingRecord}, errors=[404]),
    )
    def retrieve(self, request: Request, id: str) -> Response:  # noqa: A002  # the name in the path
        """A booking in its current state. 404 without the right token."""
        return answer(find(request, id))

    @extend_schema(
        operation_id="cancel_booking",
        summary="Cancel a booking",
        parameters=[schema.path_id("fb"), TOKEN],
        responses=schema.documented_responses({200: serializers.FlowBookingRecord}, errors=[404]),
    )
    def destroy(self, request: Request, id: str) -> Response:  # noqa: A002  # the name in the path
        """Cancel a booking before it begins, and release its seats. Cancelling again changes nothing and is 200."""
        return answer(booking.cancel_booking(find(request, id), now=timezone.now()))


def find(request: Request, public_id: str) -> FlowBooking:
    """Return the booking at an offer for the token of the request. Raises NoSuchBooking."""
    booked = tables.find_booking(public_id, token=request.headers.get("X-Manage-Token", ""))
    if booked.slot is None:
        raise NoSuchBooking
    return booked


def created(booked: FlowBooking) -> Response:
    location = public_url(f"/v1/flow/bookings/{booked.public_id}")
    return answer(booked, status=HTTPStatus.CREATED, headers={"Location": location})


def answer(booked: FlowBooking, *, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> Response:
    """Return the record of a booking. It is not cacheable, because it contains personal data and the token."""
    record = serializers.FlowBookingRecord(booked).data
    return Response(record, status=status, headers={**NO_STORE, **(headers or {})})

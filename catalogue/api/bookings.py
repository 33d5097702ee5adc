"""REST views of bookings of any table."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from catalogue.api.offers import ID
from catalogue.bookings import tables
from catalogue.bookings.owners import owners_of, require_owners
from catalogue.filters.bookings import BookingListParams
from catalogue.models import FlowBooking
from catalogue.offers.booking import cancel_booking
from catalogue.serializers import bookings as serializers
from framework.api.cache_headers import NO_STORE
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.urls import public_url
from payments.interface import DataViewSet, PaidResponse, Receipt

TOKEN = OpenApiParameter(
    "X-Manage-Token",
    {"type": "string", "maxLength": 200},
    OpenApiParameter.HEADER,
    description="`manage_token` of the booking. Without it the session or API key that booked the table.",
)


class BookingViewSet(DataViewSet[Any]):
    """Bookings of any table, for the holder of their token and for the wallet or account that booked them."""

    http_method_names = [*DataViewSet.http_method_names, "patch"]
    lookup_url_kwarg = "id"
    lookup_value_regex = ID

    @extend_schema(
        operation_id="list_bookings",
        summary="List your bookings, the latest first",
        parameters=[BookingListParams],
        responses=schema.documented_responses({200: serializers.BookingPage}, errors=[401]),
    )
    def list(self, request: Request) -> Response:
        """The bookings of your wallet or account, also those at offers. Free."""
        owners = require_owners(request)
        params, now = BookingListParams.read(request), timezone.now()
        listing = tables.list_bookings(owners, **params, now=now)
        return Response(serializers.BookingPage(listing).data, headers=NO_STORE)

    @extend_schema(
        operation_id="get_table_booking",
        summary="Retrieve a booking of any table",
        parameters=[schema.path_id("fb"), TOKEN],
        responses=schema.documented_responses({200: serializers.BookingRecord}, errors=[404]),
    )
    def retrieve(self, request: Request, id: str) -> Response:  # noqa: A002  # the name in the path
        """A booking in its current state. 404 without its token, for anybody but its owner."""
        return answer(find(request, id))

    @extend_schema(
        operation_id="change_booking",
        summary="Change a booking",
        parameters=[schema.path_id("fb"), TOKEN],
        request=serializers.BookingChanges,
        responses=schema.documented_responses({200: serializers.BookingRecord}, errors=[404, 409]),
    )
    def partial_update(self, request: Request, id: str) -> Response:  # noqa: A002
        """Another date, time, party size or area, if a table is free then; the booking keeps its table until then. The
        time and the party of a booking at an offer cannot be changed. The guest is mailed what changed.
        """
        booking = find(request, id)
        changes = serializers.BookingChanges.read(json_body(request))
        return answer(tables.reload(tables.change_booking(booking, changes, now=timezone.now())))

    @extend_schema(
        operation_id="cancel_table_booking",
        summary="Cancel a booking of any table",
        parameters=[schema.path_id("fb"), TOKEN],
        responses=schema.documented_responses({200: serializers.BookingRecord}, errors=[404]),
    )
    def destroy(self, request: Request, id: str) -> Response:  # noqa: A002
        """Cancel a booking before it begins, and release its table. Cancelling again changes nothing and is 200."""
        return answer(tables.reload(cancel_booking(find(request, id), now=timezone.now())))


def find(request: Request, public_id: str) -> FlowBooking:
    """Return the booking for the token or the caller of the request. Raises NoSuchBooking."""
    token = request.headers.get("X-Manage-Token", "")
    return tables.find_booking(public_id, token=token, owners=owners_of(request))


def created(booked: FlowBooking, *, receipt: Receipt | None = None) -> Response:
    """Return the record of a new booking, with the receipt of its deposit."""
    headers = {"Location": public_url(f"/v1/bookings/{booked.public_id}")}
    record = tables.reload(booked)
    if receipt is None:
        return answer(record, status=HTTPStatus.CREATED, headers=headers)
    return PaidResponse(serializers.BookingRecord(record).data, receipt, status=HTTPStatus.CREATED, headers=headers)


def answer(booked: FlowBooking, *, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> Response:
    """Return the record of a booking. It is not cacheable, because it contains personal data and the token."""
    return Response(serializers.BookingRecord(booked).data, status=status, headers={**NO_STORE, **(headers or {})})

"""The reservations endpoints."""

import re
from datetime import date
from functools import partial

from django.http import HttpResponse
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request

from accounts import idempotency
from accounts.api_keys.authentication import ApiKeyAuthentication, get_key_actor, get_key_family, get_request_venue
from accounts.api_keys.permissions import HasScope
from framework.api.filters import StrictChoiceFilter, parse_choice
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.pagination import page_number
from framework.api.query_params import parser
from framework.api.renderers import json_response
from framework.api.viewsets import StrictViewSet
from framework.errors import ErrorCode, InvalidRequest
from reservations import serializers
from reservations.api import openapi_examples
from reservations.booking import commands
from reservations.models import Reservation

STATUSES = tuple(Reservation.Status.values)
# The contract has no paging here, so `limit` is optional; `has_more` says whether there are more.
MAX_LIMIT = 1000


def parse_day(value: str | None, *, param: str) -> date | None:
    """Parse the day; None if it is empty. Raises InvalidRequest."""
    if not value:
        return None
    try:
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise ValueError
        return date.fromisoformat(value)
    except ValueError as error:
        raise InvalidRequest(f"`{param}` must be a day of the calendar written YYYY-MM-DD.", param=param) from error


class ReservationFilter(filters.FilterSet):
    """Documents the parameters, which the view parses."""

    date = filters.DateFilter(label="Only this day, by the venue's clock")
    status = StrictChoiceFilter(choices=Reservation.Status.choices, label="Only reservations of this status")

    class Meta:
        model = Reservation
        fields: list[str] = []


class ReservationViewSet(StrictViewSet[Reservation]):
    """Create and list reservations of the API key's venue."""

    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasScope]
    scope = "reservations"
    filterset_class = ReservationFilter
    page_parameters = ("limit", "page")
    queryset = Reservation.objects.none()
    serializer_class = serializers.ReservationRecord

    @extend_schema(
        operation_id="list_reservations",
        summary="List reservations, soonest first",
        parameters=[*schema.page_parameters(default=None), schema.LINK],
        responses={200: page_number.page_serializer(serializers.ReservationRecord, "ReservationPage")},
        extensions=schema.error_codes(),
        examples=openapi_examples.LIST,
    )
    def list(self, request: Request) -> HttpResponse:
        """Without `limit` all that match are returned, at most 1000."""
        params = parser.parse_query(request, ("date", "status", *self.page_parameters))
        state = parse_choice(params, "status", STATUSES)
        day = parse_day(params.get("date"), param="date")
        page = page_number.parse_page(params, default_limit=MAX_LIMIT)
        total, records = serializers.list_page(get_request_venue(request), page, status=state, day=day)
        return page_number.page_response(request, records, params=params, page=page, total=total)

    @extend_schema(
        operation_id="create_reservation",
        summary="Reserve a table",
        parameters=idempotency.PARAMETERS,
        request=serializers.NewReservation,
        responses={201: serializers.ReservationRecord},
        extensions=schema.error_codes(
            *(ErrorCode.SLOT_UNAVAILABLE, ErrorCode.OUTSIDE_SERVICE_HOURS),
            *(ErrorCode.IDEMPOTENCY_KEY_REUSED, ErrorCode.IDEMPOTENCY_IN_PROGRESS),
        ),
        examples=openapi_examples.CREATE,
    )
    def create(self, request: Request) -> HttpResponse:
        """Where the venue has tables and one is free, the reservation is confirmed; otherwise it is pending, and
        `pending_reason` says why. A time at which nobody is served, or nothing is free, is refused, and
        `error.alternatives` names others of that day. With an Idempotency-Key it can be sent again: it is taken once.
        """
        return idempotency.respond_once(request, scope=get_key_family(request), effect=partial(self.book, request))

    def book(self, request: Request) -> HttpResponse:
        values = serializers.NewReservation.read(json_body(request))
        reservation = commands.book(
            get_request_venue(request),
            now=timezone.now(),
            actor=get_key_actor(request),
            day=values.pop("date"),
            at=values.pop("time"),
            **values,
        )
        return json_response(serializers.to_json(reservation), status.HTTP_201_CREATED)

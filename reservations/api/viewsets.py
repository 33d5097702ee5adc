"""The reservations endpoints."""

from functools import partial

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request

from accounts import idempotency
from accounts.api_keys.authentication import KeyAuthentication, actor_of, family_of, venue_of
from accounts.api_keys.permissions import Scoped
from framework.api.filters import one_of
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.pagination import page_number
from framework.api.query_params import parser
from framework.api.renderers import in_json
from framework.api.viewsets import StrictViewSet
from framework.errors import Code
from reservations import serializers
from reservations.api import openapi_examples
from reservations.api.filters import ReservationFilter, parse_day
from reservations.booking import commands
from reservations.models import Reservation, ReservationQuerySet

STATUSES = tuple(Reservation.Status.values)
# The contract has no paging here, so `limit` is optional; `has_more` says whether there are more.
MAX_LIMIT = 1000


class ReservationViewSet(StrictViewSet[Reservation]):
    """Create and list reservations of the API key's venue."""

    authentication_classes = [KeyAuthentication]
    permission_classes = [Scoped]
    scope = "reservations"
    filterset_class = ReservationFilter
    page_parameters = ("limit", "page")
    queryset = Reservation.objects.none()
    serializer_class = serializers.ReservationRecord

    def get_queryset(self) -> ReservationQuerySet:
        return Reservation.objects.of(venue_of(self.request))

    @extend_schema(
        operation_id="list_reservations",
        summary="List reservations, soonest first",
        parameters=[*schema.page_parameters(default=None), schema.LINK],
        responses={200: page_number.page_of(serializers.ReservationRecord, "ReservationPage")},
        extensions=schema.refuses(),
        examples=openapi_examples.LIST,
    )
    def list(self, request: Request) -> HttpResponse:
        """Without `limit` all that match are returned, at most 1000."""
        params = parser.read(request, ("date", "status", *self.page_parameters))
        state = one_of(params, "status", STATUSES)
        day = parse_day(params.get("date"), param="date")
        page = page_number.read(params, default_limit=MAX_LIMIT)
        total, records = serializers.list_page(venue_of(request), page, status=state, day=day)
        return page_number.told(request, records, asked=params, page=page, total=total)

    @extend_schema(
        operation_id="create_reservation",
        summary="Reserve a table",
        parameters=idempotency.PARAMETERS,
        request=serializers.NewReservation,
        responses={201: serializers.ReservationRecord},
        extensions=schema.refuses(
            *(Code.SLOT_UNAVAILABLE, Code.OUTSIDE_SERVICE_HOURS),
            *(Code.IDEMPOTENCY_KEY_REUSED, Code.IDEMPOTENCY_IN_PROGRESS),
        ),
        examples=openapi_examples.CREATE,
    )
    def create(self, request: Request) -> HttpResponse:
        """Where the venue has tables and one is free, the reservation is confirmed; otherwise it is pending, and
        `pending_reason` says why. A time at which nobody is served, or nothing is free, is refused, and
        `error.alternatives` names others of that day. With an Idempotency-Key it can be sent again: it is taken once.
        """
        return idempotency.once(request, scope=family_of(request), effect=partial(self.book, request))

    def book(self, request: Request) -> HttpResponse:
        values = serializers.NewReservation.read(json_body(request))
        reservation = commands.book(
            venue_of(request),
            now=timezone.now(),
            actor=actor_of(request),
            day=values.pop("date"),
            at=values.pop("time"),
            **values,
        )
        return in_json(serializers.to_json(reservation), status.HTTP_201_CREATED)

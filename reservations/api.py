"""Reservations over HTTP."""

from functools import partial

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request

from accounts import idempotency
from accounts.authentication import KeyAuthentication, actor_of, family_of, venue_of
from accounts.scopes import Scoped
from config.api import openapi, pages, query
from config.api.filters import one_of
from config.api.parsers import json_body
from config.api.refusal import Code
from config.api.renderers import in_json
from config.api.viewsets import StrictViewSet
from reservations import booking, examples, record, serializers
from reservations.filters import ReservationFilter, day_of
from reservations.models import Reservation, Reservations

STATUSES = tuple(Reservation.Status.values)
# Seed 000 shows no paging here, so without `limit` all that match are returned; `has_more` tells of the rest.
MOST_AT_ONCE = 1000


class ReservationViewSet(StrictViewSet[Reservation]):
    """Create and list reservations of the venue that the key belongs to."""

    authentication_classes = [KeyAuthentication]
    permission_classes = [Scoped]
    scope = "reservations"
    filterset_class = ReservationFilter
    page_parameters = ("limit", "page")
    queryset = Reservation.objects.none()
    serializer_class = serializers.ReservationRecord

    def get_queryset(self) -> Reservations:
        """The reservations of the caller's venue."""
        return Reservation.objects.of(venue_of(self.request))

    @extend_schema(
        operation_id="list_reservations",
        summary="List reservations, soonest first",
        parameters=[*openapi.page_parameters(default=None), openapi.LINK],
        responses={200: pages.page_of(serializers.ReservationRecord, "ReservationPage")},
        extensions=openapi.refuses(),
        examples=examples.LIST,
    )
    def list(self, request: Request) -> HttpResponse:
        """Without `limit` all that match are returned, at most 1000."""
        asked = query.read(request, ("date", "status", *self.page_parameters))
        state = one_of(asked, "status", STATUSES)
        day = day_of(asked.get("date"), param="date")
        page = pages.read(asked, default_limit=MOST_AT_ONCE)
        total, shown = record.page_of(venue_of(request), page, status=state, day=day)
        return pages.told(request, shown, asked=asked, page=page, total=total)

    @extend_schema(
        operation_id="create_reservation",
        summary="Reserve a table",
        parameters=idempotency.PARAMETERS,
        request=serializers.NewReservation,
        responses={201: serializers.ReservationRecord},
        extensions=openapi.refuses(
            *(Code.SLOT_UNAVAILABLE, Code.OUTSIDE_SERVICE_HOURS),
            *(Code.IDEMPOTENCY_KEY_REUSED, Code.IDEMPOTENCY_IN_PROGRESS),
        ),
        examples=examples.CREATE,
    )
    def create(self, request: Request) -> HttpResponse:
        """Where the venue has tables and one is free, the reservation is confirmed; otherwise it is pending, and
        `pending_reason` says why. A time at which nobody is served, or nothing is free, is refused, and
        `error.alternatives` names others of that day. With an Idempotency-Key it can be sent again: it is taken once.
        """
        return idempotency.once(request, scope=family_of(request), effect=partial(self.book, request))

    def book(self, request: Request) -> HttpResponse:
        """Take the reservation that the body describes."""
        wanted = serializers.NewReservation.read(json_body(request))
        reservation = booking.book(
            venue_of(request),
            now=timezone.now(),
            actor=actor_of(request),
            day=wanted.pop("date"),
            at=wanted.pop("time"),
            **wanted,
        )
        return in_json(record.of(reservation), status.HTTP_201_CREATED)

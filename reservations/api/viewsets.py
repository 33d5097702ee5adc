"""The reservations endpoints."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request

from accounts import idempotency
from accounts.api_keys.authentication import ApiKeyAuthentication, get_key_actor, get_key_family, get_request_venue
from accounts.api_keys.permissions import HasScope
from accounts.models import Venue
from framework.api import conditional_requests
from framework.api.filters import StrictChoiceFilter, parse_choice
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.pagination import page_number
from framework.api.query_params import parser
from framework.api.query_params.declarations import DateTimeParam, parse_by_field
from framework.api.renderers import JSONRenderer, json_response
from framework.api.urls import public_url
from framework.api.viewsets import StrictViewSet
from framework.errors import ErrorCode, InvalidRequest, NotFound
from framework.public_ids import decode
from reservations import serializers
from reservations.api import openapi_examples
from reservations.booking import commands
from reservations.booking.availability import choose_area
from reservations.models import Reservation
from reservations.models.reservations import PREFIX

# Idempotency-Key of a request that creates nothing.
CHANGE_PARAMETERS = [parameter for parameter in idempotency.PARAMETERS if not parameter.response]
CHANGE_CODES = (
    *(ErrorCode.INVALID_TRANSITION, ErrorCode.NOT_FOUND, ErrorCode.VERSION_CONFLICT),
    *(ErrorCode.IDEMPOTENCY_KEY_REUSED, ErrorCode.IDEMPOTENCY_IN_PROGRESS),
)
# The fields of a body that commands.update takes as `guest`, and those that it calls otherwise.
GUEST_FIELDS = ("customer_name", "customer_email", "customer_phone", "special_requests", "metadata", "area")
RENAMED = {"date": "day", "time": "at"}
STATUSES = tuple(Reservation.Status.values)
MOMENT = DateTimeParam()
# The contract has no paging here, so `limit` is optional; `has_more` says whether there are more.
MAX_LIMIT = 1000


def parse_day(value: str, *, param: str) -> date:
    """Parse the day. Raises InvalidRequest."""
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
    updated_since = filters.IsoDateTimeFilter(
        label="Only reservations that were changed at this moment or later. With `cursor` the oldest change comes"
        " first, and none is missed"
    )

    class Meta:
        model = Reservation
        fields: list[str] = []


def filter_reservations(
    venue: Venue, *, status: str | None, day: date | None, updated_since: datetime | None
) -> QuerySet[Reservation]:
    """Return the venue's reservations that match, as serializers.list_page."""
    filters = {"status": status, "date": day, "updated_at__gte": updated_since}
    filters = {name: value for name, value in filters.items() if value is not None}
    return Reservation.objects.filter(venue=venue, **filters)


class ReservationViewSet(StrictViewSet[Reservation]):
    """Create and list reservations of the API key's venue."""

    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasScope]
    scope = "reservations"
    filterset_class = ReservationFilter
    page_parameters = ("limit", "page", "cursor")
    queryset = Reservation.objects.none()
    serializer_class = serializers.ReservationRecord

    @extend_schema(
        operation_id="list_reservations",
        summary="List reservations, soonest first",
        parameters=[
            *schema.page_parameters(default=None),
            *(schema.CURSOR, schema.LINK, schema.CONTENT_ETAG, schema.IF_NONE_MATCH_CONTENT),
        ],
        responses={
            200: page_number.page_serializer(
                serializers.ReservationRecord, "ReservationPage", pagination=page_number.CursorPagination
            ),
            304: schema.NOT_MODIFIED,
        },
        extensions=schema.error_codes(),
        examples=openapi_examples.LIST,
    )
    def list(self, request: Request) -> HttpResponse:
        """Without `limit` all that match are returned, at most 1000. A list that has not changed since
        the `ETag` that you send is a 304, which does not count.

        Instead of `page`, `cursor` continues where a page ended. With `updated_since` a cursor follows changes: the
        oldest is first, `next_cursor` is never null, and changes of the last three minutes may come again.
        """
        params = parser.parse_query(request, (*ReservationFilter.base_filters, *self.page_parameters))
        filters = {name: value for name, value in params.items() if name not in self.page_parameters}
        values = {
            "status": parse_choice(params, "status", STATUSES),
            "day": parse_day(params["date"], param="date") if "date" in params else None,
            "updated_since": parse_by_field(params, "updated_since", MOMENT),
        }
        page = page_number.parse_page(params, default_limit=MAX_LIMIT)
        venue = get_request_venue(request)
        now = venue.now()
        cursors = serializers.cursors_of(venue, filters)
        if "cursor" in params:
            if "page" in params:
                raise InvalidRequest("`page` and `cursor` exclude each other: leave one out.", param="page")
            rows = filter_reservations(venue, **values)
            found = cursors.read_page(rows, params["cursor"], limit=page.limit, now=now)
            return page_number.cursor_response(request, params=params, limit=page.limit, **found)
        total, records, last = serializers.list_page(venue, page, **values)
        cursor = cursors.after_page(last, now=now)
        return page_number.page_response(
            request, records, params=params, page=page, total=total, cursor={"next_cursor": cursor}
        )

    @extend_schema(
        operation_id="create_reservation",
        summary="Reserve a table",
        parameters=[schema.LOCATION, schema.ETAG, *idempotency.PARAMETERS],
        request=serializers.NewReservation,
        responses={201: serializers.ReservationRecord},
        extensions=schema.error_codes(
            *(ErrorCode.SLOT_UNAVAILABLE, ErrorCode.OUTSIDE_SERVICE_HOURS, ErrorCode.HOLD_ENDED),
            *(ErrorCode.IDEMPOTENCY_KEY_REUSED, ErrorCode.IDEMPOTENCY_IN_PROGRESS),
        ),
        examples=openapi_examples.CREATE,
    )
    def create(self, request: Request) -> HttpResponse:
        """Where the venue has tables and one is free, the reservation is confirmed; otherwise it is pending, and
        `pending_reason` says why. A time at which nobody is served, or nothing is free, is refused, and
        `error.alternatives` names others of that day. With an Idempotency-Key it can be sent again: it is taken once.
        `Location` is the address in v2, where one reservation can be read and changed.
        """
        return idempotency.respond_once(request, scope=get_key_family(request), effect=partial(self.book, request))

    def book(self, request: Request) -> HttpResponse:
        venue, values = get_request_venue(request), serializers.NewReservation.read(json_body(request))
        reservation = commands.book(
            venue,
            now=venue.now(),
            actor=get_key_actor(request),
            day=values.pop("date"),
            at=values.pop("time"),
            area=choose_area(venue, values.pop("area", None)),
            **values,
        )
        response = self.respond(reservation, status.HTTP_201_CREATED)
        response["Location"] = public_url(f"/api/v2/reservations/{reservation.public_id}")
        return response

    def respond(self, reservation: Reservation, code: int = status.HTTP_200_OK) -> HttpResponse:
        headers = {"ETag": conditional_requests.etag(reservation.version)}
        return json_response(serializers.to_json(reservation), code, headers=headers)


class SingleReservationViewSet(ReservationViewSet):
    """Besides, retrieve, change and cancel one reservation: v2."""

    http_method_names = [*ReservationViewSet.http_method_names, "patch"]
    lookup_url_kwarg = "id"

    @extend_schema(
        operation_id="get_reservation",
        summary="Retrieve a reservation",
        parameters=[schema.path_id("res"), schema.ETAG, schema.IF_NONE_MATCH],
        responses={200: serializers.ReservationRecord, 304: schema.NOT_MODIFIED},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND),
        examples=openapi_examples.RETRIEVE,
    )
    def retrieve(self, request: Request, id: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """The current reservation; 304 if If-None-Match has its version."""
        reservation = find(request, id)
        content = JSONRenderer().render(serializers.to_json(reservation))
        etag = conditional_requests.etag(reservation.version)
        return conditional_requests.conditional_response(request, content, etag=etag)

    @extend_schema(
        operation_id="change_reservation",
        summary="Change a reservation",
        parameters=[schema.path_id("res"), schema.ETAG, schema.IF_MATCH, *CHANGE_PARAMETERS],
        request=serializers.ReservationChanges,
        responses={200: serializers.ReservationRecord},
        extensions=schema.error_codes(*CHANGE_CODES, ErrorCode.SLOT_UNAVAILABLE, ErrorCode.OUTSIDE_SERVICE_HOURS),
        examples=openapi_examples.CHANGE,
    )
    def partial_update(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """A new date, time, party size or area follows the rule that creates reservations; the reservation keeps its
        table until another one is its own, so a refusal leaves it as it was. A pending reservation can be confirmed or
        cancelled, a confirmed one cancelled, and a cancelled one is final. `arrival` is recorded of confirmed parties.
        With If-Match it changes only if it has that version. The guest is mailed what changed.
        """
        effect = partial(self.change, request, id)
        return idempotency.respond_once(request, scope=get_key_family(request), effect=effect)

    def change(self, request: Request, public_id: str) -> HttpResponse:
        reservation = find(request, public_id)
        body = serializers.ReservationChanges.read(json_body(request))
        if "area" in body:
            body["area"] = choose_area(reservation.venue, body["area"])
        guest = {name: body.pop(name) for name in GUEST_FIELDS if name in body}
        changes = {RENAMED.get(name, name): value for name, value in body.items()} | (
            {"guest": guest} if guest else {}
        )
        return self.apply(request, reservation, changes)

    @extend_schema(
        operation_id="cancel_reservation",
        summary="Cancel a reservation",
        parameters=[schema.path_id("res"), schema.ETAG, schema.IF_MATCH, *CHANGE_PARAMETERS],
        responses={200: serializers.ReservationRecord},
        extensions=schema.error_codes(*CHANGE_CODES),
        examples=openapi_examples.CANCEL,
    )
    def destroy(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """Sets the status to cancelled and frees the tables; the record stays. Cancelling again changes nothing."""
        effect = partial(self.cancel, request, id)
        return idempotency.respond_once(request, scope=get_key_family(request), effect=effect)

    def cancel(self, request: Request, public_id: str) -> HttpResponse:
        return self.apply(request, find(request, public_id), {"status": Reservation.Status.CANCELLED})

    def apply(self, request: Request, reservation: Reservation, changes: Mapping[str, Any]) -> HttpResponse:
        versions, now = conditional_requests.if_match_versions(request), get_request_venue(request).now()
        commands.change(reservation, changes, versions=versions, now=now, actor=get_key_actor(request))
        return self.respond(reservation)


def find(request: Request, public_id: str) -> Reservation:
    """Return a reservation of the key's venue. Raises NotFound. One query."""
    venue, key = get_request_venue(request), decode(PREFIX, public_id)
    rows = Reservation.objects.filter(venue=venue).select_related("area")
    reservation = rows.filter(pk=key).first() if key else None
    if reservation is None:
        raise NotFound("There is no such reservation.")
    reservation.venue = venue
    return reservation

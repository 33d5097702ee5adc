"""The endpoints of holds."""

from functools import partial

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import idempotency
from accounts.api_keys.authentication import ApiKeyAuthentication, get_key_family, get_request_venue
from accounts.api_keys.permissions import HasScope
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.pagination.page_number import envelope_serializer
from framework.api.rate_limits.middleware import count_within_an_hour
from framework.api.urls import public_url
from framework.api.viewsets import StrictViewSet
from framework.errors import ErrorCode
from reservations import serializers
from reservations.api import openapi_examples
from reservations.booking import holds
from reservations.booking.availability import choose_area
from reservations.models import Hold

# Twenty tables that are held again and again for fifteen minutes each would be eighty.
MAX_AN_HOUR = 60


class HoldViewSet(StrictViewSet[Hold]):
    """Hold tables of the key's venue for some minutes, list and release them."""

    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasScope]
    scope = "reservations"
    queryset = Hold.objects.none()
    serializer_class = serializers.HoldRecord
    filter_backends = []
    query_actions = ()
    lookup_url_kwarg = "id"

    @extend_schema(
        operation_id="list_holds",
        summary="List holds",
        responses={200: envelope_serializer("HoldList", {"data": serializers.HoldRecord(many=True)})},
        extensions=schema.error_codes(),
        examples=openapi_examples.HOLD_LIST,
    )
    def list(self, request: Request) -> HttpResponse:
        """All holds of the venue that have not ended, the soonest party first."""
        venue = get_request_venue(request)
        found = holds.list_active(venue, now=venue.now())
        return Response({"data": serializers.HoldRecord(found, many=True).data})

    @extend_schema(
        operation_id="create_hold",
        summary="Hold a table",
        parameters=[schema.LOCATION, *idempotency.PARAMETERS],
        request=serializers.NewHold,
        responses={201: serializers.HoldRecord},
        extensions=schema.error_codes(
            *(ErrorCode.SLOT_UNAVAILABLE, ErrorCode.OUTSIDE_SERVICE_HOURS, ErrorCode.TOO_MANY_HOLDS),
            *(ErrorCode.IDEMPOTENCY_KEY_REUSED, ErrorCode.IDEMPOTENCY_IN_PROGRESS),
        ),
        examples=openapi_examples.CREATE_HOLD,
    )
    def create(self, request: Request) -> HttpResponse:
        """A table is kept for 1 to 15 minutes: send its `hold_id` with a new reservation to get that table. At
        `expires_at` it ends by itself. A key holds at most 20 tables at a time, and makes at most 60 holds an hour.
        """
        return idempotency.respond_once(request, scope=get_key_family(request), effect=partial(self.hold, request))

    def hold(self, request: Request) -> HttpResponse:
        venue = get_request_venue(request)
        values = serializers.NewHold.read(json_body(request))
        owner = get_key_family(request)
        # A refused hold is not counted, and one above the limit is not stored.
        with transaction.atomic():
            hold = holds.create(
                venue,
                owner=owner,
                day=values["date"],
                at=values["time"],
                party_size=values["party_size"],
                area=choose_area(venue, values.get("area")),
                minutes=values["minutes"],
                now=venue.now(),
            )
            count_within_an_hour("holds", owner, limit=MAX_AN_HOUR, what="holds of a key")
        location = public_url(f"{request.path.rstrip('/')}/{hold.public_id}")
        record = serializers.HoldRecord(hold).data
        return Response(record, status=status.HTTP_201_CREATED, headers={"Location": location})

    @extend_schema(
        operation_id="get_hold",
        summary="Retrieve a hold",
        parameters=[schema.path_id("hold")],
        responses={200: serializers.HoldRecord},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND),
        examples=openapi_examples.HOLD,
    )
    def retrieve(self, request: Request, id: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """404 if it has ended."""
        venue = get_request_venue(request)
        hold = holds.find(venue, id, now=venue.now())
        return Response(serializers.HoldRecord(hold).data)

    @extend_schema(
        operation_id="release_hold",
        summary="Release a hold",
        parameters=[schema.path_id("hold")],
        responses={200: serializers.HoldRecord},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND),
        examples=openapi_examples.HOLD,
    )
    def destroy(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """The table is free again at once. The hold as it was; 404 if it has ended."""
        venue = get_request_venue(request)
        hold = holds.find(venue, id, now=venue.now())
        holds.release(hold)
        return Response(serializers.HoldRecord(hold).data)

"""The clock of a sandbox, for tests of integrators."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import sandbox_clock
from accounts.api import openapi_examples
from accounts.api_keys.authentication import ApiKeyAuthentication, get_request_venue
from accounts.api_keys.permissions import HasScope
from accounts.models import SandboxClock, Venue
from framework.api.fields import ConstantField, StrictSerializer
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.query_params.declarations import DateTimeParam
from framework.api.viewsets import StrictViewSet
from framework.errors import ErrorCode


class ClockRecord(serializers.Serializer[Any]):
    """The clock of a sandbox."""

    object = ConstantField("clock")
    now = serializers.DateTimeField(help_text="What the clock shows, UTC. It goes on by itself.")
    ahead_s = serializers.IntegerField(min_value=0, help_text="How far it is ahead of the real time, in seconds.")


class ClockAdvance(StrictSerializer):
    """To which moment the clock is advanced."""

    to = DateTimeParam(
        help_text=f"Later than what the clock shows, by at most {sandbox_clock.MAX_ADVANCE.days} days. RFC 3339."
    )


class ClockViewSet(StrictViewSet[SandboxClock]):
    """The clock of the key's sandbox."""

    http_method_names = ["get", "post", "head"]
    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasScope]
    scope = "reservations"
    queryset = SandboxClock.objects.none()
    serializer_class = ClockRecord
    filter_backends = []
    query_actions = ()

    @extend_schema(
        operation_id="get_clock",
        summary="Read the clock of a sandbox",
        responses={200: ClockRecord},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND),
        examples=openapi_examples.CLOCK,
    )
    @action(detail=False, methods=["get"], url_path="clock")
    def read(self, request: Request) -> HttpResponse:
        """What the clock shows: until it is advanced, the real time. 404 for a key of a live venue."""
        venue = get_request_venue(request)
        if not venue.is_sandbox:
            raise sandbox_clock.NoSandboxClock
        return Response(show(venue))

    @extend_schema(
        operation_id="advance_clock",
        summary="Advance the clock of a sandbox",
        request=ClockAdvance,
        responses={200: ClockRecord},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND, ErrorCode.CLOCK_ADVANCING),
        examples=openapi_examples.ADVANCE_CLOCK,
    )
    @read.mapping.post
    def advance(self, request: Request) -> HttpResponse:
        """Does all that would have happened until then, in the order of time, and answers when it is done: holds and
        offers end, the waiting list moves up, reminders are due, webhooks are sent and sent again, and old data is
        erased. It goes only forwards. 404 for a key of a live venue.
        """
        venue = get_request_venue(request)
        sandbox_clock.advance(venue, to=ClockAdvance.read(json_body(request))["to"])
        return Response(show(venue))


def show(venue: Venue) -> dict[str, Any]:
    now = venue.now()
    return dict(ClockRecord({"now": now, "ahead_s": int(venue.clock_offset().total_seconds())}).data)

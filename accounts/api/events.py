"""The list of a venue's events, by which programs catch up with what they have missed."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from accounts.api import openapi_examples
from accounts.api_keys.authentication import ApiKeyAuthentication, get_request_venue
from accounts.api_keys.permissions import HasScope, InsufficientScope
from accounts.models import ApiKey, Event, EventType, Scope
from accounts.webhooks.http_client import body_of
from framework.api.fields import TextField
from framework.api.openapi import schema
from framework.api.pagination import page_number
from framework.api.pagination.list_cursors import ListCursors
from framework.api.query_params.declarations import DateTimeParam, IntegerParam, ListParam, QueryParams
from framework.api.viewsets import StrictViewSet
from framework.errors import InvalidRequest
from framework.public_ids import decode, pattern

# A transaction commits at most this long after the moment of its events: requests for tables wait for each other.
COMMIT_LAG = timedelta(minutes=3)
# The scope by which a key reads the records of a type. Exports are of an account, and pings of one endpoint.
SCOPES = {
    **{kind: Scope.ORDERS_READ for kind in EventType if kind.startswith(("order.", "menu."))},
    **{kind: Scope.RESERVATIONS_READ for kind in EventType if kind.startswith("reservation.")},
}
SUBJECT = "|".join(pattern(prefix).strip("^$") for prefix in ("ord", "res"))


class EventParams(QueryParams):
    """The parameters of GET /events."""

    type = ListParam(
        required=False,
        of="|".join(map(re.escape, SCOPES)),
        max_length=300,
        hint=f"These must be some of: {', '.join(SCOPES)}, with commas between them.",
        help_text="Only events of these types, with commas between them.",
    )
    subject = serializers.RegexField(
        f"^({SUBJECT})$", required=False, help_text="Only events of this order or reservation."
    )
    created_from = DateTimeParam(required=False, help_text="Only events of this moment or later.")
    after = serializers.RegexField(
        pattern("evt"),
        required=False,
        help_text="Begin three minutes before this event, so that none is missed that became visible later.",
    )
    limit = IntegerParam(
        required=False, min_value=1, max_value=page_number.MAX_LIMIT, default=100, help_text="Events on a page."
    )
    cursor = TextField(required=False, max_length=400, help_text="`next_cursor` of the answer before.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "after" in attrs and "created_from" in attrs:
            raise InvalidRequest("`after` and `created_from` exclude each other: leave one out.", param="after")
        return attrs


class EventRecord(serializers.Serializer[Any]):
    """An event: the body of its webhook, and its id."""

    id = serializers.RegexField(pattern("evt"), help_text="The `webhook-id` of its deliveries.")
    type = serializers.ChoiceField(choices=sorted(SCOPES))
    timestamp = serializers.DateTimeField(help_text="The time of the event, UTC.")
    data = serializers.DictField(  # type: ignore[assignment]  # the name of the field of webhooks
        help_text="The whole order, reservation or menu item, as it was then."
    )


class EventPagination(serializers.Serializer[Any]):
    """The position of a page in its list."""

    limit = serializers.IntegerField(min_value=1)
    has_more = serializers.BooleanField()
    next_cursor = serializers.CharField(help_text="Store it: give it as `cursor` for what comes next, also later.")


def readable_types(request: Request) -> list[EventType]:
    scopes = cast("ApiKey", request.auth).scopes
    return [kind for kind, scope in SCOPES.items() if scope in scopes]


class EventViewSet(StrictViewSet[Event]):
    """The events of the key's venue."""

    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasScope]
    scopes = ("orders", "reservations")
    queryset = Event.objects.none()
    serializer_class = EventRecord
    filter_backends = []

    @extend_schema(
        operation_id="list_events",
        summary="List events, oldest first",
        parameters=[EventParams, schema.LINK, schema.CONTENT_ETAG, schema.IF_NONE_MATCH_CONTENT],
        responses={
            200: page_number.envelope_serializer(
                "EventPage", {"data": EventRecord(many=True), "pagination": EventPagination()}
            ),
            304: schema.NOT_MODIFIED,
        },
        extensions=schema.error_codes(),
        examples=openapi_examples.EVENTS,
    )
    def list(self, request: Request) -> HttpResponse:
        """What happened to orders, reservations and the menu, for 90 days: those types that the key may read. Store
        `next_cursor`, which is never null, and continue with it after an outage: no event is missed. Events of the
        last three minutes may come again: skip those whose `id` you know.
        """
        params = EventParams.read(request)
        venue = get_request_venue(request)
        now = venue.now()
        types = choose_types(request, params.get("type"))
        events = Event.objects.filter(venue=venue, type__in=types)
        if "subject" in params:
            events = events.filter(subject=decode(params["subject"][:3], params["subject"]))
        if start := params.get("created_from") or ("after" in params and begin_before(params["after"])):
            events = events.filter(created_at__gte=start)
        query = request.query_params.dict()
        filters = {name: value for name, value in query.items() if name not in ("limit", "cursor")}
        cursors = ListCursors(
            name="events",
            owner=venue.pk,
            filters=filters,
            sort_key="created_at",
            followed_key="created_at",
            commit_lag=COMMIT_LAG,
            read_records=read_records,
        )
        cursor = params.get("cursor") or cursors.beginning(now=now)
        found = cursors.read_page(events, cursor, limit=params["limit"], now=now)
        return page_number.cursor_response(request, params=query, limit=params["limit"], **found)


def choose_types(request: Request, asked: Sequence[str] | None) -> list[EventType]:
    """Return the types that are asked for, or all that the key may read. Raises InsufficientScope."""
    readable = readable_types(request)
    for kind in asked or ():
        if kind not in readable:
            raise InsufficientScope(SCOPES[EventType(kind)])
    return [kind for kind in readable if not asked or kind in asked]


def begin_before(public_id: str) -> datetime:
    """Return the moment of an event, which its UUIDv7 has, less COMMIT_LAG. The event may be deleted.

    Raises InvalidRequest if the moment is after the year 9999.
    """
    key = cast("UUID", decode("evt", public_id))
    try:
        return datetime.fromtimestamp((key.int >> 80) / 1000, UTC) - COMMIT_LAG
    except (ValueError, OverflowError) as error:
        raise InvalidRequest("`after` is not the id of an event.", param="after") from error


def read_records(ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Return the events of these ids, in their order. One query."""
    events = Event.objects.in_bulk(ids)
    return [{"id": events[pk].public_id, **body_of(events[pk])} for pk in ids if pk in events]

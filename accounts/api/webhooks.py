"""Webhook endpoints and their deliveries."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, cast
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import idempotency
from accounts.api import openapi_examples, webhook_serializers
from accounts.api.events import SCOPES
from accounts.api_keys.authentication import ApiKeyAuthentication, get_key_actor, get_key_family, get_request_venue
from accounts.api_keys.permissions import HasScope, InsufficientScope
from accounts.models import ApiKey, EventType, OAuthGrant, Scope, WebhookDelivery, WebhookEndpoint
from accounts.oauth import access
from accounts.webhooks import endpoints
from accounts.webhooks.deliveries import filter_newest
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.pagination import page_number
from framework.api.pagination.list_cursors import ListCursors
from framework.api.urls import public_url
from framework.api.viewsets import StrictViewSet
from framework.db.actor import acting_as
from framework.errors import ErrorCode, NotFound
from framework.public_ids import decode

# The scopes by which keys read the records of a venue's events.
RECORD_SCOPES = tuple(dict.fromkeys(SCOPES.values()))
ENDPOINT_ID = schema.path_id("whk")
# Where the answer does not have it.
ID_OF_EXAMPLE = schema.path_id("whk", example=openapi_examples.WEBHOOK_ID)


class WebhookViewSet(StrictViewSet[WebhookEndpoint]):
    """The webhook endpoints of the key's venue.

    A key reads and changes the endpoints that receive no more than it may read itself: otherwise it could send itself
    the records that its scopes withhold. An app reads and changes those that it has created for the
    same member.
    """

    http_method_names = ["get", "post", "patch", "delete", "head"]
    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasScope]
    scope = "webhooks"
    queryset = WebhookEndpoint.objects.none()
    serializer_class = webhook_serializers.WebhookRecord
    filter_backends = []
    query_actions = ("list_deliveries",)
    lookup_url_kwarg = "id"

    @extend_schema(
        operation_id="list_webhooks",
        summary="List webhook endpoints",
        responses={
            200: page_number.envelope_serializer("WebhookList", {"data": webhook_serializers.WebhookRecord(many=True)})
        },
        extensions=schema.error_codes(),
        examples=openapi_examples.WEBHOOKS,
    )
    def list(self, request: Request) -> HttpResponse:
        """All endpoints of the venue, at most 20, the newest first. Those that receive events of records that the key
        may not read are left out; for an app, those that it has not created too.
        """
        rows = list_endpoints(request).order_by("-created_at", "-pk")
        shown = [row for row in rows if find_missing_scope(request, row.types) is None]
        return Response({"data": webhook_serializers.WebhookRecord(shown, many=True).data})

    @extend_schema(
        operation_id="create_webhook",
        summary="Create a webhook endpoint",
        parameters=[schema.LOCATION, *idempotency.PARAMETERS],
        request=webhook_serializers.NewWebhook,
        responses={201: webhook_serializers.WebhookWithSecret},
        extensions=schema.error_codes(
            *(ErrorCode.TOO_MANY_WEBHOOKS, ErrorCode.IDEMPOTENCY_KEY_REUSED, ErrorCode.IDEMPOTENCY_IN_PROGRESS)
        ),
        examples=openapi_examples.CREATE_WEBHOOK,
    )
    def create(self, request: Request) -> HttpResponse:
        """The answer has the `secret` that signs its requests: store it, no other answer has it. An answer that is
        repeated for the same Idempotency-Key has null: rotate the secret, or delete the endpoint and create another.
        The key needs the scopes that read the records of these types, for all types `orders:read` and
        `reservations:read`. The endpoint outlives the key; that of an app is disabled when its access ends.
        """
        scope, effect = get_key_family(request), partial(self.add, request)
        return idempotency.respond_once(request, scope=scope, effect=effect, secret="secret")  # noqa: S106  # a name

    def add(self, request: Request) -> HttpResponse:
        values = webhook_serializers.NewWebhook.read(json_body(request))
        check_types(request, values["types"])
        with acting_as(get_key_actor(request)), transaction.atomic():
            endpoint, secret = endpoints.create(get_request_venue(request), grant=lock_grant(request), **values)
        location = public_url(f"{request.path.rstrip('/')}/{endpoint.public_id}")
        return Response(show(endpoint, secret=secret), status=status.HTTP_201_CREATED, headers={"Location": location})

    @extend_schema(
        operation_id="get_webhook",
        summary="Retrieve a webhook endpoint",
        parameters=[ENDPOINT_ID],
        responses={200: webhook_serializers.WebhookRecord},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND),
        examples=openapi_examples.WEBHOOK,
    )
    def retrieve(self, request: Request, id: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """The endpoint without its secret."""
        return Response(show(find_endpoint(request, id)))

    @extend_schema(
        operation_id="change_webhook",
        summary="Change a webhook endpoint",
        parameters=[ENDPOINT_ID],
        request=webhook_serializers.WebhookChanges,
        responses={200: webhook_serializers.WebhookRecord},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND),
        examples=openapi_examples.CHANGE_WEBHOOK,
    )
    def partial_update(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """Sets what the body names and nothing else. Deliveries that wait go to the new URL, which has not failed yet.
        `disabled` fails those that wait; `enabled` begins with the events from then on.
        """
        find_endpoint(request, id)
        changes = webhook_serializers.WebhookChanges.read(json_body(request))
        new_status = changes.pop("status", None)
        with acting_as(get_key_actor(request)), transaction.atomic():
            grant = lock_grant(request)
            endpoint = find_endpoint(request, id, is_locked=True)
            check_types(request, changes.get("types", endpoint.types))
            if changes.get("url", endpoint.url) != endpoint.url:
                check_pending(request, endpoint)
            endpoints.update(endpoint, **changes)
            if new_status == WebhookEndpoint.Status.ENABLED:
                endpoints.enable(endpoint, grant=grant)
            elif new_status == WebhookEndpoint.Status.DISABLED:
                endpoints.disable(endpoint, now=get_request_venue(request).now())
            endpoint.refresh_from_db()
        return Response(show(endpoint))

    @extend_schema(
        operation_id="delete_webhook",
        summary="Delete a webhook endpoint",
        parameters=[ENDPOINT_ID],
        responses={200: webhook_serializers.WebhookRecord},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND),
        examples=openapi_examples.WEBHOOK,
    )
    def destroy(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """Deletes the endpoint with its deliveries. The endpoint as it was."""
        endpoint = find_endpoint(request, id)
        record = show(endpoint)
        with acting_as(get_key_actor(request)):
            endpoints.delete(endpoint)
        return Response(record)

    @extend_schema(
        operation_id="rotate_webhook_secret",
        summary="Rotate the secret of a webhook endpoint",
        parameters=[ENDPOINT_ID],
        request=None,
        responses={200: webhook_serializers.WebhookWithSecret},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND, ErrorCode.SECRET_ROTATION_IN_PROGRESS),
        examples=openapi_examples.ROTATE_WEBHOOK,
    )
    @action(detail=True, methods=["post"])
    def rotate(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """The answer has the new `secret`, and no other answer has it. For 24 hours deliveries are signed with the
        previous secret, too; until then it cannot be rotated again.
        """
        with acting_as(get_key_actor(request)), transaction.atomic():
            endpoint = find_endpoint(request, id, is_locked=True)
            secret = endpoints.rotate_secret(endpoint, now=timezone.now())
        return Response(show(endpoint, secret=secret))

    @extend_schema(
        operation_id="test_webhook",
        summary="Send a test event",
        parameters=[ID_OF_EXAMPLE],
        request=None,
        responses={200: webhook_serializers.DeliveryRecord},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND, ErrorCode.WEBHOOK_DISABLED),
        examples=openapi_examples.TEST_WEBHOOK,
    )
    @action(detail=True, methods=["post"])
    def test(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """Sends `webhook.ping` to this endpoint only. The delivery, whose state is in the list of deliveries."""
        with transaction.atomic():
            endpoint = find_endpoint(request, id, is_locked=True)
            key = endpoints.send_test_event(
                endpoint, actor=get_key_actor(request), now=get_request_venue(request).now()
            )
            (record,) = read_deliveries([key])
        return Response(record)

    @extend_schema(
        operation_id="list_webhook_deliveries",
        summary="List deliveries, newest first",
        parameters=[
            *(ID_OF_EXAMPLE, webhook_serializers.DeliveryParams),
            *(schema.LINK, schema.CONTENT_ETAG, schema.IF_NONE_MATCH_CONTENT),
        ],
        responses={
            200: page_number.envelope_serializer(
                "DeliveryPage",
                {
                    "data": webhook_serializers.DeliveryRecord(many=True),
                    "pagination": webhook_serializers.DeliveryPagination(),
                },
            ),
            304: schema.NOT_MODIFIED,
        },
        extensions=schema.error_codes(ErrorCode.NOT_FOUND),
        examples=openapi_examples.DELIVERIES,
    )
    @action(detail=True, methods=["get"], url_path="deliveries")
    def list_deliveries(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """What was sent to the endpoint in 90 days, and what waits. `state` and `type` look at the newest 10,000
        deliveries.
        """
        params = webhook_serializers.DeliveryParams.read(request)
        endpoint, now = find_endpoint(request, id), get_request_venue(request).now()
        types = params.get("type")
        if types:
            check_types(request, types)
        elif hidden := list_hidden_types(request):
            # Of events that the endpoint received before its types were changed.
            types = [kind for kind in EventType if kind not in hidden]
        conditions = {"state": params.get("state"), "event__type__in": types}
        deliveries = filter_newest(
            WebhookDelivery.objects.filter(endpoint=endpoint),
            **{name: value for name, value in conditions.items() if value},
        )
        query = request.query_params.dict()
        cursors = ListCursors(
            name="webhook_deliveries",
            owner=endpoint.pk,
            filters={name: value for name, value in query.items() if name not in ("limit", "cursor")},
            sort_key="-created_at",
            commit_lag=timedelta(),
            read_records=read_deliveries,
        )
        cursor = params.get("cursor") or cursors.beginning(now=now)
        found = cursors.read_page(deliveries, cursor, limit=params["limit"], now=now)
        return page_number.cursor_response(request, params=query, limit=params["limit"], **found)

    @extend_schema(
        operation_id="resend_webhook_delivery",
        summary="Resend a delivery",
        parameters=[ID_OF_EXAMPLE, schema.path_id("evt", "event_id")],
        request=None,
        responses={200: webhook_serializers.DeliveryRecord},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND, ErrorCode.WEBHOOK_DISABLED),
        examples=openapi_examples.RESEND_DELIVERY,
    )
    @action(detail=True, methods=["post"], url_path="deliveries/(?P<event_id>[^/]+)/resend")
    def resend(self, request: Request, id: str, event_id: str) -> HttpResponse:  # noqa: A002
        """Sends an event again, with the same `webhook-id` and a new schedule of retries, also one that has arrived.
        A delivery that is being sent at this moment stays as it is.
        """
        with transaction.atomic():
            endpoint = find_endpoint(request, id, is_locked=True)
            deliveries = WebhookDelivery.objects.filter(endpoint=endpoint, event=decode("evt", event_id))
            delivery = deliveries.select_related("event").defer("event__record").first()
            if delivery is None:
                raise NotFound("There is no delivery of this event to this webhook endpoint.")
            check_types(request, [delivery.event.type])
            endpoints.resend(delivery, now=get_request_venue(request).now())
            (record,) = read_deliveries([delivery.pk])
        return Response(record)

    @extend_schema(
        operation_id="resend_failed_webhook_deliveries",
        summary="Resend the failed deliveries",
        parameters=[ID_OF_EXAMPLE],
        request=webhook_serializers.FailedSince,
        responses={200: webhook_serializers.ResentRecord},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND, ErrorCode.WEBHOOK_DISABLED),
        examples=openapi_examples.RESEND_FAILED,
    )
    @action(detail=True, methods=["post"])
    def resend_failed(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """Sends the deliveries again that failed since a moment, the earliest first, at most 20,000 in a call."""
        endpoint = find_endpoint(request, id)
        since = webhook_serializers.FailedSince.read(json_body(request))["since"]
        hidden = list_hidden_types(request)
        resent = endpoints.resend_failed(
            endpoint,
            since=since,
            now=get_request_venue(request).now(),
            types=[kind for kind in EventType if kind not in hidden] if hidden else None,
            limit=endpoints.MAX_RESENT,
        )
        return Response({"resent": resent, "has_more": resent >= endpoints.MAX_RESENT})


def get_needed_scopes(types: Collection[str]) -> Sequence[Scope]:
    """Return the scopes by which a key reads the records of events of these types, without any of all types.

    Exports are of the account: they need all of these scopes. Pings have no record.
    """
    if not types or EventType.EXPORT_FINISHED.value in types:
        return RECORD_SCOPES
    needed = {SCOPES.get(EventType(kind)) for kind in types}
    return [scope for scope in RECORD_SCOPES if scope in needed]


def find_missing_scope(request: Request, types: Collection[str]) -> Scope | None:
    """Return a scope that the key needs for these types and lacks; None if it has all."""
    scopes = cast("ApiKey", request.auth).scopes
    return next((scope for scope in get_needed_scopes(types) if scope not in scopes), None)


def check_types(request: Request, types: Collection[str]) -> None:
    """Raise InsufficientScope unless the key may read the records of events of these types, without any of all."""
    missing = find_missing_scope(request, types)
    if missing is not None:
        raise InsufficientScope(missing)


def list_hidden_types(request: Request) -> Sequence[EventType]:
    """Return the types of events whose records the key may not read."""
    return [kind for kind in EventType if find_missing_scope(request, [kind.value]) is not None]


def check_pending(request: Request, endpoint: WebhookEndpoint) -> None:
    """Raise InsufficientScope if events wait for the endpoint that the key may not read: a new URL would get them.

    They are from before its types were changed. Requires the lock on the endpoint.
    """
    waiting = WebhookDelivery.objects.filter(endpoint=endpoint, state=WebhookDelivery.State.PENDING)
    hidden = list_hidden_types(request)
    if hidden and (delivery := waiting.filter(event__type__in=hidden).select_related("event").first()):
        check_types(request, [delivery.event.type])


def list_endpoints(request: Request) -> QuerySet[WebhookEndpoint]:
    """Return the endpoints of the key's venue; for an app only those that it has created itself for the same member.

    Others would outlive its access, if it gave them an URL of its own. Those of a grant of the member that has ended
    are among them, so that the app can enable them with the next one.
    """
    rows, key = WebhookEndpoint.objects.filter(venue=get_request_venue(request)), cast("ApiKey", request.auth)
    return rows if key.grant is None else rows.filter(grant__app=key.grant.app_id, grant__user=key.grant.user_id)


def lock_grant(request: Request) -> OAuthGrant | None:
    """Lock what an app was granted until the transaction ends; None for a key. Raises AccessEnded if it has ended."""
    grant = cast("ApiKey", request.auth).grant
    if grant is not None:
        access.lock_grant(grant, get_request_venue(request), path="/api", now=timezone.now())
    return grant


def find_endpoint(request: Request, public_id: str, *, is_locked: bool = False) -> WebhookEndpoint:
    """Return the key's endpoint with this id. One query. Raises EndpointNotFound and InsufficientScope.

    `is_locked`, its types stay what they are until the transaction ends.
    """
    key, rows = decode("whk", public_id), list_endpoints(request)
    rows = rows.select_for_update(no_key=True) if is_locked else rows
    endpoint = rows.filter(pk=key).first() if key else None
    if endpoint is None:
        raise endpoints.EndpointNotFound
    check_types(request, endpoint.types)
    return endpoint


def show(endpoint: WebhookEndpoint, **more: str) -> Mapping[str, Any]:
    """Return the record of an endpoint, with what only this answer has."""
    return {**webhook_serializers.WebhookRecord(endpoint).data, **more}


def read_deliveries(keys: Sequence[UUID]) -> list[dict[str, Any]]:
    """Return the records of these deliveries, in their order. One query."""
    rows = WebhookDelivery.objects.select_related("event").defer("event__record").in_bulk(keys)
    return [dict(webhook_serializers.DeliveryRecord(rows[key]).data) for key in keys if key in rows]

"""The orders endpoints."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.http import HttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request

from accounts import idempotency
from accounts.api_keys.authentication import ApiKeyAuthentication, get_key_actor, get_key_family, get_request_venue
from accounts.api_keys.permissions import HasScope
from framework.api import conditional_requests
from framework.api.fields import TextField
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
from orders import commands, order_json, serializers
from orders.api import openapi_examples
from orders.models import Order, Orders

STATUSES = tuple(Order.Status.values)
CUSTOMER_ID = TextField(max_length=64)
MOMENT = DateTimeParam()


class OrderFilter(filters.FilterSet):
    """Documents the parameters, which the view parses."""

    status = StrictChoiceFilter(choices=Order.Status.choices, label="Only orders of this status")
    stage = StrictChoiceFilter(
        choices=Order.Stage.choices, label="Only orders of this stage; a cancelled order keeps its last one"
    )
    customer_id = filters.CharFilter(label="Only orders of this customer", max_length=64)
    created_from = filters.IsoDateTimeFilter(label="Only orders that were placed at this moment or later")
    created_to = filters.IsoDateTimeFilter(label="Only orders that were placed before this moment")
    updated_since = filters.IsoDateTimeFilter(
        label="Only orders that were changed at this moment or later. With `cursor` the oldest change comes first, and"
        " none is missed"
    )

    class Meta:
        model = Order
        fields: list[str] = []


def filter_orders(params: Mapping[str, str]) -> Orders:
    """Return the orders that match the parameters, of any venue. Raises InvalidRequest, ValidationError."""
    created_from, created_to, updated_since = (
        parse_by_field(params, name, MOMENT) for name in ("created_from", "created_to", "updated_since")
    )
    if created_from and created_to and created_from >= created_to:
        raise InvalidRequest("`created_to` must be later than `created_from`.", param="created_to")
    filters = {
        "status": parse_choice(params, "status", STATUSES),
        "customer_id": parse_by_field(params, "customer_id", CUSTOMER_ID),
        "created_at__gte": created_from,
        "created_at__lt": created_to,
        "updated_at__gte": updated_since,
    }
    orders = Order.objects.filter(**{name: value for name, value in filters.items() if value is not None})
    stage = parse_choice(params, "stage", Order.Stage.values)
    return orders.of_stage(stage) if stage else orders


class OrderViewSet(StrictViewSet[Order]):
    """Create, list, retrieve, complete and cancel orders of the key's venue."""

    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasScope]
    scope = "orders"
    filterset_class = OrderFilter
    page_parameters = ("limit", "page", "cursor")
    queryset = Order.objects.none()
    serializer_class = serializers.OrderRecord
    lookup_url_kwarg = "id"

    @extend_schema(
        operation_id="list_orders",
        summary="List orders, newest first",
        parameters=[
            *schema.page_parameters(default=page_number.DEFAULT_LIMIT),
            *(schema.CURSOR, schema.LINK, schema.CONTENT_ETAG, schema.IF_NONE_MATCH_CONTENT),
        ],
        responses={
            200: page_number.page_serializer(
                serializers.OrderRecord, "OrderPage", pagination=page_number.CursorPagination
            ),
            304: schema.NOT_MODIFIED,
        },
        extensions=schema.error_codes(),
        examples=openapi_examples.LIST,
    )
    def list(self, request: Request) -> HttpResponse:
        """A page past the end is empty. `pagination.total` counts all orders that match. Filters can be combined.

        Instead of `page`, `cursor` continues where a page ended: no order is repeated or left out when others arrive.
        With `updated_since` a cursor follows changes: the oldest is first, `next_cursor` is never null, and changes of
        the last minute may come again. A list that has not changed since the `ETag` that you send is a 304, which does
        not count.
        """
        params = parser.parse_query(request, (*OrderFilter.base_filters, *self.page_parameters))
        filters = {name: value for name, value in params.items() if name not in self.page_parameters}
        page = page_number.parse_page(params)
        venue = get_request_venue(request)
        now = venue.now()
        cursors = order_json.cursors_of(venue, filters)
        if "cursor" in params:
            if "page" in params:
                raise InvalidRequest("`page` and `cursor` exclude each other: leave one out.", param="page")
            found = cursors.read_page(filter_orders(filters).of(venue), params["cursor"], limit=page.limit, now=now)
            return page_number.cursor_response(request, params=params, limit=page.limit, **found)
        if filters == {"stage": Order.Stage.HANDED_OVER}:
            filters = {"status": Order.Status.COMPLETED}
        # All orders and those of a status have counters.
        if filters.keys() <= {"status"}:
            state = parse_choice(filters, "status", STATUSES)
            total, records, last = order_json.read_page(venue, page, status=state)
        else:
            total, records, last = order_json.read_filtered_page(venue, page, filter_orders(filters))
        cursor = cursors.after_page(last, now=now)
        return page_number.page_response(
            request, records, params=params, page=page, total=total, cursor={"next_cursor": cursor}
        )

    @extend_schema(
        operation_id="create_order",
        summary="Place an order",
        parameters=[schema.LOCATION, schema.ETAG, *idempotency.PARAMETERS],
        request=serializers.NewOrder,
        responses={201: serializers.OrderRecord},
        extensions=schema.error_codes(
            ErrorCode.SLOT_UNAVAILABLE, ErrorCode.IDEMPOTENCY_KEY_REUSED, ErrorCode.IDEMPOTENCY_IN_PROGRESS
        ),
        examples=openapi_examples.CREATE,
    )
    def create(self, request: Request) -> HttpResponse:
        """The order is pending and gets a number for the counter. If the venue has a published menu, each item must be
        on it and available, and the response has names and prices. A time that the kitchen cannot meet is refused with
        the next one in `alternatives`. A request with an Idempotency-Key can be repeated: the order is placed once.
        """
        return idempotency.respond_once(request, scope=get_key_family(request), effect=partial(self.place, request))

    def place(self, request: Request) -> HttpResponse:
        body = serializers.NewOrder.read(json_body(request))
        record = commands.place_order(
            get_request_venue(request), now=get_request_venue(request).now(), actor=get_key_actor(request), **body
        )
        response = self.respond(record, status.HTTP_201_CREATED)
        response["Location"] = public_url(f"{request.path.rstrip('/')}/{record['id']}")
        return response

    @extend_schema(
        operation_id="get_order",
        summary="Retrieve an order",
        parameters=[schema.path_id("ord"), schema.ETAG, schema.IF_NONE_MATCH],
        responses={200: serializers.OrderRecord, 304: schema.NOT_MODIFIED},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND),
        examples=openapi_examples.RETRIEVE,
    )
    def retrieve(self, request: Request, id: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """The current order; 304 if If-None-Match has its version."""
        record = order_json.find_record(id, venue=get_request_venue(request))
        if record is None:
            raise NotFound("There is no such order.")
        etag = conditional_requests.etag(record["version"])
        return conditional_requests.conditional_response(request, JSONRenderer().render(record), etag=etag)

    @extend_schema(
        operation_id="set_order_status",
        summary="Complete or cancel an order",
        parameters=[schema.path_id("ord"), schema.ETAG, schema.IF_MATCH],
        request=serializers.NewStatus,
        responses={200: serializers.OrderRecord},
        extensions=schema.error_codes(ErrorCode.INVALID_TRANSITION, ErrorCode.NOT_FOUND, ErrorCode.VERSION_CONFLICT),
        examples=openapi_examples.SET_STATUS,
    )
    @action(detail=True, methods=["put"], url_path="status")
    def set_status(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """A pending order can be completed or cancelled; both are final. Setting the current status changes nothing
        and is not an error. With If-Match the status changes only if the order has that version.
        """
        order = self.find_order(request, id)
        body = serializers.NewStatus.read(json_body(request))
        commands.change_status(
            order,
            body["status"],
            now=get_request_venue(request).now(),
            actor=get_key_actor(request),
            versions=conditional_requests.if_match_versions(request),
        )
        return self.respond(order_json.serialize_order(order))

    @extend_schema(
        operation_id="set_order_stage",
        summary="Move an order through the kitchen",
        parameters=[schema.path_id("ord"), schema.ETAG, schema.IF_MATCH],
        request=serializers.NewStage,
        responses={200: serializers.OrderRecord},
        extensions=schema.error_codes(ErrorCode.INVALID_TRANSITION, ErrorCode.NOT_FOUND, ErrorCode.VERSION_CONFLICT),
        examples=openapi_examples.SET_STAGE,
    )
    @action(detail=True, methods=["put"], url_path="stage")
    def set_stage(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """A pending order moves from `received` to `accepted`, `preparing` and `ready`, never back; stages can be
        skipped. `handed_over` completes it. Setting the current stage changes nothing and is not an error. With
        If-Match the stage changes only if the order has that version.
        """
        order = self.find_order(request, id)
        commands.change_stage(
            order,
            serializers.NewStage.read(json_body(request))["stage"],
            now=get_request_venue(request).now(),
            actor=get_key_actor(request),
            versions=conditional_requests.if_match_versions(request),
        )
        return self.respond(order_json.serialize_order(order))

    def find_order(self, request: Request, public_id: str) -> Order:
        """Return an order of the key's venue with its lines. Raises NotFound. Two queries."""
        venue = get_request_venue(request)
        order = Order.objects.of(venue).with_public_id(public_id).with_items().first()
        if order is None:
            raise NotFound("There is no such order.")
        # Saves the query for the venue.
        order.venue = venue
        return order

    def respond(self, record: Mapping[str, Any], code: int = status.HTTP_200_OK) -> HttpResponse:
        return json_response(record, code, headers={"ETag": conditional_requests.etag(record["version"])})

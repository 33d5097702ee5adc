"""Orders over HTTP."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import idempotency
from accounts.api_keys.authentication import KeyAuthentication, actor_of, family_of, venue_of
from accounts.api_keys.permissions import Scoped
from framework.api import conditional_requests
from framework.api.filters import parse_choice
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.pagination import page_number
from framework.api.query_params import parser
from framework.api.renderers import json_response
from framework.api.urls import public_url
from framework.api.viewsets import StrictViewSet
from framework.errors import ErrorCode, NotFound
from orders import commands, order_json, serializers
from orders.api import openapi_examples
from orders.api.filters import OrderFilter
from orders.models import Order, Orders

STATUSES = tuple(Order.Status.values)


class OrderViewSet(StrictViewSet[Order]):
    """Create, list, retrieve and move orders of the venue that the key belongs to."""

    authentication_classes = [KeyAuthentication]
    permission_classes = [Scoped]
    scope = "orders"
    filterset_class = OrderFilter
    page_parameters = ("limit", "page")
    queryset = Order.objects.none()
    serializer_class = serializers.OrderRecord
    lookup_url_kwarg = "id"

    def get_queryset(self) -> Orders:
        """The orders of the caller's venue."""
        return Order.objects.of(venue_of(self.request))

    def order(self, public_id: str) -> Order:
        """The order of this id. Raises NotFound for an unknown, a malformed and another venue's id alike."""
        order = self.get_queryset().known_as(public_id).with_items().first()
        if order is None:
            raise NotFound("There is no such order.")
        # Who moves it asks for its venue.
        order.venue = venue_of(self.request)
        return order

    @extend_schema(
        operation_id="list_orders",
        summary="List orders, newest first",
        parameters=[*schema.page_parameters(default=page_number.DEFAULT_LIMIT), schema.LINK],
        responses={200: page_number.page_serializer(serializers.OrderRecord, "OrderPage")},
        extensions=schema.error_codes(),
        examples=openapi_examples.LIST,
    )
    def list(self, request: Request) -> HttpResponse:
        """A page past the end is empty. `pagination.total` counts all orders that match."""
        asked = parser.parse_query(request, ("status", *self.page_parameters))
        page = page_number.parse_page(asked)
        state = parse_choice(asked, "status", STATUSES)
        total, shown = order_json.page_of(venue_of(request), page, status=state)
        return page_number.page_response(request, shown, params=asked, page=page, total=total)

    @extend_schema(
        operation_id="create_order",
        summary="Place an order",
        parameters=[schema.LOCATION, schema.ETAG, *idempotency.PARAMETERS],
        request=serializers.NewOrder,
        responses={201: serializers.OrderRecord},
        extensions=schema.error_codes(ErrorCode.IDEMPOTENCY_KEY_REUSED, ErrorCode.IDEMPOTENCY_IN_PROGRESS),
        examples=openapi_examples.CREATE,
    )
    def create(self, request: Request) -> HttpResponse:
        """The order is pending, and has a number that is called out at the counter. Where the venue publishes a menu,
        each item must be on it and sold now, and the answer has names and prices. With an Idempotency-Key it can be
        sent again: it is placed once.
        """
        return idempotency.once(request, scope=family_of(request), effect=partial(self.place, request))

    def place(self, request: Request) -> HttpResponse:
        """Place the order that the body describes."""
        wanted = serializers.NewOrder.read(json_body(request))
        told = commands.place(venue_of(request), now=timezone.now(), actor=actor_of(request), **wanted)
        answer = self.answer(told, status.HTTP_201_CREATED)
        answer["Location"] = public_url(f"/api/v1/orders/{told['id']}")
        return answer

    @extend_schema(
        operation_id="get_order",
        summary="Retrieve an order",
        parameters=[schema.path_id("ord"), schema.ETAG, schema.IF_NONE_MATCH],
        responses={200: serializers.OrderRecord, 304: schema.NOT_MODIFIED},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND),
        examples=openapi_examples.RETRIEVE,
    )
    def retrieve(self, request: Request, id: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """The order as it is now; 304 where If-None-Match names its version."""
        told = order_json.known_as(id, venue=venue_of(request))
        if told is None:
            raise NotFound("There is no such order.")
        if conditional_requests.matches_if_none_match(request, told["version"]):
            return Response(
                status=status.HTTP_304_NOT_MODIFIED, headers={"ETag": conditional_requests.etag(told["version"])}
            )
        return self.answer(told)

    @extend_schema(
        operation_id="set_order_status",
        summary="Complete or cancel an order",
        parameters=[schema.path_id("ord"), schema.ETAG, schema.IF_MATCH],
        request=serializers.NewStatus,
        responses={200: serializers.OrderRecord},
        extensions=schema.error_codes(ErrorCode.INVALID_TRANSITION, ErrorCode.NOT_FOUND, ErrorCode.VERSION_CONFLICT),
        examples=openapi_examples.MOVE,
    )
    @action(detail=True, methods=["put"], url_path="status")
    def move(self, request: Request, id: str) -> HttpResponse:  # noqa: A002
        """A pending order can be completed or cancelled, and that is final. The status that it has already changes
        nothing and is no error. With If-Match the order moves only from the version that it names.
        """
        order = self.order(id)
        wanted = serializers.NewStatus.read(json_body(request))
        commands.move(
            order,
            wanted["status"],
            now=timezone.now(),
            actor=actor_of(request),
            versions=conditional_requests.if_match_versions(request),
        )
        return self.answer(order_json.of(order))

    def answer(self, told: Mapping[str, Any], code: int = status.HTTP_200_OK) -> HttpResponse:
        """The record with its version as an entity tag."""
        return json_response(told, code, headers={"ETag": conditional_requests.etag(told["version"])})

"""The endpoints of the menu."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request

from accounts.api_keys.authentication import ApiKeyAuthentication, get_key_actor, get_request_venue
from accounts.api_keys.permissions import HasScope
from accounts.models import Venue
from framework.api import conditional_requests
from framework.api.filters import parse_choice
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.query_params import parser
from framework.api.renderers import JSONRenderer, json_response
from framework.api.viewsets import StrictViewSet
from framework.db.actor import acting_as
from framework.db.read_snapshot import read_snapshot
from framework.errors import ErrorCode, NotFound
from orders import serializers
from orders.api import openapi_examples
from orders.menu import replacement
from orders.menu import serializers as menu_serializers
from orders.menu.documents import items_with_groups, render_menu, serialize_item
from orders.menu.item_changes import change_items, check_values
from orders.models import Menu, MenuItem

# 2,000 dishes with long texts in some languages.
MAX_BODY_BYTES = 4 * 1024 * 1024
REF_LENGTH = 64
DRY_RUN = OpenApiParameter(
    "dry_run", bool, description="`true`: answer what the document would change, and write nothing."
)
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="An ETag as you got it; a menu that has changed is 412."
)
ITEM_ID = OpenApiParameter(
    "id", {"type": "string", "maxLength": REF_LENGTH}, OpenApiParameter.PATH, description="The `menu_item_id`."
)


class MenuViewSet(StrictViewSet[Menu]):
    """The menu of the key's venue."""

    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasScope]
    scope = "orders"
    write_scope = "menu"
    queryset = Menu.objects.none()
    serializer_class = serializers.MenuRecord
    filter_backends = []
    query_actions = ("replace",)

    @extend_schema(
        operation_id="get_menu",
        summary="Retrieve the menu",
        parameters=[schema.CONTENT_ETAG, schema.IF_NONE_MATCH_CONTENT],
        responses={200: serializers.MenuRecord, 304: schema.NOT_MODIFIED},
        extensions=schema.error_codes(),
        examples=openapi_examples.MENU,
    )
    def list(self, request: Request) -> HttpResponse:
        """All categories and dishes in their order, published or not, in one document; 304 if you have it. While a
        menu is published, orders contain only its dishes, at its prices. A venue without a menu has no categories.
        """
        with read_snapshot():
            content, etag = render_menu(get_request_venue(request), now=get_request_venue(request).now())
        return conditional_requests.conditional_response(request, content, etag=etag)

    @extend_schema(
        operation_id="replace_menu",
        summary="Replace the menu",
        parameters=[DRY_RUN, schema.CONTENT_ETAG, IF_MATCH],
        request=menu_serializers.MenuDocument,
        responses={
            200: PolymorphicProxySerializer(
                component_name="MenuOrChanges",
                serializers=[serializers.MenuRecord, menu_serializers.MenuChanges],
                resource_type_field_name=None,
            )
        },
        extensions=schema.error_codes(ErrorCode.VERSION_CONFLICT),
        examples=openapi_examples.REPLACE_MENU,
    )
    def replace(self, request: Request) -> HttpResponse:
        """The body is the whole menu, as `GET /menu` returns it: what that returned can be sent back. Everything is
        written or nothing. Dishes keep their photo and their id; those that are missing are removed. An id that is
        left out is derived from the name. With If-Match it is written only if the menu is still that one. At most
        2,000 dishes.
        """
        params = parser.parse_query(request, ("dry_run",))
        is_dry_run = parse_choice(params, "dry_run", ("true", "false")) == "true"
        document = menu_serializers.MenuDocument.read(json_body(request, limit=MAX_BODY_BYTES))
        venue = get_request_venue(request)
        now = venue.now()
        tags = conditional_requests.if_match_tags(request)
        if is_dry_run:
            changes, etag = replacement.preview(venue, document, tags=tags, now=now)
            return json_response(changes, headers={"ETag": etag})
        actor = get_key_actor(request)
        with acting_as(actor):
            content, etag = replacement.replace_menu(venue, document, tags=tags, actor=actor, now=now)
        return HttpResponse(content, content_type=JSONRenderer.media_type, headers={"ETag": etag})


class MenuItemViewSet(StrictViewSet[MenuItem]):
    """The dishes of the key's venue."""

    http_method_names = ["patch"]
    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasScope]
    scope = "menu"
    queryset = MenuItem.objects.none()
    serializer_class = serializers.MenuItemRecord
    filter_backends = []
    lookup_url_kwarg = "id"
    # An id may have slashes, also at its end.
    lookup_value_regex = ".+"

    @extend_schema(
        operation_id="change_menu_item",
        summary="Change the price, availability or stock of a dish",
        parameters=[ITEM_ID],
        request=menu_serializers.MenuItemChanges,
        responses={200: serializers.MenuItemRecord},
        extensions=schema.error_codes(ErrorCode.NOT_FOUND),
        examples=openapi_examples.CHANGE_MENU_ITEM,
    )
    def partial_update(self, request: Request, id: str) -> HttpResponse:  # noqa: A002  # the name in the path
        """Sets what the body names and nothing else. `stock` is the number of portions left from now on: orders that
        come later take theirs from it.
        """
        venue = get_request_venue(request)
        now = venue.now()
        ref = find_ref(venue, id)
        if ref is None:
            raise NotFound("There is no such dish.")
        rows = items_with_groups().filter(menu__venue=venue, ref=ref)
        changes: Mapping[str, Any] = menu_serializers.MenuItemChanges.read(json_body(request))
        check_values(changes, venue, now=now)
        actor = get_key_actor(request)
        with acting_as(actor):
            change_items(MenuItem.objects.filter(menu__venue=venue, ref=ref), changes, actor=actor, now=now)
        item = rows.first()
        if item is None:
            raise NotFound("There is no such dish.")
        return json_response(serialize_item(item, venue, now=now))


def find_ref(venue: Venue, name: str) -> str | None:
    """Return the id of the dish that a path names; None if there is none. One query.

    A path may end with a slash, as all do, and so may the id of a dish, which comes first.
    """
    if len(name) > REF_LENGTH + 1 or "\x00" in name:
        return None
    refs = (name, name.removesuffix("/"))
    found = set(MenuItem.objects.filter(menu__venue=venue, ref__in=refs).values_list("ref", flat=True))
    return next((ref for ref in refs if ref in found), None)

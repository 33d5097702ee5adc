"""The endpoint of the menu."""

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts.api_keys.authentication import ApiKeyAuthentication, get_request_venue
from accounts.api_keys.permissions import HasScope
from framework.api import conditional_requests
from framework.api.openapi import schema
from framework.api.renderers import JSONRenderer
from framework.api.viewsets import StrictViewSet
from orders import serializers
from orders.api import openapi_examples
from orders.menu.documents import serialize_menu
from orders.models import Menu


class MenuViewSet(StrictViewSet[Menu]):
    """The menu of the key's venue."""

    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasScope]
    scope = "orders"
    queryset = Menu.objects.none()
    serializer_class = serializers.MenuRecord
    filter_backends = []
    query_actions = ()

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
        venue = get_request_venue(request)
        record = serialize_menu(venue, now=timezone.now())
        content = JSONRenderer().render(record)
        etag = conditional_requests.content_etag(content)
        return conditional_requests.conditional_response(request, content, etag=etag)

"""The base viewset of both APIs."""

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, TypeVar

from django.db.models import Model
from rest_framework.request import Request
from rest_framework.viewsets import GenericViewSet

from framework.api.filters import StrictFilterBackend
from framework.api.query_params import parser
from framework.api.renderers import JSONRenderer

Row = TypeVar("Row", bound=Model)


class StrictViewSet(GenericViewSet[Row]):
    """A viewset without OPTIONS that rejects unknown query parameters.

    A list reads its parameters through `filter_queryset`; other actions have none, except those in `query_actions`.
    """

    http_method_names = ["get", "post", "put", "delete", "head"]
    filter_backends = [StrictFilterBackend]
    pagination_class = None
    # Actions that read the query string themselves.
    query_actions: ClassVar[Sequence[str]] = ("list",)

    def get_authenticators(self) -> list[Any]:
        """Instances are shared by all requests, here and in the methods below: ours are stateless."""
        return _instances(tuple(self.authentication_classes))

    def get_permissions(self) -> list[Any]:
        return _instances(tuple(self.permission_classes))

    def get_parsers(self) -> list[Any]:
        return _instances(tuple(self.parser_classes))

    def get_renderers(self) -> list[Any]:
        return _instances(tuple(self.renderer_classes))

    @property
    def default_response_headers(self) -> dict[str, str]:
        """The methods of the URL."""
        return {"Allow": _allow_header(tuple(self.http_method_names), tuple(self.action_map or ()))}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Reject a query string that the action does not read. Raises InvalidRequest.

        Does what DRF does before a view runs, without content negotiation, versioning and throttling, which are the
        same for all of our views.
        """
        request.accepted_renderer, request.accepted_media_type = self.get_renderers()[0], JSONRenderer.media_type
        request.version = request.versioning_scheme = None
        self.perform_authentication(request)
        self.check_permissions(request)
        # The action is None for a method that the URL does not have.
        if self.action and self.action not in self.query_actions:
            parser.parse_query(request, ())


@cache
def _allow_header(known: tuple[str, ...], methods: tuple[str, ...]) -> str:
    return ", ".join(method.upper() for method in known if method in methods)


@cache
def _instances(kinds: tuple[type[Any], ...]) -> list[Any]:
    return [kind() for kind in kinds]

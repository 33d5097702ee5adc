"""What the viewsets of both APIs have in common."""

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
    """No OPTIONS, and no query parameter that nobody reads.

    A list reads its own through `filter_queryset`; any other action has none unless it stands in `query_actions`.
    """

    http_method_names = ["get", "post", "put", "delete", "head"]
    filter_backends = [StrictFilterBackend]
    pagination_class = None
    # Actions that read their own query string.
    query_actions: ClassVar[Sequence[str]] = ("list",)

    def get_authenticators(self) -> list[Any]:
        """One of each for all requests, like what follows: none of ours remembers any."""
        return _made(tuple(self.authentication_classes))

    def get_permissions(self) -> list[Any]:
        """See `get_authenticators`."""
        return _made(tuple(self.permission_classes))

    def get_parsers(self) -> list[Any]:
        """See `get_authenticators`."""
        return _made(tuple(self.parser_classes))

    def get_renderers(self) -> list[Any]:
        """See `get_authenticators`."""
        return _made(tuple(self.renderer_classes))

    @property
    def default_response_headers(self) -> dict[str, str]:
        """The methods of the address."""
        return {"Allow": _allowed(tuple(self.http_method_names), tuple(self.action_map or ()))}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a query string where none is read. Raises InvalidRequest.

        What DRF does before a view runs, but for what is one for all of ours: there is a single representation, and
        neither versions nor throttles.
        """
        request.accepted_renderer, request.accepted_media_type = self.get_renderers()[0], JSONRenderer.media_type
        request.version = request.versioning_scheme = None
        self.perform_authentication(request)
        self.check_permissions(request)
        # An action is None for a method that the address does not have.
        if self.action and self.action not in self.query_actions:
            parser.parse_query(request, ())


@cache
def _allowed(known: tuple[str, ...], methods: tuple[str, ...]) -> str:
    return ", ".join(method.upper() for method in known if method in methods)


@cache
def _made(kinds: tuple[type[Any], ...]) -> list[Any]:
    return [kind() for kind in kinds]

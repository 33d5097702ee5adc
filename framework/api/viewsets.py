"""The base viewset of both APIs."""

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from django.db.models import Model
from rest_framework.request import Request
from rest_framework.viewsets import GenericViewSet

from framework.api.filters import StrictFilterBackend
from framework.api.query_params import parser

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

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Reject a query string that the action does not read. Raises InvalidRequest."""
        super().initial(request, *args, **kwargs)
        # The action is None for a method that the URL does not have.
        if self.action and self.action not in self.query_actions:
            parser.parse_query(request, ())

"""What the viewsets of both APIs have in common."""

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from django.db.models import Model
from rest_framework.request import Request
from rest_framework.viewsets import GenericViewSet

from config.api import query
from config.api.filters import StrictFilters

Row = TypeVar("Row", bound=Model)


class StrictViewSet(GenericViewSet[Row]):
    """No OPTIONS, and no query parameter that nobody reads.

    A list reads its own through `filter_queryset`; any other action has none unless it stands in `reads_query`.
    """

    http_method_names = ["get", "post", "put", "delete", "head"]
    filter_backends = [StrictFilters]
    pagination_class = None
    # Actions that read their own query string.
    reads_query: ClassVar[Sequence[str]] = ("list",)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a query string where none is read. Raises InvalidRequest."""
        super().initial(request, *args, **kwargs)
        # An action is None for a method that the address does not have.
        if self.action and self.action not in self.reads_query:
            query.read(request, ())

"""django-filter on strict query strings."""

from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.views import APIView

from config.api import query


class StrictFilters(DjangoFilterBackend):
    """Filters by `filterset_class`; refuses a parameter that neither it nor the view's `page_parameters` names."""

    def get_filterset_kwargs(self, request: Any, queryset: QuerySet[Any], view: APIView) -> dict[str, Any]:
        """Read the query string strictly. Raises InvalidRequest."""
        filterset_class = self.get_filterset_class(view, queryset)
        filters = filterset_class.base_filters if filterset_class else ()
        known = [*filters, *getattr(view, "page_parameters", ())]
        return {"data": query.read(request, known), "queryset": queryset, "request": request}

"""django-filter on strict query strings."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import ChoiceFilter, DjangoFilterBackend
from rest_framework.views import APIView

from framework.api.error_handler import invalid_request
from framework.api.query_params import parser
from framework.errors import Problem


def parse_choice(asked: Mapping[str, str], name: str, known: Collection[str]) -> str | None:
    """The value of a parameter that is one of these; None where it was left out. As OneOf says, without a form.

    Raises InvalidRequest.
    """
    value = asked.get(name)
    if value is None or value in known:
        return value
    raise invalid_request([Problem(name, f"This must be one of: {', '.join(known)}.")])


class StrictChoiceFilter(ChoiceFilter):
    """Keeps the rows of one value; any other is refused with the list of those that there are."""

    def __init__(self, *, choices: Sequence[tuple[str, str]], label: str) -> None:
        listed = ", ".join(value for value, _ in choices)
        messages = {"invalid_choice": f"This must be one of: {listed}."}
        super().__init__(choices=choices, label=label, error_messages=messages)


class StrictFilterBackend(DjangoFilterBackend):
    """Filters by `filterset_class`; refuses a parameter that neither it nor the view's `page_parameters` names."""

    def get_filterset_kwargs(self, request: Any, queryset: QuerySet[Any], view: APIView) -> dict[str, Any]:
        """Read the query string strictly. Raises InvalidRequest."""
        filterset_class = self.get_filterset_class(view, queryset)
        filters = filterset_class.base_filters if filterset_class else ()
        known = [*filters, *getattr(view, "page_parameters", ())]
        return {"data": parser.parse_query(request, known), "queryset": queryset, "request": request}

"""django-filter on strict query strings."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import ChoiceFilter, DjangoFilterBackend
from django_stubs_ext import StrOrPromise
from rest_framework.views import APIView

from framework.api.error_handler import invalid_request
from framework.api.query_params import parser
from framework.errors import Problem


def parse_choice(params: Mapping[str, str], name: str, choices: Collection[str]) -> str | None:
    """The value of a parameter, one of `choices`; None if it is absent. As StrictChoiceFilter, without a form.

    Raises InvalidRequest.
    """
    value = params.get(name)
    if value is None or value in choices:
        return value
    raise invalid_request([Problem(name, f"This must be one of: {', '.join(choices)}.")])


class StrictChoiceFilter(ChoiceFilter):
    """Filters rows by one value; the error for an unknown value lists the known ones."""

    def __init__(self, *, choices: Sequence[tuple[str, StrOrPromise]], label: str) -> None:
        values = ", ".join(value for value, _ in choices)
        super().__init__(
            choices=choices, label=label, error_messages={"invalid_choice": f"This must be one of: {values}."}
        )


class StrictFilterBackend(DjangoFilterBackend):
    """Filters by `filterset_class`; rejects parameters that neither it nor the view's `page_parameters` names."""

    def get_filterset_kwargs(self, request: Any, queryset: QuerySet[Any], view: APIView) -> dict[str, Any]:
        filterset_class = self.get_filterset_class(view, queryset)
        filters = filterset_class.base_filters if filterset_class else ()
        known = [*filters, *getattr(view, "page_parameters", ())]
        return {"data": parser.parse_query(request, known), "queryset": queryset, "request": request}

"""Filters and search expressions of restaurants."""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Func, Q, QuerySet, TextField, Value
from django.http import HttpRequest

from catalogue.models import Restaurant

# Hours of permanently closed, merged and erased restaurants are not needed.
IS_NEEDED = Q(merged_into=None, erased_at=None) & ~Q(
    status__in=(Restaurant.Status.PERMANENTLY_CLOSED, Restaurant.Status.MOVED)
)
IS_UNKNOWN = Q(hours__contains={"known": False})
HAS_TEXT = ~Q(hours__osm=None)


class UnparsedHoursFilter(SimpleListFilter):
    """Filters restaurants whose source has an opening hours text that could not be parsed completely.

    Staff enter these hours manually; the field is then locked and the restaurant leaves this list. The index
    restaurant_with_unparsed_hours serves both choices.
    """

    title = "hours"
    parameter_name = "hours"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [("unread", "not parsed"), ("partly", "partly parsed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Restaurant]) -> QuerySet[Restaurant]:
        if self.value() == "unread":
            return queryset.filter(IS_NEEDED, IS_UNKNOWN, HAS_TEXT)
        if self.value() == "partly":
            return queryset.filter(IS_NEEDED, ~IS_UNKNOWN, Q(hours__has_key="notes"))
        return queryset


def fold(term: str) -> Func:
    """SQL expression: the term in lower case without accents, as in the folded columns."""
    return Func(Value(term, output_field=TextField()), function="fold", output_field=TextField())

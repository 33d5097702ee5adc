"""A way for staff to the opening hours that could not be read."""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from catalogue.models import Restaurant

# Closed for good, found to be another or erased: nobody asks for these hours any more.
IS_ASKED_FOR = Q(merged_into=None, erased_at=None) & ~Q(
    status__in=(Restaurant.Status.PERMANENTLY_CLOSED, Restaurant.Status.MOVED)
)
IS_UNKNOWN = Q(hours__contains={"known": False})
HAS_TEXT = ~Q(hours__osm=None)


class UnreadHours(SimpleListFilter):
    """Restaurants whose source states hours in a text that could not be read, or not in whole.

    Who reads it enters the hours by hand; they are locked then, and the restaurant leaves this list. Both are found
    by the index restaurant_with_unread_hours.
    """

    title = "hours"
    parameter_name = "hours"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Offer the text of which nothing, and that of which only a part was read."""
        return [("unread", "unknown, with a text"), ("partly", "read in part")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Restaurant]) -> QuerySet[Restaurant]:
        """Keep those that were chosen."""
        if self.value() == "unread":
            return queryset.filter(IS_ASKED_FOR, IS_UNKNOWN, HAS_TEXT)
        if self.value() == "partly":
            return queryset.filter(IS_ASKED_FOR, ~IS_UNKNOWN, Q(hours__has_key="notes"))
        return queryset

"""Lists of the back office that grow with every order: counted to a bound, read only, in the order of their keys."""

import json
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString


class BoundedPaginator(Paginator[Any]):
    """Counts no farther than people turn pages."""

    MOST_COUNTED = 10_001

    @cached_property
    def count(self) -> int:
        """Rows, exact up to the bound."""
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]  # the admin pages querysets only
        return rows.order_by()[: self.MOST_COUNTED].count()


class History(admin.ModelAdmin[Any]):
    """What happened, newest first: looked at, never edited; actions of the list may stand beside that."""

    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    # Keys begin with the time.
    ordering = ["-pk"]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        """All of it."""
        return [str(name) for name in self.fields or ()]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """It happens elsewhere."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """By the actions of the list."""
        return obj is None and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """History goes when its time is over."""
        return False


def pretty(content: Any) -> SafeString:
    """JSON as people read it."""
    return format_html("<pre>{}</pre>", json.dumps(content, indent=2, ensure_ascii=False))

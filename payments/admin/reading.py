"""Base classes of read-only admins."""

import re
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from framework.admin.large_tables import LongTableAdmin
from payments.models import shortened


class ForReading(LongTableAdmin):
    """Rows that the application writes: read-only, except for list actions.

    A subclass can leave a field editable; then the page has save buttons.
    """

    def has_add_permission(self, request: HttpRequest) -> bool:
        """The application writes these rows."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """These rows are kept."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """All fields."""
        return [field.name for field in self.opts.concrete_fields]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Addresses and hashes are stored in lower case."""
        return super().get_search_results(request, queryset, search_term.lower())

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Render the list with a title for read-only rows."""
        title = f"Select {self.opts.verbose_name} to view"
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], **options: Any) -> HttpResponse:  # type: ignore[override]
        """Hide the save buttons if all fields are read-only."""
        shown = context["adminform"]
        if set(shown.readonly_fields) >= set(flatten_fieldsets(shown.fieldsets)):
            title = f"View {self.opts.verbose_name}"
            buttons = {"show_save": False, "show_save_and_continue": False, "show_close": True}
            context = {**context, **buttons, "title": title}
        return super().render_change_form(request, context, **options)


class HistoryInline(admin.TabularInline[Any, Any]):
    """A read-only inline."""

    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The application writes these rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """These rows are kept."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """These rows are kept."""
        return False


def in_short(whole: str) -> SafeString:
    """Return a shortened address or hash, with the full text as a tooltip."""
    return format_html('<span title="{}">{}</span>', whole, shortened(whole))


def id_in_short(whole: str) -> SafeString:
    """Return the end of an id (ids of the same time have the same beginning), with the full id as a tooltip."""
    return format_html('<span title="{}">…{}</span>', whole, whole[-6:])


def in_words(code: str) -> str:
    """Replace underscores with spaces, so that a narrow column can wrap the text."""
    return code.replace("_", " ")


def breakable(text: str) -> SafeString:
    """Return an actor such as staff:ada@example.com with line break opportunities."""
    return format_html_join("", "{}<wbr>", ((part,) for part in re.split(r"(?<=[:@.])", text)))

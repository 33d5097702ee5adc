"""How rows look that staff only read."""

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
    """Rows that the product writes: staff look them up, and act on them by actions only.

    A field of whom or what a row is of may be left to write; then its page is one to save.
    """

    def has_add_permission(self, request: HttpRequest) -> bool:
        """The product writes these."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They are history."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """All of them."""
        return [field.name for field in self.opts.concrete_fields]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Addresses and hashes are kept in small letters."""
        return super().get_search_results(request, queryset, search_term.lower())

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, which says that its rows are looked at."""
        title = f"Select {self.opts.verbose_name} to view"
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], **options: Any) -> HttpResponse:  # type: ignore[override]
        """Without buttons that would save nothing, and without words that promise a change."""
        shown = context["adminform"]
        if set(shown.readonly_fields) >= set(flatten_fieldsets(shown.fieldsets)):
            title = f"View {self.opts.verbose_name}"
            buttons = {"show_save": False, "show_save_and_continue": False, "show_close": True}
            context = {**context, **buttons, "title": title}
        return super().render_change_form(request, context, **options)


class HistoryInline(admin.TabularInline[Any, Any]):
    """Rows of another's page that are history: nobody adds, changes or deletes them there."""

    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The product writes these."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They are history."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They are history."""
        return False


def in_short(whole: str) -> SafeString:
    """An address or a hash in short; whole where the pointer rests."""
    return format_html('<span title="{}">{}</span>', whole, shortened(whole))


def id_in_short(whole: str) -> SafeString:
    """The end of an id, as those of one time begin alike; whole where the pointer rests."""
    return format_html('<span title="{}">…{}</span>', whole, whole[-6:])


def in_words(code: str) -> str:
    """A code as a table shows it: a narrow column breaks words into lines, and no code."""
    return code.replace("_", " ")


def breakable(text: str) -> SafeString:
    """An actor such as staff:ada@example.com, which a narrow column breaks behind its signs."""
    return format_html_join("", "{}<wbr>", ((part,) for part in re.split(r"(?<=[:@.])", text)))

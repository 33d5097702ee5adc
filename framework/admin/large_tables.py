"""Admin lists of tables that are too long to count."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.db import connection, transaction
from django.db.models import DateTimeField, QuerySet
from django.forms import SplitDateTimeField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.functional import cached_property

from framework.admin.widgets import NamedMoment


class LongPaginator(Paginator[Any]):
    """Pages of a table that is too long to count: PostgreSQL's own estimate, or an exact count that stops."""

    MOST_COUNTED = 10_001
    # Farther down a list nobody turns pages, and OFFSET would cost seconds.
    MOST_PAGES = 200

    @cached_property
    def count(self) -> int:
        """Rows, estimated where all of many are listed."""
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]  # the admin pages querysets only
        if not rows.query.where:
            with connection.cursor() as cursor:
                table = rows.model._meta.db_table  # noqa: SLF001  # documented by Django, underscore and all
                cursor.execute("SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass", [table])
                (estimate,) = cursor.fetchone()
            if estimate >= self.MOST_COUNTED:
                return int(estimate)
        return rows.order_by()[: self.MOST_COUNTED].count()

    @cached_property
    def num_pages(self) -> int:
        """Pages that can be turned to."""
        return min(super().num_pages, self.MOST_PAGES)


class BoundedActions(admin.ModelAdmin[Any]):
    """Acts on so many rows at once as one request can: "select all" of a long list is refused, with what to do."""

    MOST_AT_ONCE: ClassVar[int] = 1_000
    formfield_overrides: ClassVar[Any] = {DateTimeField: {"form_class": SplitDateTimeField, "widget": NamedMoment}}

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *more: Any, **options: Any
    ) -> HttpResponse | None:
        """Act, or say that these are too many. One bounded count, where all of a list are chosen."""
        across = request.POST.get("select_across", "0") not in ("", "0")
        if across and queryset.order_by()[: self.MOST_AT_ONCE + 1].count() > self.MOST_AT_ONCE:
            words = (
                f"Nothing was changed: an action can process at most {self.MOST_AT_ONCE:,} rows."
                " Narrow the list with a filter or a search first."
            )
            self.message_user(request, words, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())
        return super().response_action(request, queryset, *more, **options)


class LongTableAdmin(BoundedActions):
    """A list that stays quick over millions of rows: counted by estimate, ordered and searched by indexes.

    A click on a heading would have all rows put in order; an admin names those that an index orders in `sortable_by`.
    An empty list says in `empty_hint` what will fill it.
    """

    # Of one statement of a list: nobody waits longer for one.
    MOST_MS: ClassVar[int] = 2_000
    change_list_template = "admin/long_list.html"
    empty_hint = ""

    paginator: ClassVar[type[Paginator[Any]]] = LongPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    ordering = ["-pk"]
    sortable_by: ClassVar[list[str] | tuple[str, ...] | None] = ()

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, with what fills it where it is empty.

        Read and written out within the time that a list may take; what is too broad is told so (framework.admin.db_error_middleware).
        """
        context = {"empty_hint": self.empty_hint, **(extra_context or {})}
        if request.method == "POST":
            return super().changelist_view(request, context)
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(self.MOST_MS)])
            page = super().changelist_view(request, context)
            return page.render() if isinstance(page, TemplateResponse) and not page.is_rendered else page

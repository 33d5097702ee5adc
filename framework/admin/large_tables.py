"""Admin lists of tables with millions of rows."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminDateWidget, AdminSplitDateTime, AdminTimeWidget
from django.core.paginator import Paginator
from django.db import connection, transaction
from django.db.models import DateTimeField, QuerySet
from django.forms import MultiWidget, SplitDateTimeField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.functional import cached_property

from framework.admin.search import PublicIdSearch


class EstimatedPaginator(Paginator[Any]):
    """Counts a whole table by PostgreSQL's estimate, and a filtered one exactly up to MAX_COUNTED."""

    MAX_COUNTED = 10_001
    # Further pages would cost seconds of OFFSET.
    MAX_PAGES = 200

    @cached_property
    def count(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]  # the admin pages querysets only
        if not rows.query.where:
            with connection.cursor() as cursor:
                table = rows.model._meta.db_table
                cursor.execute("SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass", [table])
                (estimate,) = cursor.fetchone()
            if estimate >= self.MAX_COUNTED:
                return int(estimate)
        return rows.order_by()[: self.MAX_COUNTED].count()

    @cached_property
    def num_pages(self) -> int:
        return min(super().num_pages, self.MAX_PAGES)


class LabelledSplitDateTime(AdminSplitDateTime):
    """Django's date and time inputs, each with an accessible name of its own."""

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        parts = [AdminDateWidget(attrs={"aria-label": "Date"}), AdminTimeWidget(attrs={"aria-label": "Time"})]
        MultiWidget.__init__(self, parts, attrs)


class BoundedActions(PublicIdSearch):
    """Refuses an action on more rows than one request can change, as "select all" of a long list would be."""

    MAX_SELECTED: ClassVar[int] = 1_000
    formfield_overrides: ClassVar[Any] = {
        DateTimeField: {"form_class": SplitDateTimeField, "widget": LabelledSplitDateTime}
    }

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *more: Any, **options: Any
    ) -> HttpResponse | None:
        """Run the action, or show why not. One bounded count where all rows of a list are selected."""
        across = request.POST.get("select_across", "0") not in ("", "0")
        if across and queryset.order_by()[: self.MAX_SELECTED + 1].count() > self.MAX_SELECTED:
            message = (
                f"Nothing was changed: an action can process at most {self.MAX_SELECTED:,} rows."
                " Narrow the list with a filter or a search first."
            )
            self.message_user(request, message, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())
        return super().response_action(request, queryset, *more, **options)


class LargeTableAdmin(BoundedActions):
    """A list for millions of rows: counted by estimate, ordered and searched by indexes.

    `sortable_by` names the columns that an index orders; sorting by others would read all rows. An empty list shows
    the text `empty_hint`. With `shows_first_filter` the first filter is above the list, outside of "Filters".
    """

    # Of each statement of a list.
    STATEMENT_TIMEOUT_MS: ClassVar[int] = 2_000
    empty_hint = ""
    shows_first_filter: ClassVar[bool] = False

    paginator: ClassVar[type[Paginator[Any]]] = EstimatedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    ordering = ["-pk"]
    sortable_by: ClassVar[list[str] | tuple[str, ...] | None] = ()

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, rendered under the statement timeout, which framework.page_errors answers."""
        context = {"empty_hint": self.empty_hint, **(extra_context or {})}
        if request.method == "POST":
            return super().changelist_view(request, context)
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(self.STATEMENT_TIMEOUT_MS)])
            page = super().changelist_view(request, context)
            return page.render() if isinstance(page, TemplateResponse) and not page.is_rendered else page

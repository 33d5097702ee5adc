"""Review queues: lists that show open rows by default, and pages with decision buttons."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.admin.assignments import AssignableAdmin
from accounts.models import Assignment
from framework.admin.badges import badge_column
from framework.admin.large_tables import LargeTableAdmin
from framework.admin.pending_counts import PendingCount
from framework.errors import ApiError


class DefaultFilter(admin.SimpleListFilter):
    """A filter whose first choice is the default; "all" is the last.

    Rows that an action names by their keys may be of any choice: another user can have decided one in the meantime.
    """

    def choices(self, changelist: Any) -> Any:
        return list(super().choices(changelist))[1:]

    def value(self) -> str:
        return super().value() or str(self.lookup_choices[0][0])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        names_rows = request.method == "POST" and request.POST.get("select_across", "0") in ("", "0")
        if self.value() == "all" or names_rows:
            return queryset
        return self.apply_choice(queryset)

    def apply_choice(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        raise NotImplementedError


class StateFilter(DefaultFilter):
    title = "state"
    parameter_name = "state__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [*model_admin.model.State.choices, ("all", "All")]

    def apply_choice(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(state=self.value())


class ReviewQueueAdmin(AssignableAdmin, LargeTableAdmin):
    """A queue of rows to decide: each page has decision buttons and leads to the next row.

    The queue is in the order of `ordering`, a column and the key; an index that starts with the state must support it.
    """

    change_form_template = "catalogue/review_queue_item.html"
    # The label of the queue on the front page.
    queue_label: ClassVar[str] = ""
    # An open row waits for a decision.
    state_badge = badge_column("state", "State", open="warn")

    def decide(self, request: HttpRequest, row: Any, verdict: str) -> str | None:
        """Apply a decision and return a message; None for an unknown decision. Raises ApiError."""
        raise NotImplementedError

    def page_context(self, row: Any) -> dict[str, Any]:
        """Return additional context for the page."""
        raise NotImplementedError

    def open_rows(self) -> QuerySet[Any]:
        rows: QuerySet[Any] = self.model._default_manager.filter(state="open")
        return rows.order_by(*self.ordering)

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """The number of open rows, which the list shows by default."""
        address = reverse(f"admin:catalogue_{self.opts.model_name}_changelist")
        # Reports and claims are read in the order in which they came; duplicates by their score.
        since = "created_at" if "created_at" in self.ordering else ""
        return [self.count_pending(request, self.queue_label, self.open_rows(), address, waits_since=since)]

    def next_rows(self, row: Any) -> QuerySet[Any]:
        """The open rows after a row."""
        first = str(self.ordering[0])
        column, is_descending = first.lstrip("-"), first.startswith("-")
        lookup, value = f"{column}__{'lt' if is_descending else 'gt'}", getattr(row, column)
        after = Q(**{lookup: value}) | Q(**{column: value, "pk__gt": row.pk})
        # The second condition is for the index.
        return self.open_rows().filter(after, **{f"{lookup}e": value})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a row with decision buttons; after a decision redirect to the next open row."""
        row = self.get_object(request, unquote(object_id))
        if row is None or not self.has_view_or_change_permission(request, row):
            return super().change_view(request, object_id, form_url, extra_context)
        verdict = request.POST.get("verdict")
        if verdict in ("take", "release"):
            return self.change_assignee(request, row, is_taken=verdict == "take")
        if verdict:
            return self.submit_decision(request, row, verdict)
        assignee = Assignment.objects.emails(self.model, [row.pk]).get(str(row.pk), "")
        context = {
            **self.page_context(row),
            "assignee": assignee,
            "is_mine": assignee == request.user.get_username(),
            "can_decide": row.state == "open" and self.has_change_permission(request, row),
        }
        following = self.next_rows(row).values_list("pk", flat=True).first() if row.state == "open" else None
        context["skip"] = self.page_url(following) if following is not None else None
        return super().change_view(request, object_id, form_url, {**context, **(extra_context or {})})

    def change_assignee(self, request: HttpRequest, row: Any, *, is_taken: bool) -> HttpResponse:
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        (self.take_rows if is_taken else self.release_rows)(request, [row.pk])
        return HttpResponseRedirect(self.page_url(row.pk))

    def submit_decision(self, request: HttpRequest, row: Any, verdict: str) -> HttpResponse:
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        following = self.next_rows(row).values_list("pk", flat=True).first()
        try:
            message = self.decide(request, row, verdict)
            error = "Unknown decision."
        except ApiError as refusal:
            message, error = None, refusal.message
        if message is None:
            self.message_user(request, error, messages.ERROR)
            return HttpResponseRedirect(self.page_url(row.pk))
        Assignment.objects.end(self.model, [row.pk])
        self.message_user(request, message, messages.SUCCESS)
        if following is None:
            following = self.open_rows().values_list("pk", flat=True).first()
        if following is None:
            self.message_user(request, "The queue is empty.", messages.SUCCESS)
            return HttpResponseRedirect(reverse(f"admin:catalogue_{self.opts.model_name}_changelist"))
        return HttpResponseRedirect(self.page_url(following))

    def page_url(self, key: Any) -> str:
        return reverse(f"admin:catalogue_{self.opts.model_name}_change", args=[key])

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

"""Queues that our staff divide among themselves: each row has at most one assignee."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.models import Assignment, User
from framework.admin.action_confirmation import confirmed_action, render_rows_confirmation
from framework.admin.large_tables import BoundedActions
from framework.admin.pending_counts import PendingCount, count_bounded, count_since

ASSIGNMENT_ACTIONS = ("take", "release", "assign")


class AssigneeFilter(admin.SimpleListFilter):
    title = "assignee"
    parameter_name = "assignee"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("mine", "Mine"), ("none", "Unassigned")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "mine":
                return filter_mine(queryset, request)
            case "none":
                return queryset.exclude(pk__in=Assignment.objects.subquery_of_keys(queryset.model))
        return queryset


class AssigneeForm(forms.Form):
    assignee = forms.ModelChoiceField(User.objects.filter(is_staff=True, is_active=True).order_by("email"))


class AssignableAdmin(BoundedActions):
    """Adds the column `assignee`, AssigneeFilter and ASSIGNMENT_ACTIONS, which a subclass names in its lists.

    Who may view a row may take it: an assignment changes nothing else.
    """

    @admin.display(description="Assignee")
    def assignee(self, row: Any) -> str:
        return getattr(row, "assignee_email", "")

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Load the assignees of the rows of the page. One query."""
        change_list = super().get_changelist_instance(request)
        if request.method == "GET":
            emails = Assignment.objects.emails(self.model, [row.pk for row in change_list.result_list])
            for row in change_list.result_list:
                row.assignee_email = emails.get(str(row.pk), "")
        return change_list

    def count_pending(
        self,
        request: HttpRequest,
        label: str,
        rows: QuerySet[Any],
        url: str,
        *,
        waits_since: str = "",
        is_bad: bool = False,
    ) -> PendingCount:
        """The number of these rows, and of those assigned to the user. Two queries.

        `waits_since` is the column with the moment since which a row waits, if an index orders the rows by it.
        """
        mine_url = f"{url}{'&' if '?' in url else '?'}{AssigneeFilter.parameter_name}=mine"
        mine = count_bounded(filter_mine(rows, request))
        number, since = count_since(rows, waits_since) if waits_since else (count_bounded(rows), None)
        return PendingCount(label, number, url, is_bad=is_bad, mine=mine, mine_url=mine_url, since=since)

    @confirmed_action(
        "Take: assign to me",
        message="These rows are assigned to you. Rows of others stay theirs.",
        confirm_label="Take",
        permissions=["view"],
        applies_to=lambda rows: rows.exclude(pk__in=Assignment.objects.subquery_of_keys(rows.model)),
    )
    def take(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.take_rows(request, list(queryset.order_by().values_list("pk", flat=True)))

    def take_rows(self, request: HttpRequest, keys: list[Any]) -> None:
        user = cast("User", request.user)
        mine = Assignment.objects.take(self.model, keys, user=user, now=timezone.now())
        if mine:
            self.message_user(request, f"{mine} assigned to you.", messages.SUCCESS)
        if mine < len(keys):
            self.message_user(request, f"{len(keys) - mine} assigned to others already.", messages.WARNING)

    @confirmed_action(
        "Release: assign to no user",
        message="Those of these rows that are assigned to you are no longer assigned.",
        confirm_label="Release",
        permissions=["view"],
    )
    def release(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.release_rows(request, list(queryset.order_by().values_list("pk", flat=True)))

    def release_rows(self, request: HttpRequest, keys: list[Any]) -> None:
        released = Assignment.objects.release(self.model, keys, user=cast("User", request.user))
        level = messages.SUCCESS if released else messages.WARNING
        self.message_user(request, f"{released} released.", level)

    @admin.action(description="Assign to…", permissions=["view"])
    def assign(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        form = AssigneeForm(request.POST if "confirmed" in request.POST else None)
        if not form.is_valid():
            return render_rows_confirmation(
                self,
                request,
                queryset,
                action="assign",
                title="Assign?",
                message="These rows are assigned to the user, also those of others.",
                confirm_label="Assign",
                form=form,
                status=400 if form.is_bound else 200,
            )
        user: User = form.cleaned_data["assignee"]
        keys = queryset.order_by().values_list("pk", flat=True)
        number = Assignment.objects.assign(self.model, keys, user=user, now=timezone.now())
        self.message_user(request, f"{number} assigned to {user.email}.", messages.SUCCESS)
        return None


def filter_mine(rows: QuerySet[Any], request: HttpRequest) -> QuerySet[Any]:
    user = cast("User", request.user)
    return rows.filter(pk__in=Assignment.objects.filter(user=user).subquery_of_keys(rows.model))

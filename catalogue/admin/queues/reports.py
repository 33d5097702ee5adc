"""Reports in the back office."""

from collections.abc import Callable, Iterable
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.utils import flatten
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from accounts.admin.assignments import ASSIGNMENT_ACTIONS, AssigneeFilter
from accounts.models import Assignment, User
from catalogue.admin.queues.base import ReviewQueueAdmin, StateFilter
from catalogue.admin.restaurant_rows import RestaurantRowsAdmin
from catalogue.admin.restaurants.mini_map import render_map
from catalogue.models import Report
from catalogue.moderation import reports
from catalogue.tasks import enqueue_open_intervals
from framework.admin.action_confirmation import confirmed_action
from framework.errors import InvalidRequest
from framework.public_ids import encode

# Kinds of reports that are applied automatically; staff correct the others manually.
AUTOMATIC = (Report.Kind.CLOSED, Report.Kind.DUPLICATE)


class AlreadyDecided(InvalidRequest):
    """Another user has decided the report."""


@admin.register(Report)
class ReportAdmin(RestaurantRowsAdmin, ReviewQueueAdmin):
    list_display = ["kind", "state_badge", "place", "beginning", "created_at", "assignee", "decided_by"]
    list_select_related = ["restaurant", "decided_by"]
    list_filter = [StateFilter, AssigneeFilter, "kind"]
    empty_hint = "POST /v1/restaurants/{slug}/reports creates reports."
    ordering = ["created_at", "pk"]
    queue_label = "open reports"
    change_form_template = "catalogue/report.html"
    actions = ["apply", "dismiss", *ASSIGNMENT_ACTIONS]
    fields = [
        *("state_badge", "kind", "place", "text", "same_as", "contact", "created_at", "decided_at", "decided_by"),
        "public_id",
    ]
    readonly_fields = flatten(fields)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("restaurant__market", "same_as", "decided_by")

    def decide(self, request: HttpRequest, row: Report, verdict: str) -> str | None:
        decide = {"apply": reports.accept_report, "dismiss": reports.dismiss_report}.get(verdict)
        if decide is None:
            return None
        if not decide(row, staff=cast("User", request.user), now=timezone.now()):
            raise AlreadyDecided("Another user has already decided this report.")
        if verdict == "dismiss":
            return "The report was dismissed."
        transaction.on_commit(enqueue_open_intervals)
        if row.kind in AUTOMATIC:
            return "The report was applied."
        return f"The report was applied. Correct {row.restaurant} manually if you have not done so yet."

    def page_context(self, row: Report) -> dict[str, Any]:
        return {
            "subtitle": f"{row.get_kind_display()}: {row.restaurant}",
            "sources": row.restaurant.source_records.select_related("source").order_by("source", "record")[:20],
            "restaurant": row.restaurant,
            "is_automatic": row.kind in AUTOMATIC,
            "map": render_map(row.restaurant, marked=row.same_as_id),
        }

    @admin.display(description="Id")
    def public_id(self, report: Report) -> str:
        return encode("rep", report.pk)

    @admin.display(description="Restaurant", ordering="restaurant")
    def place(self, report: Report) -> SafeString:
        return format_html('<a href="{}">{}</a>', page_of(report), report.restaurant.name)

    @admin.display(description="Text")
    def beginning(self, report: Report) -> str:
        return Truncator(report.text).chars(90)

    @confirmed_action(
        "Apply the selected reports",
        message="Restaurants that are reported as closed are closed, and reported duplicates are added to the possible"
        " duplicates. Reports of other kinds are only marked as applied.",
        confirm_label="Apply reports",
        applies_to=lambda reports: reports.filter(state=Report.State.OPEN),
    )
    def apply(self, request: HttpRequest, queryset: QuerySet[Report]) -> HttpResponse | None:
        """Close restaurants, queue duplicates; for a single report of another kind redirect to the restaurant."""
        chosen = list(queryset.select_related("restaurant").order_by("created_at", "pk"))
        self.decide_all(request, chosen, reports.accept_report, "applied")
        transaction.on_commit(enqueue_open_intervals)
        if len(chosen) == 1 and chosen[0].kind not in AUTOMATIC:
            return HttpResponseRedirect(page_of(chosen[0]))
        if any(report.kind == Report.Kind.DUPLICATE for report in chosen):
            self.message_user(request, "Duplicates were added to the match candidates.")
        return None

    @confirmed_action(
        "Dismiss the selected reports",
        message="These reports are dismissed: nothing changes at their restaurants.",
        confirm_label="Dismiss reports",
        applies_to=lambda reports: reports.filter(state=Report.State.OPEN),
    )
    def dismiss(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        self.decide_all(request, queryset.order_by("created_at", "pk"), reports.dismiss_report, "dismissed")

    def decide_all(
        self, request: HttpRequest, chosen: Iterable[Report], decide: Callable[..., bool], decision: str
    ) -> None:
        """Decide the reports, and add messages: how many were decided now, and how many had been before."""
        staff, now = cast("User", request.user), timezone.now()
        rows = list(chosen)
        outcomes = [decide(report, staff=staff, now=now) for report in rows]
        Assignment.objects.end(Report, [report.pk for report in rows])
        for outcome, word, level in ((True, decision, messages.SUCCESS), (False, "already decided", messages.ERROR)):
            if number := outcomes.count(outcome):
                reports_were = "1 report was" if number == 1 else f"{number} reports were"
                self.message_user(request, f"{reports_were} {word}.", level)


def page_of(report: Report) -> str:
    return reverse("admin:catalogue_restaurant_change", args=[report.restaurant_id])

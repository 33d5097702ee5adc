"""Reports in the back office."""

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.utils import flatten
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from accounts.models import User
from catalogue.admin.queues.base import ReviewQueueAdmin, StateFilter
from catalogue.admin.restaurants.mini_map import render_map
from catalogue.models import Report
from catalogue.moderation import reports
from catalogue.tasks import enqueue_open_intervals
from framework.errors import InvalidRequest
from framework.public_ids import encode

# Kinds of reports that are applied automatically; staff correct the others manually.
AUTOMATIC = (Report.Kind.CLOSED, Report.Kind.DUPLICATE)

ALREADY_DECIDED = "Another user has already decided this report."


class AlreadyDecided(InvalidRequest):
    """Another user has decided the report."""


@admin.register(Report)
class ReportAdmin(ReviewQueueAdmin):
    """Reports, oldest first."""

    list_display = ["created_at", "kind", "place", "beginning", "state", "decided_by"]
    list_select_related = ["restaurant", "decided_by"]
    list_filter = [StateFilter, "kind"]
    empty_hint = "POST /v1/restaurants/{slug}/reports creates reports."
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "Complete slug of the restaurant"
    ordering = ["created_at", "pk"]
    order = ("created_at", "pk")
    queue_label = "open reports"
    change_form_template = "catalogue/report.html"
    actions = ["apply", "dismiss"]
    fields = [
        "public_id",
        ("kind", "state"),
        "place",
        "text",
        "same_as",
        "contact",
        "created_at",
        ("decided_at", "decided_by"),
    ]
    readonly_fields = flatten(fields)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("restaurant__market", "same_as", "decided_by")

    def next_rows(self, row: Report) -> QuerySet[Any]:
        later = Q(created_at__gt=row.created_at) | Q(created_at=row.created_at, pk__gt=row.pk)
        return self.open_rows().filter(later, created_at__gte=row.created_at)

    def decide(self, request: HttpRequest, row: Report, verdict: str) -> str | None:
        staff, now = cast("User", request.user), timezone.now()
        if verdict == "apply":
            if not reports.accept_report(row, staff=staff, now=now):
                raise AlreadyDecided(ALREADY_DECIDED)
            transaction.on_commit(enqueue_open_intervals)
            if row.kind not in AUTOMATIC:
                return f"The report was applied. Correct {row.restaurant} manually if you have not done so yet."
            return "The report was applied."
        if verdict == "dismiss":
            if not reports.dismiss_report(row, staff=staff, now=now):
                raise AlreadyDecided(ALREADY_DECIDED)
            return "The report was dismissed."
        return None

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

    @admin.action(description="Apply the selected reports", permissions=["change"])
    def apply(self, request: HttpRequest, queryset: QuerySet[Report]) -> HttpResponse | None:
        """Close restaurants, queue duplicates; for a single report of another kind redirect to the restaurant."""
        chosen = list(queryset.select_related("restaurant").order_by("created_at", "pk"))
        now, staff = timezone.now(), cast("User", request.user)
        self.add_messages(
            request, [reports.accept_report(report, staff=staff, now=now) for report in chosen], "applied"
        )
        transaction.on_commit(enqueue_open_intervals)
        if len(chosen) == 1 and chosen[0].kind not in AUTOMATIC:
            return HttpResponseRedirect(page_of(chosen[0]))
        if any(report.kind == Report.Kind.DUPLICATE for report in chosen):
            self.message_user(request, "Duplicates were added to the match candidates.")
        return None

    @admin.action(description="Dismiss the selected reports", permissions=["change"])
    def dismiss(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        """Dismiss the reports; the restaurants do not change."""
        now, staff = timezone.now(), cast("User", request.user)
        chosen = queryset.order_by("created_at", "pk")
        self.add_messages(
            request, [reports.dismiss_report(report, staff=staff, now=now) for report in chosen], "dismissed"
        )

    def add_messages(self, request: HttpRequest, outcomes: list[bool], done: str) -> None:
        """Add messages: how many were decided, and how many were already decided."""
        decided, late = outcomes.count(True), outcomes.count(False)
        if decided:
            words = "1 report was" if decided == 1 else f"{decided} reports were"
            self.message_user(request, f"{words} {done}.", messages.SUCCESS)
        if late:
            words = "1 report was" if late == 1 else f"{late} reports were"
            self.message_user(request, f"{words} already decided.", messages.ERROR)


def page_of(report: Report) -> str:
    """The URL of the report's restaurant."""
    return reverse("admin:catalogue_restaurant_change", args=[report.restaurant_id])

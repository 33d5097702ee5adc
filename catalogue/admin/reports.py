"""The queue of reports, for staff."""

from typing import Any, cast

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from accounts.models import User
from catalogue.admin.mini_map import map_of
from catalogue.admin.review_queue import StateFilter, WorkedOffAdmin
from catalogue.models import Report
from catalogue.moderation import reports
from catalogue.tasks import ring_for_open_spans
from framework.errors import InvalidRequest
from framework.public_ids import encode

# What staff mend by hand; the others do what follows by themselves.
BY_ITSELF = (Report.Kind.CLOSED, Report.Kind.DUPLICATE)

LATE = "Somebody else has decided this report by now."


class Late(InvalidRequest):
    """Somebody was quicker."""


@admin.register(Report)
class ReportAdmin(WorkedOffAdmin):
    """Reports, the oldest first. They are decided by the actions of the list."""

    list_display = ["created_at", "kind", "place", "beginning", "state", "decided_by"]
    list_select_related = ["restaurant", "decided_by"]
    list_filter = [StateFilter, "kind"]
    nothing_yet = "Readers send reports with POST /v1/restaurants/{slug}/reports."
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "The slug of the restaurant, whole"
    ordering = ["created_at", "pk"]
    order = ("created_at", "pk")
    waits_as = "open reports"
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
    readonly_fields = [
        "public_id",
        "kind",
        "state",
        "place",
        "text",
        "same_as",
        "contact",
        "created_at",
        "decided_at",
        "decided_by",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With the restaurants that they are of, and of duplicates the other one."""
        return super().get_queryset(request).select_related("restaurant__market", "same_as", "decided_by")

    def following(self, row: Report) -> QuerySet[Any]:
        """The later ones."""
        later = Q(created_at__gt=row.created_at) | Q(created_at=row.created_at, pk__gt=row.pk)
        return self.waiting().filter(later, created_at__gte=row.created_at)

    def decided(self, request: HttpRequest, row: Report, verdict: str) -> str | None:
        """Right, or wrong."""
        staff, now = cast("User", request.user), timezone.now()
        if verdict == "apply":
            if not reports.accept(row, staff=staff, now=now):
                raise Late(LATE)
            transaction.on_commit(ring_for_open_spans)
            if row.kind not in BY_ITSELF:
                return f"The report is applied. Mend {row.restaurant} by hand, if you have not."
            return "The report is applied."
        if verdict == "dismiss":
            if not reports.dismiss(row, staff=staff, now=now):
                raise Late(LATE)
            return "The report is dismissed."
        return None

    def told(self, row: Report) -> dict[str, Any]:
        """The record, its sources, and where it is."""
        return {
            "subtitle": f"{row.get_kind_display()}: {row.restaurant}",
            "sources": row.restaurant.source_records.select_related("source").order_by("source", "record")[:20],
            "restaurant": row.restaurant,
            "by_itself": row.kind in BY_ITSELF,
            "map": map_of(row.restaurant, marked=row.same_as_id),
        }

    @admin.display(description="Id")
    def public_id(self, report: Report) -> str:
        """As the reader knows it."""
        return encode("rep", report.pk)

    @admin.display(description="Restaurant", ordering="restaurant")
    def place(self, report: Report) -> SafeString:
        """Its name, which leads to its page."""
        return format_html('<a href="{}">{}</a>', page_of(report), report.restaurant.name)

    @admin.display(description="Text")
    def beginning(self, report: Report) -> str:
        """The first of its words."""
        return Truncator(report.text).chars(90)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Readers write these."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        """Decided, not deleted."""
        return False

    @admin.action(description="Apply the selected reports: they are right", permissions=["change"])
    def apply(self, request: HttpRequest, queryset: QuerySet[Report]) -> HttpResponse | None:
        """Close what is closed, queue what is there twice; of one report of another kind open the restaurant."""
        chosen = list(queryset.select_related("restaurant").order_by("created_at", "pk"))
        now, staff = timezone.now(), cast("User", request.user)
        self.tell(request, [reports.accept(report, staff=staff, now=now) for report in chosen], "applied")
        transaction.on_commit(ring_for_open_spans)
        if len(chosen) == 1 and chosen[0].kind not in BY_ITSELF:
            return HttpResponseRedirect(page_of(chosen[0]))
        if any(report.kind == Report.Kind.DUPLICATE for report in chosen):
            self.message_user(request, "Restaurants that are there twice wait among the match candidates.")
        return None

    @admin.action(description="Dismiss the selected reports: nothing is wrong", permissions=["change"])
    def dismiss(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        """Leave the restaurants as they are."""
        now, staff = timezone.now(), cast("User", request.user)
        chosen = queryset.order_by("created_at", "pk")
        self.tell(request, [reports.dismiss(report, staff=staff, now=now) for report in chosen], "dismissed")

    def tell(self, request: HttpRequest, outcomes: list[bool], done: str) -> None:
        """Say how many were decided, and how many somebody else had decided."""
        decided, late = outcomes.count(True), outcomes.count(False)
        if decided:
            words = "1 report was" if decided == 1 else f"{decided} reports were"
            self.message_user(request, f"{words} {done}.", messages.SUCCESS)
        if late:
            words = "1 report was" if late == 1 else f"{late} reports were"
            self.message_user(request, f"{words} decided already.", messages.ERROR)


def page_of(report: Report) -> str:
    """Where its restaurant is mended."""
    return reverse("admin:catalogue_restaurant_change", args=[report.restaurant_id])

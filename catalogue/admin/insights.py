"""Insights and model calls in the back office."""

from datetime import datetime
from typing import Any, cast

from django.conf import settings
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from accounts.admin.assignments import ASSIGNMENT_ACTIONS, AssignableAdmin, AssigneeFilter
from accounts.models import User
from catalogue import insights
from catalogue.admin.insight_sheet import sheet
from catalogue.admin.restaurant_rows import RestaurantRowsAdmin
from catalogue.insights.pipeline import cost_budget, llm_job
from catalogue.insights.providers.base import RemoteProvider
from catalogue.models import Insight, InsightCall
from catalogue.tasks import enqueue_insights
from framework.admin.action_confirmation import confirmed_action, render_confirmation, render_rows_confirmation
from framework.admin.badges import badge, badge_column
from framework.admin.large_tables import EstimatedPaginator
from framework.admin.pending_counts import PendingCount
from framework.admin.read_only import ReadOnlyAdmin

# Texts on one approval page.
MAX_APPROVALS = 100


class StateFilter(admin.SimpleListFilter):
    """Filters by state; the first choice needs a decision."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("waiting", "Waiting for approval"),
            ("hidden", "Hidden"),
            ("stale", "Stale"),
            ("failed", "Provider failed"),
            ("silent", "No text"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Insight]) -> QuerySet[Insight]:
        match self.value():
            case "waiting":
                return queryset.filter(insights.pending_approval())
            case "hidden":
                return queryset.filter(hidden=True)
            case "stale":
                now, provider = timezone.now(), insights.get_provider()
                stale = queryset.filter(insights.stale_condition(provider, now=now, restaurant="restaurant__"))
                # Few stale ones are found by reading all: once, not for their number and for their rows.
                keys = list(stale.order_by().values_list("pk", flat=True)[: EstimatedPaginator.MAX_COUNTED])
                return queryset.filter(pk__in=keys) if len(keys) < EstimatedPaginator.MAX_COUNTED else stale
            case "failed":
                return queryset.filter(failed_at__isnull=False)
            case "silent":
                return queryset.filter(text="")
        return queryset


class ProviderFilter(admin.SimpleListFilter):
    """Filters by provider. The choices are fixed: reading the existing values would scan the whole table."""

    title = "provider"
    parameter_name = "provider"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("extractive", "built-in (extractive)"), ("anthropic", "anthropic"), ("openai", "openai")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(provider=self.value()) if self.value() else queryset


@admin.register(Insight)
class InsightAdmin(AssignableAdmin, RestaurantRowsAdmin, ReadOnlyAdmin):
    """Insights. Staff can approve, hide or regenerate them, but not edit their text.

    They are not deleted either: a deleted one would be generated again within a day.
    """

    change_form_template = "catalogue/insight.html"
    list_display = [
        *("restaurant", "state", "beginning", "review_count", "generated_at", "assignee"),
    ]
    list_select_related = ["restaurant"]
    list_filter = [StateFilter, AssigneeFilter, ProviderFilter]
    empty_hint = "Insights are generated for restaurants with at least five reviews."
    actions = ["approve", "hide", "serve_again", "regenerate", *ASSIGNMENT_ACTIONS]
    fields = [
        "hidden",
        ("provider", "provider_version", "model", "cost_usd"),
        ("generated_at", "failed_at"),
        ("approved_at", "approved_by"),
        ("review_count", "restaurant_review_count", "reviews_through", "rating"),
    ]
    editable_fields = ("hidden",)

    @admin.display(description="Text")
    def beginning(self, insight: Insight) -> str:
        return Truncator(insight.text).chars(90)

    @admin.display(description="State")
    def state(self, insight: Insight) -> SafeString:
        if insight.hidden:
            return badge("hidden", "soft")
        if insights.is_pending_approval(insight):
            return badge("waiting for approval", "warn")
        return badge("served", "good") if insight.text else badge("no text", "soft")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Insight]:
        return super().get_queryset(request).select_related("restaurant")

    def render_change_form(self, request: HttpRequest, context: Any, **options: Any) -> HttpResponse:  # type: ignore[override]
        insight: Insight = options["obj"]
        context = {**context, "sheet": sheet(insight, now=timezone.now()), "subtitle": str(insight.restaurant)}
        return super().render_change_form(request, context, **options)

    def save_model(self, request: HttpRequest, obj: Insight, form: Any, change: bool) -> None:
        """Save only the fields that staff decide: the worker writes the same rows."""
        chosen = Insight.objects.filter(pk=obj.pk)
        insights.set_hidden(chosen, hidden=obj.hidden)
        if "_approve" in request.POST and not self.approve_as(request, chosen, request.POST.get("generated_at", "")):
            self.message_user(
                request, "Not approved: the text was regenerated since you opened the page.", messages.ERROR
            )

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """Texts waiting for approval, if approval is required."""
        if settings.INSIGHT_APPROVAL == "none":
            return []
        address = f"{reverse('admin:catalogue_insight_changelist')}?state=waiting"
        waiting = Insight.objects.filter(insights.pending_approval())
        return [self.count_pending(request, "insights to approve", waiting, address)]

    @admin.action(description="Approve the texts of the selected insights", permissions=["change"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Insight]) -> HttpResponse | None:
        """Show the texts; after confirmation approve those that were shown."""
        if "confirmed" not in request.POST:
            with_text = queryset.exclude(text="")
            shown = {"insights": with_text[:MAX_APPROVALS], "more": max(0, with_text.count() - MAX_APPROVALS)}
            title = "Approve these texts?"
            return render_confirmation(
                self, request, "catalogue/confirm_approval.html", title=title, action="approve", **shown
            )
        approved = 0
        chosen = {str(pk): pk for pk in queryset.values_list("pk", flat=True)}
        for read in request.POST.getlist("read"):
            key, _, moment = read.partition(" ")
            if key in chosen:
                approved += self.approve_as(request, queryset.filter(pk=chosen[key]), moment)
        approved_insights = "1 insight" if approved == 1 else f"{approved} insights"
        self.message_user(request, f"{approved_insights} approved.", messages.SUCCESS)
        return None

    @confirmed_action(
        "Hide the selected insights",
        message="These insights are no longer served: clients get null, free of charge.",
        confirm_label="Hide insights",
        applies_to=lambda insights: insights.filter(hidden=False),
    )
    def hide(self, request: HttpRequest, queryset: QuerySet[Insight]) -> None:
        """Serve null instead, free of charge."""
        hidden = insights.set_hidden(queryset, hidden=True)
        self.message_user(request, f"{hidden} insights hidden.", messages.SUCCESS)

    @confirmed_action(
        "Show the selected insights again",
        message="These insights are served again.",
        confirm_label="Show insights",
        applies_to=lambda insights: insights.filter(hidden=True),
    )
    def serve_again(self, request: HttpRequest, queryset: QuerySet[Insight]) -> None:
        served = insights.set_hidden(queryset, hidden=False)
        self.message_user(request, f"{served} insights are served again.", messages.SUCCESS)

    @admin.action(description="Regenerate the selected insights", permissions=["change"])
    def regenerate(self, request: HttpRequest, queryset: QuerySet[Insight]) -> HttpResponse | None:
        """Ask for confirmation, of a model with its maximum cost; then mark as stale and enqueue the task."""
        provider, title = insights.get_provider(), "Regenerate insights?"
        if "confirmed" not in request.POST and isinstance(provider, RemoteProvider):
            places = list(queryset.order_by().values_list("pk", flat=True))
            context = {
                "count": len(places),
                "model": provider.model,
                "max_cost_usd": llm_job.estimate_max_cost(places, provider=provider),
                "day": cost_budget.daily_spending(timezone.now()),
                "budget": settings.INSIGHT_DAILY_BUDGET_USD,
            }
            return render_confirmation(
                self, request, "catalogue/confirm_rewrite_insights.html", title=title, action="regenerate", **context
            )
        if "confirmed" not in request.POST:
            return render_rows_confirmation(
                self,
                request,
                queryset,
                action="regenerate",
                title=title,
                message="The built-in provider regenerates these insights. The current texts are served until then.",
                confirm_label="Regenerate",
            )
        marked = insights.invalidate(queryset)
        transaction.on_commit(enqueue_insights)
        self.message_user(request, f"{marked} insights will be regenerated shortly.", messages.SUCCESS)
        return None

    def approve_as(self, request: HttpRequest, queryset: QuerySet[Insight], read: str) -> int:
        """Approve the insights as the signed-in user if they were generated at `read`; return their number."""
        generated_at = _moment(read)
        if generated_at is None:
            return 0
        staff = cast("User", request.user).get_username()
        return insights.approve(queryset, by=staff, now=timezone.now(), generated_at=generated_at)


def _moment(text: str) -> datetime | None:
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return read if read.tzinfo else None


@admin.register(InsightCall)
class InsightCallAdmin(RestaurantRowsAdmin, ReadOnlyAdmin):
    change_list_template = "catalogue/insight_calls.html"
    list_display = [
        *("started_at", "outcome_badge", "restaurant", "provider", "model", "cost_usd"),
        *("input_tokens", "output_tokens", "ended_at"),
    ]
    list_select_related = ["restaurant"]
    list_filter = ["outcome", ProviderFilter]
    outcome_badge = badge_column("outcome", "Outcome", refused="warn", dropped="soft")
    empty_hint = "No model calls yet. INSIGHT_PROVIDER sets the provider of insights."

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        now = timezone.now()
        today = {"day": cost_budget.daily_spending(now), "now": now, "budget": settings.INSIGHT_DAILY_BUDGET_USD}
        return super().changelist_view(request, {"today": today, **(extra_context or {})})

"""Insights beside the reviews that they cite, and the calls of models with what they cost, for staff."""

from datetime import datetime
from typing import Any, cast

from django.conf import settings
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.text import Truncator

from accounts.models import User
from catalogue import insights
from catalogue.admin.insight_detail import sheet
from catalogue.insights.pipeline import cost_budget, llm_job
from catalogue.insights.providers.base import RemoteProvider
from catalogue.models import Insight, InsightCall
from catalogue.tasks import enqueue_insights
from framework.admin.action_confirmation import ask
from framework.admin.large_tables import LargeTableAdmin
from framework.admin.pending_counts import PendingCount, count_bounded
from framework.admin.read_only import ReadOnlyAdmin

# Texts that are shown on one page before they are approved.
MOST_READ = 100


class StandingFilter(admin.SimpleListFilter):
    """How insights stand: what staff have to look at first."""

    title = "standing"
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The standings."""
        return [
            ("waiting", "Waiting for approval"),
            ("hidden", "Hidden"),
            ("stale", "Stale"),
            ("failed", "Provider failed"),
            ("silent", "Nothing to say"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Insight]) -> QuerySet[Insight]:
        """Those that stand so."""
        match self.value():
            case "waiting":
                return queryset.filter(insights.waiting())
            case "hidden":
                return queryset.filter(hidden=True)
            case "stale":
                stale = insights.is_stale(insights.chosen(), now=timezone.now(), restaurant="restaurant__")
                return queryset.filter(stale)
            case "failed":
                return queryset.filter(failed_at__isnull=False)
            case "silent":
                return queryset.filter(text="")
        return queryset


class ProviderFilter(admin.SimpleListFilter):
    """Who wrote them, of the providers there are; to look which are there would read the whole table."""

    title = "provider"
    parameter_name = "provider"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The providers."""
        return [("extractive", "Our own program"), ("anthropic", "anthropic"), ("openai", "openai")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Those by this one."""
        return queryset.filter(provider=self.value()) if self.value() else queryset


@admin.register(Insight)
class InsightAdmin(LargeTableAdmin):
    """Insights. Staff approve them, take them off the service or have them written anew; nobody words them by hand."""

    change_form_template = "catalogue/insight.html"
    list_display = ["restaurant", "beginning", "standing", "review_count", "provider", "cost_usd", "generated_at"]
    list_select_related = ["restaurant"]
    list_filter = [StandingFilter, ProviderFilter]
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "The slug of the restaurant, whole"
    nothing_yet = "Workers write insights of restaurants with five reviews or more."
    actions = ["approve", "hide", "serve_again", "write_anew"]
    fields = [
        "hidden",
        ("provider", "provider_version", "model", "cost_usd"),
        ("generated_at", "failed_at"),
        ("approved_at", "approved_by"),
        ("review_count", "restaurant_review_count", "reviews_through", "rating"),
    ]
    readonly_fields = [
        "provider",
        "provider_version",
        "model",
        "cost_usd",
        "generated_at",
        "failed_at",
        "approved_at",
        "approved_by",
        "review_count",
        "restaurant_review_count",
        "reviews_through",
        "rating",
    ]

    @admin.display(description="Text")
    def beginning(self, insight: Insight) -> str:
        """The first of its words."""
        return Truncator(insight.text).chars(90)

    @admin.display(description="Standing")
    def standing(self, insight: Insight) -> str:
        """Whether it is served, in a word."""
        if insight.hidden:
            return "hidden"
        if insights.is_waiting(insight):
            return "waiting for approval"
        return "served" if insight.text else "nothing to say"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Insight]:
        """With their restaurants, which both pages name."""
        return super().get_queryset(request).select_related("restaurant")

    def render_change_form(self, request: HttpRequest, context: Any, **options: Any) -> HttpResponse:  # type: ignore[override]
        """The form below the text and the reviews that it cites."""
        told = sheet(options["obj"], now=timezone.now())
        return super().render_change_form(request, {**context, "sheet": told}, **options)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Providers write these."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Insight | None = None) -> bool:
        """Hidden, not deleted: it would be written again within the day."""
        return False

    def save_model(self, request: HttpRequest, obj: Insight, form: Any, change: bool) -> None:
        """Write only what staff decide, for the worker writes the same rows."""
        chosen = Insight.objects.filter(pk=obj.pk)
        insights.hide(chosen, hidden=obj.hidden)
        if "_approve" in request.POST and not self.let_through(request, chosen, request.POST.get("generated_at", "")):
            self.message_user(request, "Not approved: the text was written anew while you read it.", messages.ERROR)

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """Texts that nobody has approved, where that is asked for."""
        if settings.INSIGHT_APPROVAL == "none":
            return []
        address = f"{reverse('admin:catalogue_insight_changelist')}?standing=waiting"
        return [
            PendingCount("insights to approve", count_bounded(Insight.objects.filter(insights.waiting())), address)
        ]

    @admin.action(description="Approve the texts of the selected insights", permissions=["change"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Insight]) -> HttpResponse | None:
        """Show the texts; then serve those that were shown, where they waited for that."""
        if "confirmed" not in request.POST:
            told = queryset.exclude(text="")
            shown = {"insights": told[:MOST_READ], "more": max(0, told.count() - MOST_READ)}
            title = "Approve these texts?"
            return ask(self, request, "catalogue/confirm_approval.html", title=title, action="approve", **shown)
        approved = 0
        chosen = {str(pk): pk for pk in queryset.values_list("pk", flat=True)}
        for read in request.POST.getlist("read"):
            key, _, moment = read.partition(" ")
            if key in chosen:
                approved += self.let_through(request, queryset.filter(pk=chosen[key]), moment)
        words = "1 insight is" if approved == 1 else f"{approved} insights are"
        self.message_user(request, f"{words} approved.", messages.SUCCESS)
        return None

    @admin.action(description="Take the selected insights off the service", permissions=["change"])
    def hide(self, request: HttpRequest, queryset: QuerySet[Insight]) -> None:
        """Serve null instead, free of charge."""
        hidden = insights.hide(queryset, hidden=True)
        self.message_user(request, f"{hidden} insights are not served any more.", messages.SUCCESS)

    @admin.action(description="Serve the selected insights again", permissions=["change"])
    def serve_again(self, request: HttpRequest, queryset: QuerySet[Insight]) -> None:
        """Serve their texts again."""
        served = insights.hide(queryset, hidden=False)
        self.message_user(request, f"{served} insights are served.", messages.SUCCESS)

    @admin.action(description="Have the selected insights written anew", permissions=["change"])
    def write_anew(self, request: HttpRequest, queryset: QuerySet[Insight]) -> HttpResponse | None:
        """Ask, saying what a model may cost; then mark them as stale and enqueue the task."""
        provider = insights.chosen()
        if isinstance(provider, RemoteProvider) and "confirmed" not in request.POST:
            places = list(queryset.order_by().values_list("pk", flat=True))
            told = {
                "count": len(places),
                "model": provider.model,
                "most": llm_job.most(places, provider=provider),
                "day": cost_budget.day(timezone.now()),
                "budget": settings.INSIGHT_DAILY_BUDGET_USD,
            }
            title = "Write insights anew?"
            return ask(
                self, request, "catalogue/confirm_rewrite_insights.html", title=title, action="write_anew", **told
            )
        forgotten = insights.forget(queryset)
        transaction.on_commit(enqueue_insights)
        self.message_user(request, f"{forgotten} insights will be written anew in a moment.", messages.SUCCESS)
        return None

    def let_through(self, request: HttpRequest, queryset: QuerySet[Insight], read: str) -> int:
        """Approve them in the name of who is signed in, where they are of the moment that was `read`; how many."""
        generated_at = _moment(read)
        if generated_at is None:
            return 0
        staff = cast("User", request.user).get_username()
        return insights.approve(queryset, by=staff, now=timezone.now(), generated_at=generated_at)


def _moment(text: str) -> datetime | None:
    """A moment with its zone; None where it is none."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return read if read.tzinfo else None


class OutcomeFilter(admin.SimpleListFilter):
    """How calls ended."""

    title = "outcome"
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The outcomes."""
        return list(InsightCall.Outcome.choices)

    def queryset(self, request: HttpRequest, queryset: QuerySet[InsightCall]) -> QuerySet[InsightCall]:
        """Those that ended so."""
        return queryset.filter(Q(outcome=self.value())) if self.value() else queryset


@admin.register(InsightCall)
class InsightCallAdmin(ReadOnlyAdmin):
    """What models were asked, what came of it and what it cost."""

    change_list_template = "catalogue/insight_calls.html"
    list_display = [
        "started_at",
        "restaurant",
        "provider",
        "model",
        "outcome",
        "cost_usd",
        "input_tokens",
        "output_tokens",
        "ended_at",
    ]
    list_select_related = ["restaurant"]
    list_filter = [OutcomeFilter, ProviderFilter]
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "The slug of the restaurant, whole"
    nothing_yet = "No model has been asked. INSIGHT_PROVIDER names the one that writes insights."

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list below what the day has cost."""
        now = timezone.now()
        today = {"day": cost_budget.day(now), "now": now, "budget": settings.INSIGHT_DAILY_BUDGET_USD}
        return super().changelist_view(request, {"today": today, **(extra_context or {})})

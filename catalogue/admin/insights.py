"""Insights beside the reviews that they cite, for staff."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from catalogue import insights
from catalogue.models import Insight, Review
from catalogue.tasks import ring_for_insights
from config.api.ids import decode, encode
from config.long_tables import LongTableAdmin


@admin.register(Insight)
class InsightAdmin(LongTableAdmin):
    """Insights. Staff take them off the service or have them written anew; nobody words them by hand."""

    list_display = ["restaurant", "beginning", "hidden", "review_count", "provider", "generated_at"]
    list_select_related = ["restaurant"]
    list_filter = ["hidden", "provider"]
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "The slug of the restaurant, whole"
    actions = ["hide", "serve_again", "write_anew"]
    fields = [
        "restaurant",
        ("hidden", "text"),
        "claims",
        "cited_reviews",
        "disclosure",
        ("review_count", "restaurant_review_count", "reviews_through", "rating"),
        ("provider", "provider_version", "generated_at", "failed_at"),
    ]
    readonly_fields = [
        "restaurant",
        "text",
        "claims",
        "cited_reviews",
        "disclosure",
        "review_count",
        "restaurant_review_count",
        "reviews_through",
        "rating",
        "provider",
        "provider_version",
        "generated_at",
        "failed_at",
    ]

    @admin.display(description="Text")
    def beginning(self, insight: Insight) -> str:
        """The first of its words."""
        return Truncator(insight.text).chars(90)

    @admin.display(description="Claims")
    def claims(self, insight: Insight) -> SafeString | str:
        """What is claimed, and how many reviews carry it."""
        lines = ((claim.get("name") or claim["text"], claim["mentions"]) for claim in counted(insight.detail))
        return format_html_join("", "{}: {} reviews<br>", lines) or "none"

    @admin.display(description="Cited reviews")
    def cited_reviews(self, insight: Insight) -> SafeString | str:
        """Their words, the newest first."""
        reviews = Review.objects.filter(restaurant=insight.restaurant_id, pk__in=cited(insight.detail))
        lines = (
            (encode("rev", review.pk), review.stars, f"{review.created_at:%d %b %Y}", review.text)
            for review in reviews.order_by("-created_at", "-id")
        )
        return format_html_join("", "<p><code>{}</code> {} stars, {}<br>{}</p>", lines) or "none"

    @admin.display(description="Disclosure")
    def disclosure(self, insight: Insight) -> str:
        """How it was made."""
        return str(insight.detail.get("disclosure", ""))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Providers write these."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Insight | None = None) -> bool:
        """Hidden, not deleted: it would be written again within the hour."""
        return False

    def save_model(self, request: HttpRequest, obj: Insight, form: Any, change: bool) -> None:
        """Write only what staff decide, for the worker writes the same rows."""
        insights.hide(Insight.objects.filter(pk=obj.pk), hidden=obj.hidden)

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
    def write_anew(self, request: HttpRequest, queryset: QuerySet[Insight]) -> None:
        """Mark them as stale and ring for the worker."""
        forgotten = insights.forget(queryset)
        transaction.on_commit(ring_for_insights)
        self.message_user(request, f"{forgotten} insights will be written anew in a moment.", messages.SUCCESS)


def counted(detail: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The claims of a detail that say how many reviews make them."""
    for part in ("dishes", "aspects", "watch_outs"):
        yield from detail.get(part, ())


def cited(detail: Mapping[str, Any]) -> set[UUID]:
    """The reviews that a detail cites."""
    best_time = detail.get("best_time") or {}
    texts = {text for claim in (*counted(detail), best_time) for text in claim.get("citations", ())}
    return {pk for text in texts if (pk := decode("rev", text))}

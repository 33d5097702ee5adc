"""Possible duplicate restaurants in the back office."""

from collections.abc import Callable
from typing import Any, cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.admin.assignments import ASSIGNMENT_ACTIONS, AssigneeFilter
from accounts.models import Assignment
from catalogue.admin.queues.base import ReviewQueueAdmin, StateFilter
from catalogue.admin.restaurants.mini_map import render_map
from catalogue.matching import duplicate_review
from catalogue.models import MatchCandidate, Restaurant
from catalogue.search.geocoding.distance import Location, distance_m
from framework.admin.action_confirmation import confirmed_action, render_confirmation
from framework.errors import ApiError

COMPARED = (
    *("name", "alt_names", "status", "line1", "postal_code", "locality", "neighborhood"),
    *("phone", "website", "cuisines", "review_count", "created_at"),
)

# Distances from here on are shown in kilometres.
FAR_M = 5000


@admin.register(MatchCandidate)
class MatchCandidateAdmin(ReviewQueueAdmin):
    """Pairs to review, highest score first. `identity.merge` merges duplicates."""

    list_display = ["score", "state_badge", "first_place", "second_place", "similarity", "found_at", "assignee"]
    list_display_links = ["score"]
    list_select_related = ["first", "second"]
    list_filter = [StateFilter, AssigneeFilter]
    ordering = ["-score", "id"]
    queue_label = "possible duplicates"
    # The page of a pair shows both restaurants.
    change_form_template = "catalogue/duplicate_pair.html"
    empty_hint = "Imports and applied duplicate reports add pairs."
    actions = ["same_place", "two_places", *ASSIGNMENT_ACTIONS]
    exclude = ["first", "second", "reasons"]
    readonly_fields = ["comparison", "score", "similarity", "state", "found_at", "decided_at", "decided_by"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("first", "second")

    def decide(self, request: HttpRequest, row: MatchCandidate, verdict: str) -> str | None:
        by, now = cast("int", request.user.pk), timezone.now()
        if verdict == "same":
            return f"{duplicate_review.merge_pair(row, by=by, now=now)} was merged."
        if verdict == "distinct":
            duplicate_review.mark_distinct(row, by=by, now=now)
            return f"{row.first} and {row.second} were kept as different restaurants."
        return None

    def page_context(self, row: MatchCandidate) -> dict[str, Any]:
        loser, survivor = duplicate_review.order_pair(row)
        return {
            "survivor": survivor,
            "loser": loser,
            "subtitle": f"{row.first} and {row.second}",
            "metres": apart(row.first, row.second),
            "map": render_map(row.first, marked=row.second_id),
        }

    @admin.display(description="First")
    def first_place(self, pair: MatchCandidate) -> SafeString:
        return _place(pair.first)

    @admin.display(description="Second")
    def second_place(self, pair: MatchCandidate) -> SafeString:
        return _place(pair.second)

    @admin.display(description="Similarity")
    def similarity(self, pair: MatchCandidate) -> str:
        return ", ".join(_reasons(pair.reasons)) or "none"

    @admin.display(description="Side by side")
    def comparison(self, pair: MatchCandidate) -> SafeString:
        rows = (
            (name.replace("_", " "), _cell(pair.first, name, pair.second), _cell(pair.second, name, pair.first))
            for name in COMPARED
        )
        _, survivor = duplicate_review.order_pair(pair)
        heads = ((_place(one), "kept" if one == survivor else "merged") for one in (pair.first, pair.second))
        return format_html(
            '<table class="pair"><tr><th>if merged</th>{}</tr>{}</table>',
            format_html_join("", "<th>{}<br>{}</th>", heads),
            format_html_join("", "<tr><th>{}</th><td>{}</td><td>{}</td></tr>", rows),
        )

    @admin.action(description="Same place: merge each pair", permissions=["change"])
    def same_place(self, request: HttpRequest, queryset: QuerySet[MatchCandidate]) -> HttpResponse | None:
        if "confirmed" in request.POST:
            self._decide_pairs(request, queryset, duplicate_review.merge_pair, "{} pairs were merged.")
            return None
        chosen = queryset.select_related("first", "second").order_by("-score", "pk")
        context = {"pairs": [(pair, *duplicate_review.order_pair(pair)) for pair in chosen]}
        template, title = "catalogue/confirm_duplicates.html", "Merge each pair?"
        return render_confirmation(self, request, template, title=title, action="same_place", **context)

    @confirmed_action(
        "Different places: keep both",
        message="These pairs are kept as different restaurants and leave the queue.",
        confirm_label="Keep both",
        applies_to=lambda pairs: pairs.filter(state=MatchCandidate.State.OPEN),
    )
    def two_places(self, request: HttpRequest, queryset: QuerySet[MatchCandidate]) -> None:
        message = "{} pairs were kept as different restaurants."
        self._decide_pairs(request, queryset, duplicate_review.mark_distinct, message)

    def _decide_pairs(
        self, request: HttpRequest, queryset: QuerySet[MatchCandidate], decide: Callable[..., object], message: str
    ) -> None:
        now, decided = timezone.now(), []
        for pair in queryset.select_related("first", "second").order_by("pk"):
            try:
                decide(pair, by=request.user.pk, now=now)
            except ApiError as refusal:
                self.message_user(request, f"{pair.first} and {pair.second}: {refusal.message}", messages.WARNING)
            else:
                decided.append(pair.pk)
        Assignment.objects.end(MatchCandidate, decided)
        if decided:
            self.message_user(request, message.format(len(decided)), messages.SUCCESS)


def apart(first: Restaurant, second: Restaurant) -> str | None:
    """Format the distance between two restaurants: 40 m, 12.5 km; None without both locations."""
    if None in (first.latitude, first.longitude, second.latitude, second.longitude):
        return None
    here, there = (Location(float(one.latitude or 0), float(one.longitude or 0)) for one in (first, second))
    metres = distance_m(here, there)
    return f"{metres:.0f} m" if metres < FAR_M else f"{metres / 1000:,.1f} km"


def _place(restaurant: Restaurant) -> SafeString:
    where = (
        ", ".join(part for part in (restaurant.line1, restaurant.locality) if part) or restaurant.neighborhood or ""
    )
    link = reverse("admin:catalogue_restaurant_change", args=[restaurant.pk])
    return format_html('<a href="{}">{}</a><br>{}', link, restaurant.name, where)


def _cell(restaurant: Restaurant, name: str, other: Restaurant) -> SafeString | str:
    value = getattr(restaurant, name)
    words = ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)
    return words if value == getattr(other, name) else format_html("<b>{}</b>", words)


def _reasons(reasons: dict[str, Any]) -> list[str]:
    """Return the similarities as text, for example `name 90%`; missing values are omitted."""
    lines = [f"{name} {reasons[name]:.0%}" for name in ("name", "address") if reasons.get(name) is not None]
    if reasons.get("phone") is not None:
        lines.append("same phone" if reasons["phone"] else "different phone")
    if reasons.get("distance_m") is not None:
        lines.append(f"{reasons['distance_m']} m apart")
    return lines

"""Where staff say whether two restaurants that look alike are one place."""

from collections.abc import Callable
from typing import Any, cast

from django.contrib import admin, messages
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from catalogue.admin.mini_map import map_of
from catalogue.admin.review_queue import StateFilter, WorkedOffAdmin
from catalogue.matching import duplicate_review
from catalogue.models import MatchCandidate, Restaurant
from catalogue.search.geocoding.distance import Location, distance_m
from framework.admin.action_confirmation import ask
from framework.errors import Refusal

COMPARED = (
    "name",
    "alt_names",
    "status",
    "line1",
    "postal_code",
    "locality",
    "neighborhood",
    "phone",
    "website",
    "cuisines",
    "review_count",
    "created_at",
)

# From here on nobody counts in metres.
FAR_M = 5000


@admin.register(MatchCandidate)
class MatchCandidateAdmin(WorkedOffAdmin):
    """Pairs to judge, the likeliest first. The restaurants become one by `identity.merge`."""

    list_display = ["score", "first_place", "second_place", "alike", "found_at", "state"]
    list_display_links = ["score"]
    list_select_related = ["first", "second"]
    list_filter = [StateFilter]
    ordering = ["-score", "id"]
    order = ("-score", "id")
    waits_as = "possible duplicates"
    # Both are shown on the page of a pair.
    change_form_template = "catalogue/duplicate_pair.html"
    nothing_yet = "Imports put pairs here that look alike, and so do reports of duplicates that staff apply."
    actions = ["same_place", "two_places"]
    exclude = ["first", "second", "reasons"]
    readonly_fields = ["comparison", "score", "alike", "state", "found_at", "decided_at", "decided_by"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With both restaurants."""
        return super().get_queryset(request).select_related("first", "second")

    def following(self, row: MatchCandidate) -> QuerySet[Any]:
        """The less alike."""
        return self.waiting().filter(Q(score__lt=row.score) | Q(score=row.score, pk__gt=row.pk), score__lte=row.score)

    def decided(self, request: HttpRequest, row: MatchCandidate, verdict: str) -> str | None:
        """One restaurant, or two."""
        by, now = cast("int", request.user.pk), timezone.now()
        if verdict == "same":
            return f"{duplicate_review.same(row, by=by, now=now)} is one restaurant now."
        if verdict == "distinct":
            duplicate_review.distinct(row, by=by, now=now)
            return f"{row.first} and {row.second} are two restaurants."
        return None

    def told(self, row: MatchCandidate) -> dict[str, Any]:
        """How far apart the two are, and where."""
        loser, survivor = duplicate_review.in_order(row)
        return {
            "survivor": survivor,
            "loser": loser,
            "subtitle": f"{row.first} and {row.second}",
            "metres": apart(row.first, row.second),
            "map": map_of(row.first, marked=row.second_id),
        }

    @admin.display(description="First")
    def first_place(self, pair: MatchCandidate) -> SafeString:
        """Name and address."""
        return _place(pair.first)

    @admin.display(description="Second")
    def second_place(self, pair: MatchCandidate) -> SafeString:
        """Name and address."""
        return _place(pair.second)

    @admin.display(description="Alike")
    def alike(self, pair: MatchCandidate) -> str:
        """What was alike when the pair was found."""
        return ", ".join(_reasons(pair.reasons)) or "nothing is told"

    @admin.display(description="Side by side")
    def comparison(self, pair: MatchCandidate) -> SafeString:
        """Both restaurants in a table; what differs is bold."""
        rows = (
            (name.replace("_", " "), _cell(pair.first, name, pair.second), _cell(pair.second, name, pair.first))
            for name in COMPARED
        )
        _, survivor = duplicate_review.in_order(pair)
        heads = ((_place(one), "stays" if one == survivor else "goes") for one in (pair.first, pair.second))
        return format_html(
            '<table class="pair"><tr><th>if the same</th>{}</tr>{}</table>',
            format_html_join("", "<th>{}<br>{}</th>", heads),
            format_html_join("", "<tr><th>{}</th><td>{}</td><td>{}</td></tr>", rows),
        )

    @admin.action(description="Same place: make one of the two", permissions=["change"])
    def same_place(self, request: HttpRequest, queryset: QuerySet[MatchCandidate]) -> HttpResponse | None:
        """Ask, with who stays of each pair, then merge."""
        if "confirmed" in request.POST:
            self._decide(request, queryset, duplicate_review.same, "{} pairs are one restaurant each now.")
            return None
        chosen = queryset.select_related("first", "second").order_by("-score", "pk")
        told = {"pairs": [(pair, *duplicate_review.in_order(pair)) for pair in chosen]}
        return ask(
            self, request, "catalogue/confirm_duplicates.html", title="One place each?", action="same_place", **told
        )

    @admin.action(description="Two places: do not ask again", permissions=["change"])
    def two_places(self, request: HttpRequest, queryset: QuerySet[MatchCandidate]) -> None:
        """Keep each pair apart."""
        self._decide(request, queryset, duplicate_review.distinct, "{} pairs are two restaurants each.")

    def _decide(
        self, request: HttpRequest, queryset: QuerySet[MatchCandidate], decide: Callable[..., object], words: str
    ) -> None:
        now, decided = timezone.now(), 0
        for pair in queryset.select_related("first", "second").order_by("pk"):
            try:
                decide(pair, by=request.user.pk, now=now)
            except Refusal as refusal:
                self.message_user(request, f"{pair.first} and {pair.second}: {refusal.message}", messages.WARNING)
            else:
                decided += 1
        if decided:
            self.message_user(request, words.format(decided), messages.SUCCESS)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Importers find pairs."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Who decided what stays."""
        return False


def apart(first: Restaurant, second: Restaurant) -> str | None:
    """How far two restaurants are from each other: 40 m, 12.5 km; None where one of them has no location."""
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
    """The name by so many percent, and so on; what one of the two does not say is left out."""
    said = [f"{what} {reasons[what]:.0%}" for what in ("name", "address") if reasons.get(what) is not None]
    if reasons.get("phone") is not None:
        said.append("same phone" if reasons["phone"] else "another phone")
    if reasons.get("metres") is not None:
        said.append(f"{reasons['metres']} m apart")
    return said

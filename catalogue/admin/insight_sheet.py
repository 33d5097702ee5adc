"""The detail page of an insight: text, claims, cited reviews, model calls and state."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from catalogue import insights
from catalogue.insights.pipeline import staleness
from catalogue.models import Insight, InsightCall, InsightDemand, Review
from framework.public_ids import decode, encode

# The newest calls that are listed; a restaurant has a few a year.
MAX_CALLS = 20


@dataclass(slots=True)
class Claim:
    """A claim of an insight, with the numbers of the reviews on the sheet that support it."""

    number: int
    kind: str
    text: str
    support: str
    citations: list[int] = field(default_factory=list)
    missing: int = 0


@dataclass(slots=True)
class Cited:
    """A cited review, with the numbers of the claims that cite it."""

    number: int
    id: str
    review: Review
    claims: list[int] = field(default_factory=list)

    @property
    def stars(self) -> str:
        return "★" * self.review.stars + "☆" * (5 - self.review.stars)


def sheet(insight: Insight, *, now: datetime) -> dict[str, Any]:
    """Return what the page shows besides the fields of an insight whose restaurant is loaded. Four queries."""
    found_claims = list(claims(insight.detail))
    wanted = {pk for _, _, _, citations in found_claims for pk in keys(citations)}
    found = Review.objects.filter(restaurant=insight.restaurant_id, pk__in=wanted).order_by("-created_at", "-id")
    reviews = [Cited(number, encode("rev", review.pk), review) for number, review in enumerate(found, start=1)]
    by_key = {cited.review.pk: cited for cited in reviews}
    shown = []
    for number, (kind, text, support, citations) in enumerate(found_claims, start=1):
        cited_reviews = [by_key[pk] for pk in keys(citations) if pk in by_key]
        for cited in cited_reviews:
            cited.claims.append(number)
        missing = len(citations) - len(cited_reviews)
        shown.append(Claim(number, kind, text, support, [cited.number for cited in cited_reviews], missing))
    calls = list(InsightCall.objects.filter(restaurant=insight.restaurant_id).order_by("-started_at")[:MAX_CALLS])
    languages = insight.detail.get("languages") or {}
    return {
        "claims": shown,
        "reviews": reviews,
        "calls": calls,
        "spent": sum((call.cost_usd for call in calls), Decimal(0)),
        "demand": InsightDemand.objects.filter(restaurant=insight.restaurant_id).first(),
        "stale": staleness.describe_staleness(insight, provider=insights.get_provider(), now=now),
        "is_waiting": insights.is_pending_approval(insight),
        "age_days": (now - insight.generated_at).days,
        "languages": ", ".join(f"{name} {count}" for name, count in languages.items()),
        "disclosure": str(insight.detail.get("disclosure", "")),
    }


def claims(detail: Mapping[str, Any]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield the claims of a detail: kind, text, support, and ids of the cited reviews."""
    for sentence in detail.get("sentences", ()):
        yield "Sentence", sentence["text"], "", list(sentence["citations"])
    if best := detail.get("best_time"):
        yield "Best time", best["text"], f"from {', '.join(best['basis'])}", list(best["citations"])
    for part, kind in (("dishes", "Dish"), ("aspects", "Aspect")):
        for claim in detail.get(part, ()):
            support = f"{claim['mentions']} reviews, {claim['positive_share']:.0%} positive"
            yield kind, claim["name"], support, list(claim["citations"])
    for claim in detail.get("features", ()):
        yield claim["kind"].capitalize(), claim["name"], f"{claim['mentions']} reviews", list(claim["citations"])
    for claim in detail.get("watch_outs", ()):
        yield "Complaint", claim["text"], f"{claim['mentions']} reviews", list(claim["citations"])


def keys(citations: list[str]) -> list[UUID]:
    return [pk for text in citations if (pk := decode("rev", text))]

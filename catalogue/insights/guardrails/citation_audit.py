"""Audit of stored insights: each cited review exists, belongs to the restaurant, and mentions the dish."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from uuid import UUID

from catalogue.insights.analysis import dish_names, review_analysis
from catalogue.insights.guardrails import output_validation
from catalogue.insights.pipeline.staleness import MIN_REVIEWS
from catalogue.insights.providers.base import MAX_TEXT_LENGTH
from catalogue.models import Insight, Review
from framework.cli.progress import OnProgress, no_progress
from framework.public_ids import decode

# Insights that are loaded at once with all cited reviews: about 5,000, one or two megabytes.
BATCH = 100


@dataclass(frozen=True, slots=True)
class CitationError:
    """One error of an insight; `review` is empty if it is not about a citation."""

    slug: str
    claim: str
    review: str
    message: str


def audit_citations(*, restaurant: UUID | None = None, on_step: OnProgress = no_progress) -> Iterator[CitationError]:
    """Check all insights that are served, or that of one restaurant. Two queries for each BATCH.

    A cited review that was deleted since is an error too: the insight must be written again. With too few reviews left
    it is neither served nor written again, so it is not checked.
    """
    insights = Insight.objects.exclude(text="").filter(restaurant__review_count__gte=MIN_REVIEWS)
    insights = insights.select_related("restaurant").only("text", "detail", "restaurant__slug")
    if restaurant:
        insights = insights.filter(pk=restaurant)
    total, checked = insights.count(), 0
    while batch := list(insights.order_by("pk")[:BATCH]):
        yield from _audit_batch(batch)
        checked += len(batch)
        on_step("insights", checked, max(checked, total))
        insights = insights.filter(pk__gt=batch[-1].pk)


def list_citations(detail: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each citation of a detail: its part ("dishes"), the name of the claim, and the id of the review."""
    for part, content in detail.items():
        for claim in content if isinstance(content, list) else [content]:
            if isinstance(claim, dict):
                name = str(claim.get("name") or claim.get("text") or part)
                for citing in (claim, *claim.get("windows", ())):
                    for review in citing.get("citations", ()):
                        yield part, name, review


def _audit_batch(insights: Sequence[Insight]) -> Iterator[CitationError]:
    keys = (decode("rev", review) for insight in insights for _, _, review in list_citations(insight.detail))
    rows = Review.objects.filter(pk__in={key for key in keys if key}).values_list("pk", "restaurant", "text")
    reviews = {pk: (restaurant, text) for pk, restaurant, text in rows}
    for insight in insights:
        slug = insight.restaurant.slug
        if len(insight.text) > MAX_TEXT_LENGTH:
            yield CitationError(slug, "text", "", f"is longer than {MAX_TEXT_LENGTH} characters")
        # Older insights have no features.
        parts = (insight.detail.get(part, ()) for part in ("dishes", "aspects", "watch_outs", "features"))
        for claim in chain.from_iterable(parts):
            name = claim.get("name") or claim["text"]
            if not 0 < len(claim["citations"]) <= claim["mentions"]:
                message = f"cites {len(claim['citations'])} of {claim['mentions']} reviews"
                yield CitationError(slug, name, "", message)
        for part, name, review in list_citations(insight.detail):
            key = decode("rev", review)
            if key not in reviews:
                yield CitationError(slug, name, review, "is no review")
            elif reviews[key][0] != insight.restaurant_id:
                yield CitationError(slug, name, review, "is a review of another restaurant")
            elif part == "dishes" and not mentions_dish(reviews[key][1], name):
                yield CitationError(slug, name, review, "does not name it")


def mentions_dish(text: str, dish: str) -> bool:
    """Whether a review mentions a dish, in any plural, accents or script, or with a spelling mistake."""
    key = f" {dish_names.normalize_name(dish)} "
    if any(key in f" {found} " for found in review_analysis.find_dish_keys(text)):
        return True
    return output_validation.contains_name(output_validation.to_ascii(text), output_validation.to_ascii(dish))

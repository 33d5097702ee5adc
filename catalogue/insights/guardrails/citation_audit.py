"""Whether insights hold: each review that one cites is there, is of its restaurant, and names the dish."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from catalogue.insights.analysis import dish_names, review_analysis
from catalogue.insights.guardrails import output_validation
from catalogue.insights.providers.base import LONGEST
from catalogue.models import Insight, Review
from framework.cli.progress import OnProgress, no_progress
from framework.public_ids import decode

# Insights that are looked at together, with all reviews that they cite: some 5,000, a megabyte or two.
BATCH = 100

Said = tuple[UUID, str]


@dataclass(frozen=True, slots=True)
class Fault:
    """What does not hold in an insight: of which restaurant, which claim, which review, and what is wrong."""

    slug: str
    claim: str
    review: str
    what: str


def faults(*, restaurant: UUID | None = None, on_step: OnProgress = no_progress) -> Iterator[Fault]:
    """What does not hold in all insights with a text, or in that of one restaurant. Two queries for BATCH of them.

    A review that its source has taken back since is a fault too: the insight is to be written anew.
    """
    found = Insight.objects.exclude(text="").select_related("restaurant").only("text", "detail", "restaurant__slug")
    if restaurant:
        found = found.filter(pk=restaurant)
    total, seen = found.count(), 0
    while batch := list(found.order_by("pk")[:BATCH]):
        yield from _faults(batch)
        seen += len(batch)
        on_step("insights", seen, max(seen, total))
        found = found.filter(pk__gt=batch[-1].pk)


def citations(detail: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Each claim of a detail with each review that it cites: the part it is in, its name, and the id."""
    for part, found in detail.items():
        for claim in found if isinstance(found, list) else [found]:
            if isinstance(claim, dict):
                name = str(claim.get("name") or claim.get("text") or part)
                for review in (*claim.get("citations", ()), *_of_windows(claim)):
                    yield part, name, review


def _of_windows(claim: Mapping[str, Any]) -> Iterator[str]:
    for window in claim.get("windows", ()):
        yield from window["citations"]


def _faults(insights: Sequence[Insight]) -> Iterator[Fault]:
    keys = (decode("rev", review) for insight in insights for _, _, review in citations(insight.detail))
    cited = {key for key in keys if key}
    said: dict[UUID, Said] = {
        pk: (place, text)
        for pk, place, text in Review.objects.filter(pk__in=cited).values_list("pk", "restaurant", "text")
    }
    for insight in insights:
        slug = insight.restaurant.slug
        if len(insight.text) > LONGEST:
            yield Fault(slug, "text", "", f"is longer than {LONGEST} characters")
        for claim in (*insight.detail["dishes"], *insight.detail["aspects"], *insight.detail["watch_outs"]):
            name = claim.get("name") or claim["text"]
            if not 0 < len(claim["citations"]) <= claim["mentions"]:
                yield Fault(slug, name, "", f"cites {len(claim['citations'])} of {claim['mentions']} reviews")
        for part, name, review in citations(insight.detail):
            key = decode("rev", review)
            dish = name if part == "dishes" else ""
            if what := _wrong(insight.restaurant_id, dish, said.get(key) if key else None):
                yield Fault(slug, name, review, what)


def _wrong(restaurant: UUID, dish: str, said: Said | None) -> str:
    """What is wrong with a review that is cited; empty where nothing is."""
    if said is None:
        return "is no review"
    place, text = said
    if place != restaurant:
        return "is a review of another restaurant"
    if dish and not names(text, dish):
        return "does not name it"
    return ""


def names(text: str, dish: str) -> bool:
    """Whether a review names a dish, in whatever plural, accents or script, or nearly so."""
    return dish_names.key(dish) in review_analysis.names(text) or output_validation.carries(
        output_validation.folded(dish), output_validation.folded(text)
    )

"""The field group `ai_insight`: a stored insight, or why there is none."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Case, Value, When

from catalogue.insights import MIN_REVIEWS, is_pending_approval, stale_condition
from catalogue.insights.providers.registry import get_provider
from catalogue.models import Insight, Restaurant
from catalogue.places import Place

# Why there is no insight.
REASONS = ("too_few_reviews", "nothing_to_say", "not_written_yet", "awaiting_approval", "withheld")
TOO_FEW_REVIEWS, NOTHING_TO_SAY, NOT_WRITTEN_YET, AWAITING_APPROVAL, WITHHELD = REASONS


def read_group(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """Return the text and detail of the insight, even if it is stale, or the reason why there is none. One query."""
    stale = Case(
        When(stale_condition(get_provider(), now=now, restaurant="restaurant__"), then=Value(True)),
        default=Value(False),
    )
    found = Insight.objects.filter(restaurant=restaurant.pk).annotate(stale=stale).first()
    reason = _reason(restaurant, found)
    if found is None or reason:
        return {"ai_insight": None, "ai_insight_detail": None, "ai_insight_reason": reason}
    detail = {
        "summary": found.text,
        # Older insights have no language counts and no features.
        "languages": {},
        "features": [],
        **found.detail,
        "review_count": found.review_count,
        "reviews_through": found.reviews_through,
        "generated_at": found.generated_at,
        "model": " ".join(filter(None, [found.provider, found.provider_version, found.model])),
        "stale": found.stale,
    }
    return {"ai_insight": found.text, "ai_insight_detail": detail, "ai_insight_reason": None}


def cited_reviews(detail: Any) -> Iterator[str]:
    """The ids of the reviews that a detail, or a part of one, cites."""
    if isinstance(detail, Mapping):
        yield from detail.get("citations", ())
        detail = detail.values()
    if isinstance(detail, Iterable) and not isinstance(detail, str):
        for part in detail:
            yield from cited_reviews(part)


def limit_citations(detail: Any, limit: int) -> Any:
    """The detail, or a part of one, with the newest `limit` citations of each claim."""
    if isinstance(detail, Mapping):
        return {
            name: part[:limit] if name == "citations" else limit_citations(part, limit)
            for name, part in detail.items()
        }
    return [limit_citations(part, limit) for part in detail] if isinstance(detail, list) else detail


def _reason(restaurant: Restaurant | Place, found: Insight | None) -> str | None:
    if found and found.hidden:
        return WITHHELD
    if restaurant.review_count < MIN_REVIEWS:
        return TOO_FEW_REVIEWS
    if found and found.text:
        return AWAITING_APPROVAL if is_pending_approval(found) else None
    if found is None or found.failed_at:
        return NOT_WRITTEN_YET
    # An insight without text: too few reviews are stored, or none of them supports a claim.
    return TOO_FEW_REVIEWS if found.review_count < MIN_REVIEWS else NOTHING_TO_SAY


def needs_insight(group: Mapping[str, Any]) -> bool:
    """Whether the insight is missing or stale, so that a new one could be generated."""
    detail = group.get("ai_insight_detail")
    return group.get("ai_insight_reason") == NOT_WRITTEN_YET or bool(detail and detail["stale"])

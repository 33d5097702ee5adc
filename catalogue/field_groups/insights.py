"""What reviews say, as it was written down by catalogue.insights."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Case, Value, When

from catalogue.insights import MIN_REVIEWS, is_pending_approval, stale_condition
from catalogue.insights.providers.registry import get_provider
from catalogue.models import Insight, Restaurant
from catalogue.places import Place

# Why there is none.
TOO_FEW, NOTHING, NOT_YET, WITHHELD = "too_few_reviews", "nothing_to_say", "not_written_yet", "withheld"
AWAITING = "awaiting_approval"


def insight(restaurant: Restaurant | Place, now: datetime) -> dict[str, Any]:
    """The text and its detail, a stale one too; or None twice, and why. One query."""
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
        # Those of before languages were counted have none.
        "languages": {},
        **found.detail,
        "review_count": found.review_count,
        "reviews_through": found.reviews_through,
        "generated_at": found.generated_at,
        "model": " ".join(filter(None, [found.provider, found.provider_version, found.model])),
        "stale": found.stale,
    }
    return {"ai_insight": found.text, "ai_insight_detail": detail, "ai_insight_reason": None}


def _reason(restaurant: Restaurant | Place, found: Insight | None) -> str | None:
    if found and found.hidden:
        return WITHHELD
    if restaurant.review_count < MIN_REVIEWS:
        return TOO_FEW
    if found and found.text:
        return AWAITING if is_pending_approval(found) else None
    if found is None or found.failed_at:
        return NOT_YET
    # Written without a text: the restaurant counts more reviews than we have, or nothing in them makes a claim.
    return TOO_FEW if found.review_count < MIN_REVIEWS else NOTHING


def is_wanting(said: Mapping[str, Any]) -> bool:
    """Whether an insight that was told so is missing or stale, so that another could be written."""
    detail = said.get("ai_insight_detail")
    return said.get("ai_insight_reason") == NOT_YET or bool(detail and detail["stale"])

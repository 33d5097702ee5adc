"""Insights as rows: what is stored of a draft, and of one that is confirmed."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from catalogue.insights.pipeline.inputs import Material
from catalogue.insights.providers.base import Claim, InsightDraft
from catalogue.insights.providers.registry import Author
from catalogue.models import Insight

# Who writes insights holds their restaurants first, as mergers and erasures do, and as the triggers will: in the order
# of their keys, so that nobody waits for one of ours while we wait for one of his.
LOCK_RESTAURANTS = """
SELECT id FROM catalogue_restaurant
WHERE id = ANY (%s) AND erased_at IS NULL AND merged_into_id IS NULL
ORDER BY id FOR NO KEY UPDATE
"""

UNTOLD = InsightDraft(text="", disclosure="")

WRITTEN = (
    "text",
    "detail",
    "provider",
    "provider_version",
    "model",
    "cost_usd",
    "input_hash",
    "review_count",
    "restaurant_review_count",
    "reviews_through",
    "rating",
    "generated_at",
    "failed_at",
    "is_outdated",
    "approved_at",
    "approved_by",
)


def held(places: Iterable[UUID], *, unless_busy: bool = False) -> list[UUID]:
    """Lock these restaurants until the transaction ends; those that are not merged or erased, maybe a moment ago.

    `unless_busy` leaves out those that somebody else holds, where others are waited for.
    """
    with connection.cursor() as cursor:
        cursor.execute(LOCK_RESTAURANTS + (" SKIP LOCKED" if unless_busy else ""), [list(places)])
        return [pk for (pk,) in cursor.fetchall()]


def drafted(
    material: Material,
    draft: InsightDraft,
    *,
    author: Author,
    kept: Insight | None,
    now: datetime,
    cost_usd: Decimal = Decimal(0),
) -> Insight:
    """The row of a draft. What staff have approved stays approved only where every word of it is the same."""
    insight = counted(Insight(restaurant=material.restaurant), material, now=now)
    insight.provider, insight.provider_version, insight.model = author.name, author.version, author.model
    insight.text, insight.cost_usd = draft.text, cost_usd
    # As the column gives it back, or the same would differ from itself.
    insight.detail = orjson.loads(orjson.dumps({**to_json(draft), "languages": material.context.languages}))
    if kept and (kept.text, kept.detail) == (insight.text, insight.detail):
        insight.approved_at, insight.approved_by = kept.approved_at, kept.approved_by
    return insight


def counted(insight: Insight, material: Material, *, now: datetime) -> Insight:
    """The same insight, of this material and moment."""
    restaurant, context = material.restaurant, material.context
    insight.input_hash = material.digest
    insight.review_count = len(context.reviews)
    insight.restaurant_review_count = restaurant.review_count
    insight.reviews_through = context.reviews[0].created_at if context.reviews else now
    insight.rating = None if restaurant.rating is None else float(restaurant.rating)
    insight.generated_at = now
    insight.failed_at, insight.is_outdated = None, False
    return insight


def failed(material: Material, *, author: Author, kept: Insight | None, now: datetime) -> Insight:
    """The row of before, which is served on; without one the next attempt has nothing to compare its input with."""
    insight = kept or drafted(material, UNTOLD, author=author, kept=None, now=now)
    if kept is None:
        insight.input_hash = ""
    insight.failed_at = now
    return insight


def save(insights: Iterable[Insight]) -> None:
    """Write these rows; what staff have decided about hiding stays. One statement."""
    Insight.objects.bulk_create(insights, update_conflicts=True, unique_fields=["restaurant"], update_fields=WRITTEN)


def to_json(draft: InsightDraft) -> dict[str, Any]:
    """The detail of an insight, as it is kept and served."""
    best = draft.best_time
    sentences = [asdict(sentence) for sentence in draft.sentences]
    return {
        "best_time": None if best is None else asdict(best),
        "dishes": [_claim(claim) for claim in draft.dishes],
        "aspects": [_claim(claim) for claim in draft.aspects],
        "watch_outs": [asdict(watch_out) for watch_out in draft.watch_outs],
        "disclosure": draft.disclosure,
        **({"sentences": sentences} if sentences else {}),
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "name": claim.name,
        "mentions": claim.mentions,
        "positive_share": claim.positive_share,
        "citations": claim.citations,
    }

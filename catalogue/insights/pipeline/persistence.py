"""Insights as rows: from a draft, confirmed for a new input, or failed."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from catalogue.insights.pipeline.inputs import InsightInput
from catalogue.insights.providers.base import Claim, InsightDraft
from catalogue.insights.providers.registry import ProviderVersion
from catalogue.models import Insight

# Mergers, erasures and the triggers lock restaurants first too, in the order of their keys, so there is no deadlock.
LOCK_RESTAURANTS = """
SELECT id FROM catalogue_restaurant
WHERE id = ANY (%s) AND erased_at IS NULL AND merged_into_id IS NULL
ORDER BY id FOR NO KEY UPDATE
"""

EMPTY_DRAFT = InsightDraft(text="", disclosure="")

# `hidden` is the decision of staff; a trigger sets `updated_at`.
UPDATED_FIELDS = [
    field.name for field in Insight._meta.concrete_fields if field.name not in ("restaurant", "hidden", "updated_at")
]


def lock_restaurants(restaurants: Iterable[UUID], *, skip_locked: bool = False) -> list[UUID]:
    """Lock these restaurants until the end of the transaction. Returns those that are not merged or erased."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK_RESTAURANTS + (" SKIP LOCKED" if skip_locked else ""), [list(restaurants)])
        return [pk for (pk,) in cursor.fetchall()]


def build_row(
    source: InsightInput,
    draft: InsightDraft,
    *,
    version: ProviderVersion,
    previous: Insight | None,
    now: datetime,
    cost_usd: Decimal = Decimal(0),
) -> Insight:
    """The row of a draft. It stays approved only if text and detail equal those of the previous row."""
    insight = confirm_row(Insight(restaurant=source.restaurant), source, now=now)
    insight.provider, insight.provider_version, insight.model = version.name, version.version, version.model
    insight.text, insight.cost_usd = draft.text, cost_usd
    # Through JSON and back, so that it compares equal to the detail of a row from the database.
    insight.detail = orjson.loads(orjson.dumps({**to_json(draft), "languages": source.context.languages}))
    if previous and (previous.text, previous.detail) == (insight.text, insight.detail):
        insight.approved_at, insight.approved_by = previous.approved_at, previous.approved_by
    return insight


def confirm_row(insight: Insight, source: InsightInput, *, now: datetime) -> Insight:
    """The same insight for this input and moment."""
    restaurant, context = source.restaurant, source.context
    insight.input_hash = source.digest
    insight.review_count = len(context.reviews)
    insight.restaurant_review_count = restaurant.review_count
    insight.reviews_through = context.reviews[0].created_at if context.reviews else now
    insight.rating = None if restaurant.rating is None else float(restaurant.rating)
    insight.generated_at = now
    insight.failed_at, insight.is_outdated = None, False
    return insight


def build_failed_row(
    source: InsightInput, *, version: ProviderVersion, previous: Insight | None, now: datetime
) -> Insight:
    """The previous row, which is still served, or an empty one; `failed_at` delays the next attempt."""
    insight = previous or build_row(source, EMPTY_DRAFT, version=version, previous=None, now=now)
    if previous is None:
        insight.input_hash = ""
    insight.failed_at = now
    return insight


def upsert_rows(insights: Iterable[Insight]) -> None:
    """Write these rows, without the column `hidden`. One statement."""
    Insight.objects.bulk_create(
        insights, update_conflicts=True, unique_fields=["restaurant"], update_fields=UPDATED_FIELDS
    )


def to_json(draft: InsightDraft) -> dict[str, Any]:
    """The column `detail` of an insight."""
    sentences = [asdict(sentence) for sentence in draft.sentences]
    return {
        "best_time": asdict(draft.best_time) if draft.best_time else None,
        "dishes": [_claim_json(claim) for claim in draft.dishes],
        "aspects": [_claim_json(claim) for claim in draft.aspects],
        "watch_outs": [asdict(watch_out) for watch_out in draft.watch_outs],
        "features": [asdict(feature) for feature in draft.features],
        "disclosure": draft.disclosure,
        **({"sentences": sentences} if sentences else {}),
    }


def _claim_json(claim: Claim) -> dict[str, Any]:
    return {
        "name": claim.name,
        "mentions": claim.mentions,
        "positive_share": claim.positive_share,
        "citations": claim.citations,
    }

"""Insights in figures: how many are due and why, and what there is by who wrote it."""

from collections import Counter
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Count, Q, Sum

from catalogue.insights.staleness import NEW_REVIEWS, NEW_SHARE, OLD, RATING_MOVED
from catalogue.insights.writing import due
from catalogue.models import Insight, Restaurant

# Rows that are held at once.
CHUNK = 2_000

LANGUAGES = """
SELECT said.key, sum(said.value::integer) AS reviews
FROM catalogue_insight, jsonb_each_text(detail -> 'languages') AS said
WHERE text <> '' GROUP BY said.key ORDER BY reviews DESC, said.key
"""


class Written(NamedTuple):
    """What one provider has written: how many insights, how many of them without a text, and what became of them."""

    provider: str
    version: str
    model: str
    insights: int
    untold: int
    hidden: int
    approved: int
    failed: int
    cost_usd: Any


def why_due(*, now: datetime) -> Counter[str]:
    """How many insights are due, by the first reason of each: missing, failed, new reviews, rating, age, provider.

    Reads the insights that are due, in chunks; a second for 100,000 of them.
    """
    found = due(now=now).order_by("pk").select_related("insight").only("review_count", "rating", "insight")
    return Counter(_why(restaurant, now) for restaurant in found.iterator(chunk_size=CHUNK))


def by_provider() -> list[Written]:
    """What each provider has written. One query."""
    rows = Insight.objects.values_list("provider", "provider_version", "model").annotate(
        insights=Count("pk"),
        untold=Count("pk", filter=Q(text="")),
        hidden_ones=Count("pk", filter=Q(hidden=True)),
        approved=Count("pk", filter=Q(approved_at__isnull=False)),
        failed=Count("pk", filter=Q(failed_at__isnull=False)),
        cost=Sum("cost_usd"),
    )
    return [Written(*row) for row in rows.order_by("provider", "provider_version", "model")]


def languages() -> dict[str, int]:
    """How many reviews behind the insights have words in a language, the commonest first. One query."""
    with connection.cursor() as cursor:
        cursor.execute(LANGUAGES)
        return dict(cursor.fetchall())


def _why(restaurant: Restaurant, now: datetime) -> str:
    insight = getattr(restaurant, "insight", None)
    if insight is None:
        return "missing"
    if insight.failed_at:
        return "failed"
    difference = abs(restaurant.review_count - insight.restaurant_review_count)
    if difference >= NEW_REVIEWS or difference >= insight.restaurant_review_count * NEW_SHARE:
        return "new reviews"
    now_and_then = (restaurant.rating, insight.rating)
    if None not in now_and_then and abs(float(restaurant.rating or 0) - insight.rating) > RATING_MOVED:
        return "rating"
    return "age" if insight.generated_at <= now - OLD else "provider"

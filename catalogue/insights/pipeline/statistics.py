"""Insights in figures: how many are due and why, and what there is by who wrote it."""

from collections import Counter
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Case, Count, Q, Sum, Value, When

from catalogue.insights.pipeline.refresh import due
from catalogue.insights.pipeline.staleness import why_stale
from catalogue.insights.providers.registry import chosen
from catalogue.models import Insight

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
    """How many insights are due, by the first reason of each: missing, failed, or one of staleness. One query."""
    conditions = {
        "missing": Q(insight=None),
        "failed": Q(insight__failed_at__isnull=False),
        **why_stale(chosen(), now=now, insight="insight__"),
    }
    why = Case(*(When(condition, then=Value(reason)) for reason, condition in conditions.items()))
    return Counter(dict(due(now=now).order_by().values_list(why).annotate(Count("pk"))))


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

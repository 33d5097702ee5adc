"""Statistics of insights: how many are due and why, and how many there are by provider and language."""

from collections import Counter
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Case, Count, Q, QuerySet, Sum, Value, When

from catalogue.insights.pipeline.refresh import due_restaurants
from catalogue.insights.pipeline.staleness import stale_conditions
from catalogue.insights.providers.registry import get_provider
from catalogue.models import Insight

LANGUAGES = """
SELECT entry.key, sum(entry.value::integer) AS reviews
FROM catalogue_insight, jsonb_each_text(detail -> 'languages') AS entry
WHERE text <> '' GROUP BY entry.key ORDER BY reviews DESC, entry.key
"""


def count_due_by_reason(*, now: datetime) -> Counter[str]:
    """Count the due insights by their first reason: missing, failed, or one of staleness. One query."""
    conditions = {
        "missing": Q(insight=None),
        "failed": Q(insight__failed_at__isnull=False),
        **stale_conditions(get_provider(), now=now, insight="insight__"),
    }
    reason = Case(*(When(condition, then=Value(name)) for name, condition in conditions.items()))
    return Counter(dict(due_restaurants(now=now).order_by().values_list(reason).annotate(Count("pk"))))


def count_by_provider() -> QuerySet[Insight, tuple[Any, ...]]:
    """Count the insights of each provider, version and model: tuples of these and six numbers. One query."""
    rows = Insight.objects.values_list("provider", "provider_version", "model").annotate(
        insights=Count("pk"),
        without_text=Count("pk", filter=Q(text="")),
        hidden_insights=Count("pk", filter=Q(hidden=True)),
        approved=Count("pk", filter=Q(approved_at__isnull=False)),
        failed=Count("pk", filter=Q(failed_at__isnull=False)),
        cost=Sum("cost_usd"),
    )
    return rows.order_by("provider", "provider_version", "model")


def count_reviews_by_language() -> dict[str, int]:
    """Count the reviews behind the insights by language, the most frequent first. One query."""
    with connection.cursor() as cursor:
        cursor.execute(LANGUAGES)
        return dict(cursor.fetchall())

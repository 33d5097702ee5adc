"""When an insight is old: one rule for who writes it anew and for who serves it meanwhile."""

from datetime import datetime, timedelta

from django.db.models import F, FloatField, Q
from django.db.models.expressions import ExpressionWrapper
from django.db.models.functions import Abs, Cast
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual

from catalogue.insights.provider import InsightProvider

# Fewer reviews say too little (seed 001 is silent; the insight's own constraint holds it too).
FEWEST_REVIEWS = 5
NEW_REVIEWS = 10
NEW_SHARE = 0.1
# Ratings are tenths, and a difference of floats is not quite two of them.
RATING_MOVED = 0.15
OLD = timedelta(days=90)


def is_stale(provider: InsightProvider, *, now: datetime, insight: str = "", restaurant: str = "") -> Q:
    """The condition, for rows from which `insight` and `restaurant` lead to the two ("insight__", or "" for itself).

    Ten reviews or a tenth more or less, a rating that moved by 0.2, 90 days, or another provider.
    """
    reviews = Abs(F(f"{restaurant}review_count") - F(f"{insight}restaurant_review_count"))
    before = ExpressionWrapper(F(f"{insight}restaurant_review_count") * NEW_SHARE, output_field=FloatField())
    rating = Cast(F(f"{restaurant}rating"), FloatField())
    return (
        Q(GreaterThanOrEqual(reviews, NEW_REVIEWS))
        | Q(GreaterThanOrEqual(Cast(reviews, FloatField()), before))
        | Q(GreaterThan(Abs(rating - F(f"{insight}rating")), RATING_MOVED))
        | Q(**{f"{insight}generated_at__lte": now - OLD})
        | ~Q(**{f"{insight}provider": provider.name, f"{insight}provider_version": provider.version})
    )

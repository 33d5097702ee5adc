"""When an insight is old: one rule for who writes it anew and for who serves it meanwhile."""

from datetime import datetime, timedelta

from django.db.models import F, FloatField, Q
from django.db.models.expressions import ExpressionWrapper
from django.db.models.functions import Abs, Cast
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual

from catalogue.insights.chosen import FALLBACK, Author, Provider
from catalogue.insights.provider import RemoteProvider
from catalogue.models import Insight, Restaurant

# Fewer reviews say too little (seed 001 is silent; the insight's own constraint holds it too).
FEWEST_REVIEWS = 5
NEW_REVIEWS = 10
NEW_SHARE = 0.1
# Ratings are tenths, and a difference of floats is not quite two of them.
RATING_MOVED = 0.15
OLD = timedelta(days=90)


def is_stale(
    provider: Provider, *, now: datetime, insight: str = "", restaurant: str = "", or_by: Provider | None = None
) -> Q:
    """The condition, for rows from which `insight` and `restaurant` lead to the two ("insight__", or "" for itself).

    Ten reviews or a tenth more or less, a rating that moved by 0.2, 90 days, or neither this provider nor `or_by`.
    What was counted instead, as a model has given nothing, is as good as we have: it is not stale by its provider.
    """
    reviews = Abs(F(f"{restaurant}review_count") - F(f"{insight}restaurant_review_count"))
    before = ExpressionWrapper(F(f"{insight}restaurant_review_count") * NEW_SHARE, output_field=FloatField())
    rating = Cast(F(f"{restaurant}rating"), FloatField())
    good = Author.of(provider).wrote(insight)
    if or_by:
        good |= Author.of(or_by).wrote(insight)
    if isinstance(provider, RemoteProvider):
        good |= Author.of(FALLBACK).wrote(insight) & Q(**{f"{insight}failed_at__isnull": False})
    return (
        Q(GreaterThanOrEqual(reviews, NEW_REVIEWS))
        | Q(GreaterThanOrEqual(Cast(reviews, FloatField()), before))
        | Q(GreaterThan(Abs(rating - F(f"{insight}rating")), RATING_MOVED))
        | Q(**{f"{insight}generated_at__lte": now - OLD})
        | ~good
    )


def reasons(insight: Insight, restaurant: Restaurant, *, provider: Provider, now: datetime) -> list[str]:
    """Why this insight is stale, in words for staff; none where it is not. The same rule as `is_stale`."""
    told = []
    difference = restaurant.review_count - insight.restaurant_review_count
    if abs(difference) >= min(NEW_REVIEWS, insight.restaurant_review_count * NEW_SHARE):
        told.append(f"{abs(difference)} reviews {'more' if difference > 0 else 'fewer'} since")
    if restaurant.rating is not None and insight.rating is not None:
        moved = float(restaurant.rating) - insight.rating
        if abs(moved) > RATING_MOVED:
            told.append(f"the rating moved from {insight.rating:.1f} to {restaurant.rating:.1f}")
    if insight.generated_at <= now - OLD:
        told.append(f"{(now - insight.generated_at).days} days old")
    is_instead = (
        isinstance(provider, RemoteProvider)
        and insight.failed_at is not None
        and Author.behind(insight) == Author.of(FALLBACK)
    )
    if Author.behind(insight) != Author.of(provider) and not is_instead:
        told.append("to be written anew" if not insight.provider_version else "written by another provider or version")
    return told

"""When an insight is old: one rule for who writes it anew and for who serves it meanwhile."""

from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import BooleanField, F, FloatField, Q
from django.db.models.expressions import ExpressionWrapper
from django.db.models.functions import Abs, Cast
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual

from catalogue.insights.providers.base import RemoteProvider
from catalogue.insights.providers.registry import FALLBACK, Author, Provider
from catalogue.models import Insight

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

    Ten reviews or a tenth more or less, a rating that moved by 0.2, a review, hours or a discount that is another now,
    90 days, or neither this provider nor `or_by`.
    """
    return reduce(or_, why_stale(provider, now=now, insight=insight, restaurant=restaurant, or_by=or_by).values())


def why_stale(
    provider: Provider, *, now: datetime, insight: str = "", restaurant: str = "", or_by: Provider | None = None
) -> dict[str, Q]:
    """The conditions any of which makes an insight stale, by name. See is_stale.

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
    return {
        "reviews": Q(GreaterThanOrEqual(reviews, NEW_REVIEWS))
        | Q(GreaterThanOrEqual(Cast(reviews, FloatField()), before)),
        "rating": Q(GreaterThan(Abs(rating - F(f"{insight}rating")), RATING_MOVED)),
        "input": Q(**{f"{insight}is_outdated": True}),
        "age": Q(**{f"{insight}generated_at__lte": now - OLD}),
        "provider": ~good,
    }


def reasons(insight: Insight, *, provider: Provider, now: datetime) -> list[str]:
    """Why this insight, whose restaurant is loaded, is stale, in words for staff; none where it is not. One query."""
    conditions = why_stale(provider, now=now, restaurant="restaurant__")
    # Names of their own, for some are those of columns.
    asked = {f"by_{why}": ExpressionWrapper(each, output_field=BooleanField()) for why, each in conditions.items()}
    found = Insight.objects.filter(pk=insight.pk).values(**asked).first() or {}
    return [_words(why, insight, now) for why in conditions if found.get(f"by_{why}")]


def _words(why: str, insight: Insight, now: datetime) -> str:
    restaurant = insight.restaurant
    match why:
        case "reviews":
            more = restaurant.review_count - insight.restaurant_review_count
            return f"{abs(more)} reviews {'more' if more > 0 else 'fewer'} since"
        case "rating":
            return f"the rating moved from {insight.rating:.1f} to {restaurant.rating:.1f}"
        case "input":
            return "reviews, hours or discounts changed since"
        case "age":
            return f"{(now - insight.generated_at).days} days old"
    return "written by another provider or version" if insight.provider_version else "to be written anew"

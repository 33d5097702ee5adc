"""Staleness of insights: one rule for the refresh and for the API."""

from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import BooleanField, F, FloatField, Q
from django.db.models.expressions import ExpressionWrapper
from django.db.models.functions import Abs, Cast
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual

from catalogue.insights.providers.base import RemoteProvider
from catalogue.insights.providers.registry import FALLBACK, Provider, ProviderVersion
from catalogue.models import Insight

# A constraint of the insight table holds it too (seed 001 sets no number).
MIN_REVIEWS = 5
NEW_REVIEWS = 10
NEW_SHARE = 0.1
# Ratings are tenths; 0.15 means a difference of two of them in floating point.
RATING_CHANGE = 0.15
MAX_AGE = timedelta(days=90)


def stale_condition(
    provider: Provider,
    *,
    now: datetime,
    insight: str = "",
    restaurant: str = "",
    also_accepted: Provider | None = None,
) -> Q:
    """The condition for rows with the lookups `insight` and `restaurant` ("insight__", or "" for the row itself).

    An insight is stale if reviews changed by ten or by a tenth, the rating by 0.2, the text of a review, the hours or
    a discount changed, it is older than 90 days, or another provider than these wrote it.
    """
    conditions = stale_conditions(
        provider, now=now, insight=insight, restaurant=restaurant, also_accepted=also_accepted
    )
    return reduce(or_, conditions.values())


def stale_conditions(
    provider: Provider,
    *,
    now: datetime,
    insight: str = "",
    restaurant: str = "",
    also_accepted: Provider | None = None,
) -> dict[str, Q]:
    """The conditions of `stale_condition` by reason.

    An insight of the fallback is not stale by its provider if the model failed: there is nothing better.
    """
    change = Abs(F(f"{restaurant}review_count") - F(f"{insight}restaurant_review_count"))
    min_change = ExpressionWrapper(F(f"{insight}restaurant_review_count") * NEW_SHARE, output_field=FloatField())
    rating = Cast(F(f"{restaurant}rating"), FloatField())
    is_accepted = ProviderVersion.of(provider).as_condition(insight)
    if also_accepted:
        is_accepted |= ProviderVersion.of(also_accepted).as_condition(insight)
    if isinstance(provider, RemoteProvider):
        has_failed = Q(**{f"{insight}failed_at__isnull": False})
        is_accepted |= ProviderVersion.of(FALLBACK).as_condition(insight) & has_failed
    return {
        "reviews": Q(GreaterThanOrEqual(change, NEW_REVIEWS))
        | Q(GreaterThanOrEqual(Cast(change, FloatField()), min_change)),
        "rating": Q(GreaterThan(Abs(rating - F(f"{insight}rating")), RATING_CHANGE)),
        "input": Q(**{f"{insight}is_outdated": True}),
        "age": Q(**{f"{insight}generated_at__lte": now - MAX_AGE}),
        "provider": ~is_accepted,
    }


def describe_staleness(insight: Insight, *, provider: Provider, now: datetime) -> list[str]:
    """Why this insight is stale, for staff; empty if it is not. Its restaurant must be loaded. One query."""
    conditions = stale_conditions(provider, now=now, restaurant="restaurant__")
    # Prefixed, because some reasons are names of columns.
    columns = {
        f"by_{reason}": ExpressionWrapper(condition, output_field=BooleanField())
        for reason, condition in conditions.items()
    }
    row = Insight.objects.filter(pk=insight.pk).values(**columns).first() or {}
    return [_describe(reason, insight, now) for reason in conditions if row.get(f"by_{reason}")]


def _describe(reason: str, insight: Insight, now: datetime) -> str:
    restaurant = insight.restaurant
    match reason:
        case "reviews":
            change = restaurant.review_count - insight.restaurant_review_count
            return f"{abs(change)} reviews {'more' if change > 0 else 'fewer'} since"
        case "rating":
            return f"the rating moved from {insight.rating:.1f} to {restaurant.rating:.1f}"
        case "input":
            return "reviews, hours or discounts changed since"
        case "age":
            return f"{(now - insight.generated_at).days} days old"
    return "written by another provider or version" if insight.provider_version else "to be written again"

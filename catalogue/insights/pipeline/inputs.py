"""The input of insights: the newest reviews of a restaurant, its hours, discounts and menu, and their digest."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast
from uuid import UUID

import orjson
from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection
from django.db.models import OuterRef

from catalogue.hours.open_intervals import parse_hours
from catalogue.insights.pipeline.market_sample import read_market_rates
from catalogue.insights.providers.base import Context, Discount, ReviewInput
from catalogue.models import FlowRule, Restaurant
from framework.db.sql_files import read_sql
from framework.public_ids import encode
from orders.models import MenuItem

# Of a restaurant with more reviews the newest describe it as it is now.
MAX_REVIEWS = 5_000

REVIEWS = read_sql("catalogue", "list_newest_reviews")


@dataclass(frozen=True, slots=True)
class InsightInput:
    """The input of the insight of a restaurant, and the SHA-256 of what a provider sees of it."""

    restaurant: Restaurant
    context: Context
    digest: str


def load_inputs(restaurants: Sequence[UUID]) -> Iterator[InsightInput]:
    """Load the inputs of these restaurants; missing ones are left out.

    Three queries, and one a day for each market.
    """
    reviews: dict[UUID, list[ReviewInput]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(REVIEWS, [list(restaurants), MAX_REVIEWS])
        for restaurant_id, pk, stars, text, lang, created_at in cursor.fetchall():
            reviews[restaurant_id].append(ReviewInput(encode("rev", pk), stars, text, lang, created_at))
    discounts: dict[UUID, list[Discount]] = defaultdict(list)
    for rule in FlowRule.objects.filter(restaurant__in=restaurants, active=True).order_by("time", "pk"):
        discounts[rule.restaurant_id].append(Discount(tuple(rule.weekdays), rule.time, rule.percent))
    menu = MenuItem.objects.filter(menu__is_published=True, menu__venue__listing__restaurant=OuterRef("pk"))
    rows = (
        Restaurant.objects.only("slug", "name", "rating", "review_count", "hours", "market")
        .filter(pk__in=restaurants)
        .annotate(menu_names=ArraySubquery(menu.order_by("name", "pk").values("name")))
    )
    for restaurant in rows:
        context = Context(
            name=restaurant.name,
            rating=restaurant.rating,
            reviews=reviews[restaurant.pk],
            hours=parse_hours(restaurant),
            discounts=discounts[restaurant.pk],
            # Not a part of the digest: an insight is not written again because other restaurants changed.
            market=read_market_rates(restaurant.market_id),
            menu=cast(Any, restaurant).menu_names,
        )
        hashed = [
            context.name,
            restaurant.hours,
            [asdict(discount) for discount in context.discounts],
            [(review.id, review.stars, review.text, review.lang) for review in context.reviews],
            *([context.menu] if context.menu else []),
        ]
        yield InsightInput(restaurant, context, hashlib.sha256(orjson.dumps(hashed)).hexdigest())

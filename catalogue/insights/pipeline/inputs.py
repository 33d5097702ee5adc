"""What insights are written from: the newest reviews of a restaurant, its hours and discounts, and their digest."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from uuid import UUID

import orjson
from django.db import connection

from catalogue.hours.open_intervals import parse_hours
from catalogue.insights.providers.base import Context, Discount, Opinion
from catalogue.models import FlowRule, Restaurant
from framework.public_ids import encode

# Of a place with more reviews the newest tell how it is now.
MOST_REVIEWS = 5_000

# The newest reviews of each place, by their index.
REVIEWS = """
SELECT place.id, review.id, review.stars, review.text, review.lang, review.created_at
FROM unnest(%s::uuid[]) AS place (id) CROSS JOIN LATERAL (
    SELECT id, stars, text, lang, created_at FROM catalogue_review
    WHERE restaurant_id = place.id ORDER BY created_at DESC, id DESC LIMIT %s
) AS review
ORDER BY place.id, review.created_at DESC, review.id DESC
"""


@dataclass(frozen=True, slots=True)
class Material:
    """All that an insight of a restaurant is written from, and the SHA-256 of what a provider is given of it."""

    restaurant: Restaurant
    context: Context
    digest: str


def gather(places: Sequence[UUID]) -> Iterator[Material]:
    """What the insights of these restaurants are written from; of those that are there. Three queries."""
    reviews: dict[UUID, list[Opinion]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(REVIEWS, [list(places), MOST_REVIEWS])
        for place, pk, stars, text, lang, created_at in cursor.fetchall():
            reviews[place].append(Opinion(encode("rev", pk), stars, text, lang, created_at))
    discounts: dict[UUID, list[Discount]] = defaultdict(list)
    for rule in FlowRule.objects.filter(restaurant__in=places, active=True).order_by("time", "pk"):
        discounts[rule.restaurant_id].append(Discount(tuple(rule.weekdays), rule.time, rule.percent))
    wanted = Restaurant.objects.only("slug", "name", "rating", "review_count", "hours").filter(pk__in=places)
    for restaurant in wanted:
        context = Context(
            name=restaurant.name,
            rating=restaurant.rating,
            reviews=reviews[restaurant.pk],
            hours=parse_hours(restaurant),
            discounts=discounts[restaurant.pk],
        )
        yield Material(restaurant, context, _digest(restaurant, context))


def _digest(restaurant: Restaurant, context: Context) -> str:
    given = [
        context.name,
        restaurant.hours,
        [asdict(discount) for discount in context.discounts],
        [(review.id, review.stars, review.text, review.lang) for review in context.reviews],
    ]
    return hashlib.sha256(orjson.dumps(given)).hexdigest()

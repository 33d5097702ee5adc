"""Writing insights down: which restaurants are due, what theirs are made from, and batches that are each whole."""

import hashlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from django.db import connection, transaction
from django.db.models import Q, QuerySet

from catalogue.insights.extractive import Extractive
from catalogue.insights.provider import (
    LONGEST,
    Claim,
    Context,
    Discount,
    InsightDraft,
    InsightProvider,
    Opinion,
)
from catalogue.insights.staleness import FEWEST_REVIEWS, is_stale
from catalogue.models import FlowRule, Insight, Restaurant
from catalogue.opening import stated
from config.api.ids import encode

logger = logging.getLogger("catalogue.insights")

PROVIDER: InsightProvider = Extractive()

# PostgreSQL ends a transaction that idles for 10 s; a thousand reviews are read in a third of one.
BATCH = 1_000
# Of a place with more reviews the newest tell how it is now.
MOST_REVIEWS = 5_000
# Restaurants that are looked up at once; their reviews are what takes time.
MOST_DUE = 2_000
# A restaurant on which the provider fails waits so long, lest it come first again and again.
RETRY_AFTER = timedelta(days=1)
# Beside those of the importers.
LOCK = 7_303

# The newest reviews of each place, by their index.
REVIEWS = """
SELECT place.id, review.id, review.stars, review.text, review.lang, review.created_at
FROM unnest(%s::uuid[]) AS place (id) CROSS JOIN LATERAL (
    SELECT id, stars, text, lang, created_at FROM catalogue_review
    WHERE restaurant_id = place.id ORDER BY created_at DESC, id DESC LIMIT %s
) AS review
ORDER BY place.id, review.created_at DESC, review.id DESC
"""

# Who writes insights holds their restaurants first, as mergers and erasures do, and as the triggers will: in the order
# of their keys, so that nobody waits for one of ours while we wait for one of his.
LOCK_RESTAURANTS = """
SELECT id FROM catalogue_restaurant
WHERE id = ANY (%s) AND erased_at IS NULL AND merged_into_id IS NULL
ORDER BY id FOR NO KEY UPDATE
"""

UNTOLD = InsightDraft(text="", disclosure="")

WRITTEN = (
    "text",
    "detail",
    "provider",
    "provider_version",
    "input_hash",
    "review_count",
    "restaurant_review_count",
    "reviews_through",
    "rating",
    "generated_at",
    "failed_at",
)


def refresh(*, now: datetime, at_most: int, provider: InsightProvider = PROVIDER) -> int:
    """Write the insights that are missing or stale, those of the most reviewed places first; how many that were.

    Stops after about `at_most` reviews, so 0 says that nothing is due or that another worker is at it: one does this
    at a time. Each batch is a short transaction, in which the provider runs; what it makes of the same input again is
    not asked for. Where it fails that is logged and noted, and the others go on. 7 ms a restaurant of 28 reviews.
    """
    done = 0
    for batch in _batches(due(now=now, provider=provider)[:MOST_DUE].values_list("pk", "review_count"), at_most):
        with transaction.atomic():
            if not _is_alone():
                break
            done += _write(batch, now=now, provider=provider)
    return done


def due(*, now: datetime, provider: InsightProvider = PROVIDER) -> QuerySet[Restaurant]:
    """Restaurants with enough reviews and no insight, a stale one, or one that failed a while ago."""
    return Restaurant.objects.filter(
        Q(insight=None) | is_stale(provider, now=now, insight="insight__") | Q(insight__failed_at__isnull=False),
        ~Q(insight__failed_at__gt=now - RETRY_AFTER),
        review_count__gte=FEWEST_REVIEWS,
    ).order_by("-review_count", "pk")


def forget(insights: QuerySet[Insight]) -> int:
    """Make these insights stale, and their input one that never was, so that they are written anew; how many."""
    with transaction.atomic():
        places = _held(insights.order_by().values_list("pk", flat=True))
        return Insight.objects.filter(pk__in=places).update(provider_version="", input_hash="", failed_at=None)


def hide(insights: QuerySet[Insight], *, hidden: bool) -> int:
    """Take these insights off the service, or serve them again; how many."""
    with transaction.atomic():
        places = _held(insights.order_by().values_list("pk", flat=True))
        return Insight.objects.filter(pk__in=places).update(hidden=hidden)


def _batches(found: Iterable[tuple[UUID, int]], at_most: int) -> Iterator[list[UUID]]:
    batch: list[UUID] = []
    reviews = total = 0
    for pk, count in found:
        batch.append(pk)
        reviews += min(count, MOST_REVIEWS)
        if reviews >= BATCH:
            yield batch
            total += reviews
            if total >= at_most:
                return
            batch, reviews = [], 0
    if batch:
        yield batch


def _is_alone() -> bool:
    """Whether no other worker writes insights, and none will until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        return bool(cursor.fetchone()[0])


def _held(places: Iterable[UUID]) -> list[UUID]:
    """Lock these restaurants until the transaction ends; those that are not merged or erased, maybe a moment ago."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK_RESTAURANTS, [list(places)])
        return [pk for (pk,) in cursor.fetchall()]


def _write(wanted: Sequence[UUID], *, now: datetime, provider: InsightProvider) -> int:
    places = _held(wanted)
    # Who asks for one of these to be written anew waits for us, and is not overlooked.
    held = Insight.objects.select_for_update().order_by("pk").in_bulk(places)
    made = []
    for restaurant, context in _contexts(places):
        digest = _digest(restaurant, context)
        kept = held.get(restaurant.pk)
        insight = Insight(
            restaurant=restaurant,
            provider=provider.name,
            provider_version=provider.version,
            input_hash=digest,
            review_count=len(context.reviews),
            restaurant_review_count=restaurant.review_count,
            reviews_through=context.reviews[0].created_at if context.reviews else now,
            rating=None if restaurant.rating is None else float(restaurant.rating),
            generated_at=now,
        )
        if kept and (kept.input_hash, kept.provider, kept.provider_version) == (
            digest,
            provider.name,
            provider.version,
        ):
            insight.text, insight.detail = kept.text, kept.detail
        elif draft := _drafted(restaurant, context, provider):
            insight.text, insight.detail = draft.text, to_json(draft)
        else:
            # The text of before is served on; without one the next attempt has nothing to compare its input with.
            insight.detail, insight.input_hash = to_json(UNTOLD), ""
            insight = kept or insight
            insight.failed_at = now
        made.append(insight)
    Insight.objects.bulk_create(made, update_conflicts=True, unique_fields=["restaurant"], update_fields=WRITTEN)
    return len(made)


def _drafted(restaurant: Restaurant, context: Context, provider: InsightProvider) -> InsightDraft | None:
    """What the provider makes of it; None where it fails, whatever the reason, for the others have to go on."""
    # The restaurant counts more than there are, or has lost some since it was found to be due.
    if len(context.reviews) < FEWEST_REVIEWS:
        return UNTOLD
    try:
        draft = provider.generate(context)
        if len(draft.text) > LONGEST:
            raise ValueError(f"The text has {len(draft.text)} characters, more than {LONGEST}.")
    except Exception:
        logger.exception("No insight of restaurant %s (%s)", restaurant.slug, restaurant.pk)
        return None
    return draft


def _contexts(places: Sequence[UUID]) -> Iterator[tuple[Restaurant, Context]]:
    """What the insights of these restaurants are written from. Three queries."""
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
        yield (
            restaurant,
            Context(
                name=restaurant.name,
                rating=restaurant.rating,
                reviews=reviews[restaurant.pk],
                hours=stated(restaurant),
                discounts=discounts[restaurant.pk],
            ),
        )


def _digest(restaurant: Restaurant, context: Context) -> str:
    """The SHA-256 of what a provider is given."""
    given = [
        context.name,
        restaurant.hours,
        [asdict(discount) for discount in context.discounts],
        [(review.id, review.stars, review.text, review.lang) for review in context.reviews],
    ]
    return hashlib.sha256(orjson.dumps(given)).hexdigest()


def to_json(draft: InsightDraft) -> dict[str, Any]:
    """The detail of an insight, as it is kept and served."""
    best = draft.best_time
    return {
        "best_time": None if best is None else asdict(best),
        "dishes": [_claim(claim) for claim in draft.dishes],
        "aspects": [_claim(claim) for claim in draft.aspects],
        "watch_outs": [asdict(watch_out) for watch_out in draft.watch_outs],
        "disclosure": draft.disclosure,
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "name": claim.name,
        "mentions": claim.mentions,
        "positive_share": claim.positive_share,
        "citations": claim.citations,
    }

"""Aggregates: review counts, ratings and facets of restaurants, and photo counts of reviews.

A restaurant that never had a review here has the rating of its source. `star_counts` is empty until this module writes
it, which distinguishes the two cases.
"""

import json
import logging
from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from framework.db.sql_files import read_sql

logger = logging.getLogger("tablewire.catalogue")

# Restaurants that one statement compares: about 100,000 reviews, half a second.
BATCH = 5_000
# Restaurants that one transaction repairs.
REPAIR_BATCH = 200

# Hidden photos are not shown with their review either.
PHOTO_COUNTS = """
SELECT review.id, count(photo.id) AS photos
FROM catalogue_review AS review
LEFT JOIN catalogue_photo AS photo ON photo.review_id = review.id AND NOT photo.is_hidden
WHERE review.restaurant_id = ANY (%(ids)s) AND (photo.id IS NOT NULL OR review.photo_count > 0)
GROUP BY review.id
"""

UPDATE_PHOTO_COUNTS = f"""
UPDATE catalogue_review AS review SET photo_count = counted.photos
FROM ({PHOTO_COUNTS}) AS counted
WHERE review.id = counted.id AND review.photo_count <> counted.photos
"""  # noqa: S608  # of constants

AGGREGATES = read_sql("catalogue", "review_aggregates")

DIFFERS = """
restaurant.id = counted.id AND (counted.reviews > 0 OR restaurant.star_counts <> '{}')
AND (restaurant.review_count, restaurant.rating, restaurant.star_counts, restaurant.review_facets)
    IS DISTINCT FROM (counted.reviews, counted.rating, counted.stars, counted.facets)
"""

UPDATE_AGGREGATES = f"""
UPDATE catalogue_restaurant AS restaurant
SET review_count = counted.reviews, rating = counted.rating, star_counts = counted.stars,
    review_facets = counted.facets, updated_at = coalesce(%(now)s, restaurant.updated_at)
FROM ({AGGREGATES}) AS counted WHERE {DIFFERS}
RETURNING restaurant.id
"""  # noqa: S608  # of constants

FIND_DIFFERENCES = f"""
SELECT restaurant.id FROM ({AGGREGATES}) AS counted JOIN catalogue_restaurant AS restaurant ON {DIFFERS}
UNION
SELECT review.restaurant_id FROM ({PHOTO_COUNTS}) AS counted
JOIN catalogue_review AS review ON review.id = counted.id AND review.photo_count <> counted.photos
"""  # noqa: S608  # of constants

# A statement before the counts locks the rows, so that concurrent updates count one after the other; in the order of
# their keys, so that they cannot deadlock.
LOCK = "SELECT FROM catalogue_restaurant WHERE id = ANY (%(ids)s) ORDER BY id FOR NO KEY UPDATE"

# Longer than the lifetime of a cursor (framework.api.pagination.cursor.LIFETIME).
DELETE_OLD_CHANGES = "DELETE FROM catalogue_reviewchange WHERE at < clock_timestamp() - interval '2 hours'"

NEXT_BATCH = "SELECT id FROM catalogue_restaurant WHERE id > %(after)s ORDER BY id LIMIT %(limit)s"


def update_restaurants(ids: Collection[UUID], *, now: datetime | None = None) -> int:
    """Update the aggregates of these restaurants. Returns how many changed.

    Call it at the end of the transaction that writes reviews or photos: the second of two concurrent transactions then
    counts the rows of both. Three statements. Without `now`, `updated_at` stays.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("update_restaurants() needs the transaction that changes reviews")
    if not ids:
        return 0
    parameters = {"ids": list(ids), "now": now}
    with connection.cursor() as cursor:
        cursor.execute(LOCK, parameters)
        cursor.execute(UPDATE_PHOTO_COUNTS, parameters)
        cursor.execute(UPDATE_AGGREGATES, parameters)
        changed: int = cursor.rowcount
    return changed


def read_facets(restaurant: UUID) -> dict[str, Any]:
    """Compute `review_facets` of a restaurant without writing it. One query."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT facets::text FROM ({AGGREGATES}) AS counted", {"ids": [restaurant]})  # noqa: S608  # of constants
        row = cursor.fetchone()
    return json.loads(row[0]) if row else {}


def repair_all(*, batch: int = BATCH) -> int:
    """Repair the aggregates of all restaurants, and delete old review changes. Returns how many were wrong.

    Compares without locks and repairs in short transactions, which compare again, so it can run concurrently and be
    killed at any time.
    """
    repaired = 0
    after = UUID(int=0)
    with connection.cursor() as cursor:
        cursor.execute(DELETE_OLD_CHANGES)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(NEXT_BATCH, {"after": after, "limit": batch})
            ids = [pk for (pk,) in cursor.fetchall()]
            if not ids:
                break
            cursor.execute(FIND_DIFFERENCES, {"ids": ids})
            differing = sorted(pk for (pk,) in cursor.fetchall())
        for start in range(0, len(differing), REPAIR_BATCH):
            with transaction.atomic():
                repaired += update_restaurants(differing[start : start + REPAIR_BATCH])
        after = ids[-1]
    if repaired:
        logger.warning("the aggregates of %s restaurants were wrong", repaired)
    return repaired

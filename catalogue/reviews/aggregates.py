"""Reviews in figures: what a restaurant's row says of its reviews, and a review of its photos, counted from the rows.

A restaurant that has no review and never had one keeps what it says: its rating is the word of a source that keeps the
reviews to itself. `star_counts` tells them apart, for it is written here alone, and is empty until then.
"""

import json
import logging
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

logger = logging.getLogger("tablewire.catalogue")

# Restaurants whose figures are compared in one statement: about 100,000 reviews, half a second.
BATCH = 5_000
# Restaurants that are mended in one transaction.
MENDED = 200

# A photo that is hidden is not shown with its review either.
PHOTOS_OF = """
SELECT review.id, count(photo.id) AS photos
FROM catalogue_review AS review
LEFT JOIN catalogue_photo AS photo ON photo.review_id = review.id AND NOT photo.is_hidden
WHERE review.restaurant_id = ANY (%(ids)s) AND (photo.id IS NOT NULL OR review.photo_count > 0)
GROUP BY review.id
"""

COUNT_PHOTOS = f"""
UPDATE catalogue_review AS review SET photo_count = counted.photos
FROM ({PHOTOS_OF}) AS counted
WHERE review.id = counted.id AND review.photo_count <> counted.photos
"""  # noqa: S608  # of constants

# Numeric rounding goes away from zero: 4.25 is shown as 4.3. Stars alone are of no language.
COUNTED = """
SELECT
    wanted.id,
    coalesce(sum(said.reviews), 0)::integer AS reviews,
    round(sum(said.stars)::numeric / sum(said.reviews), 1) AS rating,
    ARRAY[
        coalesce(sum(said.ones), 0), coalesce(sum(said.twos), 0), coalesce(sum(said.threes), 0),
        coalesce(sum(said.fours), 0), coalesce(sum(said.fives), 0)
    ]::integer[] AS stars,
    jsonb_build_object(
        'by_lang', coalesce(jsonb_object_agg(said.lang, said.reviews) FILTER (WHERE said.lang <> ''), '{}'),
        'with_photos', coalesce(sum(said.with_photos), 0),
        'with_reply', coalesce(sum(said.with_reply), 0)
    ) AS facets
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
LEFT JOIN (
    SELECT
        restaurant_id, lang, count(*) AS reviews, sum(stars) AS stars,
        count(*) FILTER (WHERE stars = 1) AS ones, count(*) FILTER (WHERE stars = 2) AS twos,
        count(*) FILTER (WHERE stars = 3) AS threes, count(*) FILTER (WHERE stars = 4) AS fours,
        count(*) FILTER (WHERE stars = 5) AS fives,
        count(*) FILTER (WHERE photo_count > 0) AS with_photos, count(owner_replied_at) AS with_reply
    FROM catalogue_review WHERE restaurant_id = ANY (%(ids)s) GROUP BY restaurant_id, lang
) AS said ON said.restaurant_id = wanted.id
GROUP BY wanted.id
"""

DIFFERS = """
restaurant.id = counted.id AND (counted.reviews > 0 OR restaurant.star_counts <> '{}')
AND (restaurant.review_count, restaurant.rating, restaurant.star_counts, restaurant.review_facets)
    IS DISTINCT FROM (counted.reviews, counted.rating, counted.stars, counted.facets)
"""

COUNT = f"""
UPDATE catalogue_restaurant AS restaurant
SET review_count = counted.reviews, rating = counted.rating, star_counts = counted.stars,
    review_facets = counted.facets, updated_at = coalesce(%(now)s, restaurant.updated_at)
FROM ({COUNTED}) AS counted WHERE {DIFFERS}
RETURNING restaurant.id
"""  # noqa: S608  # of constants

FIND = f"""
SELECT restaurant.id FROM ({COUNTED}) AS counted JOIN catalogue_restaurant AS restaurant ON {DIFFERS}
UNION
SELECT review.restaurant_id FROM ({PHOTOS_OF}) AS counted
JOIN catalogue_review AS review ON review.id = counted.id AND review.photo_count <> counted.photos
"""  # noqa: S608  # of constants

# What is counted must not be older than what others have counted: the rows are locked by a statement before, in the
# order of their keys, so that two counts wait for each other and cannot deadlock.
LOCK = "SELECT FROM catalogue_restaurant WHERE id = ANY (%(ids)s) ORDER BY id FOR NO KEY UPDATE"

# No walk is as old as this (framework.api.pagination.cursor.LIFETIME).
FORGET = "DELETE FROM catalogue_reviewchange WHERE at < clock_timestamp() - interval '2 hours'"

NEXT = "SELECT id FROM catalogue_restaurant WHERE id > %(after)s ORDER BY id LIMIT %(most)s"
FIRST = UUID(int=0)


def restaurants(ids: Collection[UUID], *, now: datetime | None = None) -> int:
    """Make the figures of these restaurants those of their reviews; how many differed.

    Call it in the transaction that writes reviews or photos, after the writing: of two that write reviews of one
    restaurant the second to count sees both. Three statements. `now` is the moment of the change, the database's own
    without it.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("restaurants() needs the transaction that changes reviews")
    if not ids:
        return 0
    wanted = {"ids": list(ids), "now": now}
    with connection.cursor() as cursor:
        cursor.execute(LOCK, wanted)
        cursor.execute(COUNT_PHOTOS, wanted)
        cursor.execute(COUNT, wanted)
        changed: int = cursor.rowcount
    return changed


def facets(restaurant: UUID) -> dict[str, Any]:
    """What is to stand in its `review_facets`, from its reviews, without writing it. One query."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT facets::text FROM ({COUNTED}) AS counted", {"ids": [restaurant]})  # noqa: S608  # of constants
        row = cursor.fetchone()
    return json.loads(row[0]) if row else {}


def mend(*, batch: int = BATCH) -> int:
    """Put right all restaurants whose figures are not those of their reviews; how many there were.

    In the order of keys, comparing without locks and mending in short transactions that compare again: two at once, or
    a second one after the first has died, do no harm. What reviews were before their changes is forgotten.
    """
    with connection.cursor() as cursor:
        cursor.execute(FORGET)
    mended = 0
    for ids in _batches(batch):
        with connection.cursor() as cursor:
            cursor.execute(FIND, {"ids": ids})
            differing = sorted(pk for (pk,) in cursor.fetchall())
        for start in range(0, len(differing), MENDED):
            with transaction.atomic():
                mended += restaurants(differing[start : start + MENDED])
    if mended:
        logger.warning("%s restaurants did not say what their reviews say", mended)
    return mended


def _batches(size: int) -> Iterator[list[UUID]]:
    after = FIRST
    while True:
        with connection.cursor() as cursor:
            cursor.execute(NEXT, {"after": after, "most": size})
            ids = [pk for (pk,) in cursor.fetchall()]
        if not ids:
            return
        yield ids
        after = ids[-1]

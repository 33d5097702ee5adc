"""Insights that somebody wants to buy, and that are missing or stale: written at once, or before all others."""

import logging
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db import DatabaseError, connection

from catalogue.insights.pipeline import batch_job
from catalogue.insights.pipeline.refresh import due
from catalogue.insights.providers.base import RemoteProvider
from catalogue.insights.providers.registry import chosen
from catalogue.models import Restaurant

logger = logging.getLogger("catalogue.insights")

# A caller waits for a tenth of a second at most.
MOST_AT_ONCE = 300
# However often it is asked for, so long nothing more is written.
NOTED_FOR = timedelta(minutes=1)

# What was noted a moment ago is not even locked, and who merges or erases the restaurant is not waited for.
NOTE = """
INSERT INTO catalogue_insightdemand AS demand (restaurant_id, request_count, first_requested_at, last_requested_at)
SELECT id, 1, %(now)s, %(now)s FROM (
    SELECT id FROM catalogue_restaurant WHERE id = %(restaurant)s AND NOT EXISTS (
        SELECT FROM catalogue_insightdemand WHERE restaurant_id = %(restaurant)s AND last_requested_at > %(since)s
    )
    FOR KEY SHARE SKIP LOCKED
) AS restaurant
ON CONFLICT (restaurant_id) DO UPDATE
SET request_count = demand.request_count + 1, last_requested_at = excluded.last_requested_at
WHERE demand.last_requested_at <= %(since)s
"""


class Met(StrEnum):
    """What was done for somebody who wants an insight: it is WRITTEN, NOTED for a worker, or NOTHING."""

    WRITTEN = "written"
    NOTED = "noted"
    NOTHING = "nothing"


def meet(restaurant: Restaurant, *, now: datetime) -> Met:
    """Write this insight now, where our own program does that and soon; else note that it is wanted.

    Never fails: who asks for an insight is answered, with or without one. One query where it is not due, as after a
    failure of today; one more, which writes at most once a minute, where it is noted.
    """
    provider = chosen()
    try:
        if not due(now=now, provider=provider).filter(pk=restaurant.pk).exists():
            return Met.NOTHING
        quick = None if isinstance(provider, RemoteProvider) or restaurant.review_count > MOST_AT_ONCE else provider
        if quick and batch_job.write_one(restaurant.pk, now=now, provider=quick):
            return Met.WRITTEN
        return Met.NOTED if note(restaurant.pk, now=now) else Met.NOTHING
    except DatabaseError:
        logger.warning("Nobody writes or notes the insight of %s now", restaurant.slug, exc_info=True)
        return Met.NOTHING


def note(restaurant: UUID, *, now: datetime) -> bool:
    """Note that it is wanted; whether that was not noted within the minute. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(NOTE, {"restaurant": restaurant, "now": now, "since": now - NOTED_FOR})
        return bool(cursor.rowcount)

"""Insights on demand: a missing or stale one is written during the request, or queued before all others."""

import logging
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db import DatabaseError, connection

from catalogue.insights.pipeline import batch_job
from catalogue.insights.pipeline.refresh import due_restaurants
from catalogue.insights.providers.base import RemoteProvider
from catalogue.insights.providers.registry import get_provider
from catalogue.models import Restaurant
from framework.db.sql_files import read_sql

logger = logging.getLogger("catalogue.insights")

# More reviews would take more than a tenth of a second.
MAX_SYNC_REVIEWS = 300
# Requests for one restaurant within this time are recorded once.
REQUEST_INTERVAL = timedelta(minutes=1)

RECORD_REQUEST = read_sql("catalogue", "record_insight_request")


class OnDemandResult(StrEnum):
    """The insight was WRITTEN, QUEUED for a worker, or there was NOTHING to do."""

    WRITTEN = "written"
    QUEUED = "queued"
    NOTHING = "nothing"


def write_or_queue(restaurant: Restaurant, *, now: datetime) -> OnDemandResult:
    """Write this insight if it is due and a local provider is fast enough; otherwise queue it.

    Never raises DatabaseError: the request is answered with or without an insight. One query if it is not due (also
    after a failure of today); one more, which writes at most once a minute, if it is queued.
    """
    provider = get_provider()
    try:
        if not due_restaurants(now=now, provider=provider).filter(pk=restaurant.pk).exists():
            return OnDemandResult.NOTHING
        is_large = restaurant.review_count > MAX_SYNC_REVIEWS
        fast = None if isinstance(provider, RemoteProvider) or is_large else provider
        if fast and batch_job.write_now(restaurant.pk, now=now, provider=fast):
            return OnDemandResult.WRITTEN
        return OnDemandResult.QUEUED if queue_request(restaurant.pk, now=now) else OnDemandResult.NOTHING
    except DatabaseError:
        logger.warning("The insight of %s can be neither written nor queued", restaurant.slug, exc_info=True)
        return OnDemandResult.NOTHING


def queue_request(restaurant: UUID, *, now: datetime) -> bool:
    """Record a request for this insight. Returns False if one was recorded within the minute. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(RECORD_REQUEST, {"restaurant": restaurant, "now": now, "since": now - REQUEST_INTERVAL})
        return bool(cursor.rowcount)

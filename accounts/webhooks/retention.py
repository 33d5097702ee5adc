"""Retention of events: deletes them with their deliveries after EVENT_RETENTION_DAYS."""

import time
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

# A batch is one short statement. A run ends after RUN_S; the next one continues.
BATCH = 2_000
RUN_S = 60.0

# Events with pending deliveries are kept until these are delivered or failed.
PURGE = """
    WITH old AS (
        SELECT event.id FROM accounts_event AS event
        WHERE event.created_at < %(before)s AND NOT EXISTS (
            SELECT FROM accounts_webhookdelivery AS delivery
            WHERE delivery.event_id = event.id AND delivery.state = 'pending'
        )
        ORDER BY event.created_at LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    ), deleted_deliveries AS (
        DELETE FROM accounts_webhookdelivery WHERE event_id IN (SELECT id FROM old)
    )
    DELETE FROM accounts_event WHERE id IN (SELECT id FROM old)
"""


def purge_events(*, now: datetime, batch: int = BATCH) -> int:
    """Delete the events older than EVENT_RETENTION_DAYS (0: keep all); return how many."""
    if not settings.EVENT_RETENTION_DAYS:
        return 0
    before = now - timedelta(days=settings.EVENT_RETENTION_DAYS)
    until = time.monotonic() + RUN_S
    purged = 0
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(PURGE, {"before": before, "limit": batch})
            purged += cursor.rowcount
            if cursor.rowcount < batch:
                break
    return purged

"""Deletes events with their deliveries when they have been kept for as long as the setting says."""

import time
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

# A batch is one short statement; a run ends after a while and the next goes on.
BATCH = 2_000
RUN_S = 60.0

# What is still on its way stays until it has arrived or failed.
PURGE = """
    WITH old AS (
        SELECT event.id FROM accounts_event AS event
        WHERE event.created_at < %(before)s AND NOT EXISTS (
            SELECT FROM accounts_webhookdelivery AS delivery
            WHERE delivery.event_id = event.id AND delivery.state = 'pending'
        )
        ORDER BY event.created_at LIMIT %(most)s
        FOR UPDATE SKIP LOCKED
    ), told AS (
        DELETE FROM accounts_webhookdelivery WHERE event_id IN (SELECT id FROM old)
    )
    DELETE FROM accounts_event WHERE id IN (SELECT id FROM old)
"""


def sweep(*, now: datetime, batch: int = BATCH) -> int:
    """Delete what is older than EVENT_RETENTION_DAYS; return how many events. 0 days: nothing is ever deleted."""
    if not settings.EVENT_RETENTION_DAYS:
        return 0
    before = now - timedelta(days=settings.EVENT_RETENTION_DAYS)
    until = time.monotonic() + RUN_S
    purged = 0
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(PURGE, {"before": before, "most": batch})
            purged += cursor.rowcount
            if cursor.rowcount < batch:
                break
    return purged

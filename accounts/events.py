"""Writes down what has happened, in the transaction in which it happens, and for whom it is to be told."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from accounts.models import EventType, Venue
from accounts.tasks.webhooks import ring_for_webhooks
from config.api.ids import new_id

# One statement: the event, and a delivery for each endpoint that wants to hear of it: of the venue, or of all venues
# of the account but those for trying out. The key of a delivery begins with the same time as a UUIDv7 of ours:
# PostgreSQL 18 makes them too. An endpoint stays until the commit (KEY SHARE), and one that is being deleted just then
# is passed over, lest an order wait for it or fail.
RECORD = """
    WITH event AS (
        INSERT INTO accounts_event (id, venue_id, account_id, type, subject, actor, record, created_at)
        VALUES (
            %(id)s, %(venue)s, %(account)s, %(type)s, %(subject)s, %(actor)s, %(record)s::jsonb, %(now)s
        )
        RETURNING id, type, created_at
    ), endpoint AS (
        SELECT id FROM accounts_webhookendpoint
        WHERE {hears} AND disabled_at IS NULL AND (types = '{{}}' OR %(type)s = ANY(types))
        FOR KEY SHARE SKIP LOCKED
    )
    INSERT INTO accounts_webhookdelivery
        (id, event_id, endpoint_id, state, tries, next_try_at, last_answer, last_error, created_at)
    SELECT uuidv7(), event.id, endpoint.id, 'pending', 0, event.created_at, '', '', event.created_at
    FROM event CROSS JOIN endpoint
"""
OF_VENUE = RECORD.format(hears="venue_id = %(venue)s")
OF_ACCOUNT = RECORD.format(
    hears="venue_id IN (SELECT id FROM accounts_venue WHERE account_id = %(account)s AND NOT is_sandbox)"
)


def record(
    venue: Venue, kind: EventType, *, record: Mapping[str, Any], subject: UUID | None, actor: str, now: datetime
) -> UUID:
    """Store what has happened at a venue, with its deliveries; return the key of the event.

    Call it inside the transaction of the change. `record` is the whole record as the API answers it. One statement; a
    worker is rung after the commit where an endpoint wants to hear of it.
    """
    return _stored(OF_VENUE, kind, venue=venue.pk, record=record, subject=subject, actor=actor, now=now)


def record_of_account(
    account: UUID, kind: EventType, *, record: Mapping[str, Any], subject: UUID | None, actor: str, now: datetime
) -> UUID:
    """Store what has happened in an account and at none of its venues, as `record` does.

    One event, so one `webhook-id`, with a delivery for each endpoint of its venues that wants to hear of it.
    """
    return _stored(OF_ACCOUNT, kind, account=account, record=record, subject=subject, actor=actor, now=now)


def _stored(
    statement: str,
    kind: EventType,
    *,
    venue: UUID | None = None,
    account: UUID | None = None,
    record: Mapping[str, Any],
    subject: UUID | None,
    actor: str,
    now: datetime,
) -> UUID:
    key = new_id()
    with connection.cursor() as cursor:
        cursor.execute(
            statement,
            {
                "id": key,
                "venue": venue,
                "account": account,
                "type": kind,
                "subject": subject,
                "actor": actor,
                "record": json.dumps(record, default=str),
                "now": now,
            },
        )
        told = cursor.rowcount
    if told:
        transaction.on_commit(ring_for_webhooks)
    return key

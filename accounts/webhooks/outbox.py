"""Writes down what has happened, in the transaction in which it happens, and for whom it is to be told."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction

from accounts.models import EventType, Venue
from accounts.tasks.webhooks import enqueue_webhook_delivery
from framework.db import prepared_statements
from framework.public_ids import new_id

# The event, and a delivery for each endpoint that wants to hear of it: of the venue, or of all venues of the account
# but those for trying out. The key of a delivery begins with the same time as a UUIDv7 of ours: PostgreSQL 18 makes
# them too. An endpoint stays until the commit (KEY SHARE), and one that is being deleted just then is passed over,
# lest an order wait for it or fail.
PARTS = """
    event AS (
        INSERT INTO accounts_event (id, venue_id, account_id, type, subject, actor, record, created_at)
        SELECT %(event)s, %(venue)s, %(account)s, %(type)s, %(subject)s, %(actor)s, {record}, %(now)s {source}
        RETURNING id, type, created_at
    ), endpoint AS (
        SELECT id FROM accounts_webhookendpoint
        WHERE {hears} AND disabled_at IS NULL AND (types = '{{}}' OR %(type)s = ANY(types))
        FOR KEY SHARE SKIP LOCKED
    ), delivery AS (
        INSERT INTO accounts_webhookdelivery
            (id, event_id, endpoint_id, state, tries, next_try_at, last_answer, last_error, created_at)
        SELECT uuidv7(), event.id, endpoint.id, 'pending', 0, event.created_at, '', '', event.created_at
        FROM event CROSS JOIN endpoint
        RETURNING id
    )
"""
HEARS_OF_VENUE = "venue_id = %(venue)s"
HEARS_OF_ACCOUNT = "venue_id IN (SELECT id FROM accounts_venue WHERE account_id = %(account)s AND NOT is_sandbox)"
ALONE = "WITH {parts} SELECT count(*) FROM delivery"
OF_VENUE = ALONE.format(parts=PARTS.format(hears=HEARS_OF_VENUE, record="%(record)s::jsonb", source=""))
OF_ACCOUNT = ALONE.format(parts=PARTS.format(hears=HEARS_OF_ACCOUNT, record="%(record)s::jsonb", source=""))


def parts(*, record: str, source: str) -> str:
    """What a statement that changes something of a venue takes into its WITH, to write down the event too.

    `record` is the SQL of the record, `source` names the part that it reads from: `FROM counted`. Its own parts are
    `event` and `delivery`, which has a row for each that is to be told. Give it the values of `values`, and hand on
    how many deliveries there are to `enqueue_deliveries`.
    """
    return PARTS.format(hears=HEARS_OF_VENUE, record=record, source=source)


def values(
    kind: EventType,
    *,
    venue: UUID | None = None,
    account: UUID | None = None,
    record: Mapping[str, Any],
    subject: UUID | None,
    actor: str,
    now: datetime,
) -> dict[str, Any]:
    """What `parts` are filled in with. `event` is the key of the event."""
    return {
        "event": new_id(),
        "venue": venue,
        "account": account,
        "type": kind.value,
        "subject": subject,
        "actor": actor,
        "record": orjson.dumps(record, default=str, option=orjson.OPT_PASSTHROUGH_DATETIME).decode(),
        "now": now,
    }


def enqueue_deliveries(deliveries: int) -> None:
    """Enqueue the webhook task after the commit, if there are deliveries."""
    if deliveries:
        transaction.on_commit(enqueue_webhook_delivery)


def record(
    venue: Venue, kind: EventType, *, record: Mapping[str, Any], subject: UUID | None, actor: str, now: datetime
) -> UUID:
    """Store what has happened at a venue, with its deliveries; return the key of the event.

    Call it inside the transaction of the change. `record` is the whole record as the API answers it. One statement; a
    task is enqueued after the commit where an endpoint subscribes to it.
    """
    return _stored(OF_VENUE, values(kind, venue=venue.pk, record=record, subject=subject, actor=actor, now=now))


def record_of_account(
    account: UUID, kind: EventType, *, record: Mapping[str, Any], subject: UUID | None, actor: str, now: datetime
) -> UUID:
    """Store what has happened in an account and at none of its venues, as `record` does.

    One event, so one `webhook-id`, with a delivery for each endpoint of its venues that wants to hear of it.
    """
    return _stored(OF_ACCOUNT, values(kind, account=account, record=record, subject=subject, actor=actor, now=now))


def _stored(statement: str, its_values: Mapping[str, Any]) -> UUID:
    ((deliveries,),) = prepared_statements.execute_returning(statement, its_values)
    enqueue_deliveries(deliveries)
    key: UUID = its_values["event"]
    return key

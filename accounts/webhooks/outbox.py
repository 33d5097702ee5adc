"""The transactional outbox: stores an event with its deliveries in the transaction of the change."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction

from accounts.alerts.kinds import find_kind
from accounts.models import EventType, Venue
from accounts.tasks import enqueue_webhook_delivery
from framework.db import prepared_statements
from framework.db.sql_files import read_sql
from framework.public_ids import new_id

CTES = read_sql("accounts", "record_event")
VENUE_SUBSCRIBERS = "venue_id = %(venue)s"
ACCOUNT_SUBSCRIBERS = "venue_id IN (SELECT id FROM accounts_venue WHERE account_id = %(account)s AND NOT is_sandbox)"
STATEMENT = f"WITH {CTES} SELECT count(*) FROM delivery"  # noqa: S608  # of constants
ONE = {"event": "%(event)s", "subject": "%(subject)s"}
VENUE_EVENT = STATEMENT.format(subscribers=VENUE_SUBSCRIBERS, **ONE, record="%(record)s::jsonb", source="")
ACCOUNT_EVENT = STATEMENT.format(subscribers=ACCOUNT_SUBSCRIBERS, **ONE, record="%(record)s::jsonb", source="")
VENUE_EVENTS = STATEMENT.format(
    subscribers=VENUE_SUBSCRIBERS,
    event="each.event",
    subject="each.subject",
    record="each.record::jsonb",
    source="FROM unnest(%(event)s::uuid[], %(subject)s::uuid[], %(record)s::text[]) AS each (event, subject, record)",
)


def build_event_ctes(*, record: str, source: str) -> str:
    """Return CTEs that store an event of a venue, for the WITH of the statement that makes the change.

    `record` is the SQL expression of the record, `source` its FROM clause: `FROM counted`. The CTEs are `event`,
    `endpoint`, `delivery` and `alert`. Pass the values of `build_event_values`, and the number of rows of `delivery`
    to `enqueue_deliveries`.
    """
    return CTES.format(subscribers=VENUE_SUBSCRIBERS, **ONE, record=record, source=source)


def build_event_values(
    kind: EventType,
    *,
    venue: UUID | None = None,
    account: UUID | None = None,
    record: Mapping[str, Any],
    subject: UUID | None,
    actor: str,
    now: datetime,
) -> dict[str, Any]:
    """Return the parameters of `build_event_ctes`. `event` is the id of the event."""
    return {
        "event": new_id(),
        "venue": venue,
        "account": account,
        "type": kind.value,
        "subject": subject,
        "actor": actor,
        "record": dump(record),
        "alert": find_kind(kind, record, actor=actor),
        "now": now,
    }


def dump(record: Mapping[str, Any]) -> str:
    return orjson.dumps(record, default=str, option=orjson.OPT_PASSTHROUGH_DATETIME).decode()


def enqueue_deliveries(deliveries: int) -> None:
    """Enqueue the webhook task after the commit, if there are deliveries."""
    if deliveries:
        transaction.on_commit(enqueue_webhook_delivery)


def record_event(
    venue: Venue, kind: EventType, *, record: Mapping[str, Any], subject: UUID | None, actor: str, now: datetime
) -> UUID:
    """Store an event of a venue with its deliveries; return the id of the event.

    Call it inside the transaction of the change. `record` is the whole record as the API returns it. One statement;
    enqueues the delivery task after the commit if an endpoint subscribes to the event.
    """
    return _store(
        VENUE_EVENT, build_event_values(kind, venue=venue.pk, record=record, subject=subject, actor=actor, now=now)
    )


def record_events(
    venue: Venue, kind: EventType, records: Mapping[UUID, Mapping[str, Any]], *, actor: str, now: datetime
) -> None:
    """Store an event for each of the records by their subjects, as `record_event` does. One statement."""
    if not records:
        return
    values = build_event_values(kind, venue=venue.pk, record={}, subject=None, actor=actor, now=now)
    ((deliveries,),) = prepared_statements.execute_returning(
        VENUE_EVENTS,
        values
        | {
            "event": [new_id() for _ in records],
            "subject": list(records),
            "record": [dump(record) for record in records.values()],
        },
    )
    enqueue_deliveries(deliveries)


def record_account_event(
    account: UUID, kind: EventType, *, record: Mapping[str, Any], subject: UUID | None, actor: str, now: datetime
) -> UUID:
    """Store an event of an account, as `record_event` does.

    One event, so one `webhook-id`, with a delivery for each subscribed endpoint of its venues.
    """
    values = build_event_values(kind, account=account, record=record, subject=subject, actor=actor, now=now)
    return _store(ACCOUNT_EVENT, values)


def _store(statement: str, values: Mapping[str, Any]) -> UUID:
    ((deliveries,),) = prepared_statements.execute_returning(statement, values)
    enqueue_deliveries(deliveries)
    event: UUID = values["event"]
    return event

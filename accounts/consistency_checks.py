"""Consistency checks of venues' tallies, events and idempotent calls; those that orders and reservations share."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import orjson
from django.conf import settings
from django.db.models import Model

from accounts.models import IdempotentCall
from accounts.models.venues import PREFIX as VENUE
from framework.consistency import Checks, Finding, query
from framework.public_ids import decode, encode

# Idempotent calls are read in batches of this size.
BATCH = 1_000
# Events may be deleted this much before or after their retention ends.
TOLERANCE = timedelta(days=1)

# What orders and reservations have in common
TALLIES = """
    SELECT venue_id,
        concat(status, ': the tally says ', coalesce(told.total, 0), ', there are ', coalesce(rows.total, 0))
    FROM (SELECT venue_id, status, total FROM accounts_tally WHERE noun = %(noun)s) AS told
    FULL JOIN (SELECT venue_id, status, count(*) AS total FROM {table} GROUP BY venue_id, status) AS rows
    USING (venue_id, status)
    WHERE coalesce(told.total, 0) <> coalesce(rows.total, 0)
    ORDER BY venue_id, status
"""
# The last event is that of the highest version: two of one moment have no order in time.
EVENTS = """
    SELECT subject, 'the event ' || type || ' of ' || created_at || ' tells of no row'
    FROM accounts_event AS event
    WHERE type LIKE %(noun)s || '.%%'
        AND NOT EXISTS (SELECT FROM {table} AS its WHERE its.id = event.subject AND its.venue_id = event.venue_id)
        AND subject IS NOT NULL
    UNION ALL
    SELECT its.id, 'no event tells of it'
    FROM {table} AS its
    WHERE its.created_at >= %(kept_since)s AND NOT EXISTS (
        SELECT FROM accounts_event WHERE subject = its.id AND type = %(noun)s || '.created'
    )
    UNION ALL
    SELECT its.id, 'it is ' || its.status || ' and of version ' || its.version || ', its last event says '
        || coalesce(last.status, 'nothing') || ' and ' || coalesce(last.version, 0)
    FROM {table} AS its
    CROSS JOIN LATERAL (
        SELECT record ->> 'status' AS status, (record ->> 'version')::bigint AS version
        FROM accounts_event WHERE subject = its.id ORDER BY (record ->> 'version')::bigint DESC NULLS LAST LIMIT 1
    ) AS last
    WHERE its.updated_at >= %(kept_since)s
        AND (last.status, last.version) IS DISTINCT FROM (its.status::text, its.version::bigint)
"""


def tallies(noun: str, rows: type[Model]) -> Iterator[Finding]:
    """Venues whose tally of these records is not their number."""
    statement = TALLIES.format(table=rows._meta.db_table)
    yield from query(f"{noun}_tally", statement, {"noun": noun}, subject=partial(encode, VENUE))


def events(noun: str, rows: type[Model], *, prefix: str, now: datetime) -> Iterator[Finding]:
    """Records that no event tells of, or another than they are, and events of records that are not there."""
    kept = settings.EVENT_RETENTION_DAYS
    since = now - timedelta(days=kept) + TOLERANCE if kept else datetime.min.replace(tzinfo=now.tzinfo)
    yield from query(
        f"{noun}_event",
        EVENTS.format(table=rows._meta.db_table),
        {"noun": noun, "kept_since": since},
        subject=partial(encode, prefix),
    )


def replays(noun: str, rows: type[Model], *, prefix: str) -> Iterator[Finding]:
    """Answers that are kept to be told again of records that are not there. A query for each thousand of them."""
    told: list[tuple[UUID, str]] = []
    answered = IdempotentCall.objects.filter(body__isnull=False).order_by("pk")
    for key, body in answered.values_list("pk", "body").iterator(chunk_size=BATCH):
        named = named_in(bytes(body or b""), prefix)
        if named is not None:
            told.append((named, encode("call", key)))
        if len(told) == BATCH:
            yield from _missing(noun, rows, told, prefix=prefix)
            told = []
    yield from _missing(noun, rows, told, prefix=prefix)


def named_in(body: bytes, prefix: str) -> UUID | None:
    """The record of this kind that an answer is of."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    named = answer.get("id") if isinstance(answer, dict) else None
    return decode(prefix, named) if isinstance(named, str) else None


def _missing(noun: str, rows: type[Model], told: Sequence[tuple[UUID, str]], *, prefix: str) -> Iterator[Finding]:
    there = set(rows._default_manager.filter(pk__in=[key for key, _ in told]).values_list("pk", flat=True))
    for key, call in told:
        if key not in there:
            yield Finding(f"{noun}_replay", encode(prefix, key), f"the answer kept for {call} tells of no row")


# Calls
UNANSWERED = """
    SELECT id, operation || ' of ' || created_at || ' is kept without its answer'
    FROM accounts_idempotentcall WHERE status IS NULL ORDER BY created_at
"""


def checks(now: datetime) -> Checks:
    """Idempotent calls have their answer, which is written in one transaction with their effect."""
    del now
    return {"unanswered_call": query("unanswered_call", UNANSWERED, subject=partial(encode, "call"))}

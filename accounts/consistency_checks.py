"""Holds the books against themselves: how each app asks what has to be true, and what it says of that which is not.

A check is one statement, so that it sees one moment while all goes on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Model

from accounts.models import IdempotentCall
from accounts.models.venues import PREFIX as VENUE
from framework.public_ids import decode, encode

# On broken books every row may differ: one check tells of so many.
MOST = 100
# Answers are looked at so many at once.
BATCH = 1_000
# What the sweep of old events may be late, and as much again for clocks that differ.
LATE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it has to be: which check says so, of what, and in what way."""

    check: str
    subject: str
    what: str

    def __str__(self) -> str:
        return f"{self.check}: {self.subject}: {self.what}"


# What an app has to say of its books, check by check.
Checks = Mapping[str, Iterator[Finding]]


def ask(check: str, prefix: str, statement: str, values: Mapping[str, Any] | None = None) -> Iterator[Finding]:
    """What the statement finds: its columns are the key of what is wrong, and in what way.

    `prefix` is that of the public id. One query, which may take as long as it needs; the last finding says how many
    more there are than MOST.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', '0', true)")
        cursor.execute(
            f"SELECT found.*, count(*) OVER () FROM ({statement}) AS found LIMIT {MOST}",  # noqa: S608  # ours
            values or {},
        )
        rows: list[tuple[UUID, str, int]] = cursor.fetchall()
    for key, what, _ in rows:
        yield Finding(check, encode(prefix, key), what)
    if rows and rows[0][2] > MOST:
        yield Finding(check, "others", f"{rows[0][2] - MOST} more")


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
    yield from ask(f"{noun}_tally", VENUE, TALLIES.format(table=rows._meta.db_table), {"noun": noun})  # noqa: SLF001  # documented


def events(noun: str, rows: type[Model], *, prefix: str, now: datetime) -> Iterator[Finding]:
    """Records that no event tells of, or another than they are, and events of records that are not there."""
    kept = settings.EVENTS_KEPT_DAYS
    since = now - timedelta(days=kept) + LATE if kept else datetime.min.replace(tzinfo=now.tzinfo)
    yield from ask(
        f"{noun}_event",
        prefix,
        EVENTS.format(table=rows._meta.db_table),  # noqa: SLF001  # documented
        {"noun": noun, "kept_since": since},
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
    there = set(rows._default_manager.filter(pk__in=[key for key, _ in told]).values_list("pk", flat=True))  # noqa: SLF001  # documented
    for key, call in told:
        if key not in there:
            yield Finding(f"{noun}_replay", encode(prefix, key), f"the answer kept for {call} tells of no row")


# Calls
UNANSWERED = """
    SELECT id, operation || ' of ' || created_at || ' is kept without its answer'
    FROM accounts_idempotentcall WHERE status IS NULL ORDER BY created_at
"""


def checks() -> Checks:
    """What has to be true of calls with an Idempotency-Key: an answer is there with the effect, or neither is."""
    return {"unanswered_call": ask("unanswered_call", "call", UNANSWERED)}

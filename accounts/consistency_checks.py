"""Consistency checks of idempotent calls, and those that orders and reservations share: counts, events, responses."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from uuid import UUID

import orjson
from django.conf import settings
from django.db.models import Model

from accounts.models import IdempotentCall
from accounts.models.oauth import GRANT_PREFIX
from accounts.models.venues import PREFIX as VENUE
from framework.consistency import Checks, Finding, query
from framework.db.sql_files import read_sql
from framework.public_ids import decode, encode

# Idempotent calls are read in batches of this size.
BATCH = 1_000
# Events may be deleted this much before or after their retention ends.
TOLERANCE = timedelta(days=1)

RECORD_COUNTS = """
    SELECT venue_id,
        concat(status, ': the count is ', coalesce(stored.total, 0), ', there are ', coalesce(actual.total, 0))
    FROM (SELECT venue_id, status, total FROM accounts_recordcount WHERE record_type = %(record_type)s) AS stored
    FULL JOIN (SELECT venue_id, status, count(*) AS total FROM {table} GROUP BY venue_id, status) AS actual
    USING (venue_id, status)
    WHERE coalesce(stored.total, 0) <> coalesce(actual.total, 0)
    ORDER BY venue_id, status
"""
EVENTS = read_sql("accounts", "check_events")
# By the clock of a sandbox its events were deleted earlier.
AHEAD = """coalesce(
    (SELECT "offset" FROM accounts_sandboxclock AS clock WHERE clock.venue_id = rec.venue_id), interval '0'
)"""
UNANSWERED = """
    SELECT id, operation || ' of ' || created_at || ' has no stored response'
    FROM accounts_idempotentcall WHERE status IS NULL ORDER BY created_at
"""
GRANTS = """
    SELECT grant_row.id, 'its venue is of another account'
    FROM accounts_oauthgrant AS grant_row JOIN accounts_venue AS venue ON venue.id = grant_row.venue_id
    WHERE venue.account_id <> grant_row.account_id
    UNION ALL
    SELECT grant_row.id, token.kind || ' token ' || token.id || ' has scopes or an end that the grant has not'
    FROM accounts_oauthgrant AS grant_row JOIN accounts_oauthtoken AS token ON token.grant_id = grant_row.id
    WHERE NOT token.scopes <@ grant_row.scopes OR token.expires_at > grant_row.expires_at
    ORDER BY 1
"""
APP_WEBHOOKS = """
    SELECT endpoint.id, 'it is enabled, and the grant of its app was revoked'
    FROM accounts_webhookendpoint AS endpoint JOIN accounts_oauthgrant AS grant_row ON grant_row.id = endpoint.grant_id
    WHERE endpoint.disabled_at IS NULL AND grant_row.revoked_at IS NOT NULL
    ORDER BY 1
"""


def check_record_counts(record_type: str, rows: type[Model]) -> Iterator[Finding]:
    """Find venues whose record counts differ from the number of rows."""
    statement = RECORD_COUNTS.format(table=rows._meta.db_table)
    yield from query(f"{record_type}_counts", statement, {"record_type": record_type}, subject=partial(encode, VENUE))


def check_events(record_type: str, rows: type[Model], *, prefix: str, now: datetime) -> Iterator[Finding]:
    """Find rows without events, rows that differ from their last event, and events without a row."""
    days = settings.EVENT_RETENTION_DAYS
    since = now - timedelta(days=days) + TOLERANCE if days else datetime.min.replace(tzinfo=now.tzinfo)
    yield from query(
        f"{record_type}_event",
        EVENTS.format(table=rows._meta.db_table, ahead=AHEAD),
        {"record_type": record_type, "since": since},
        subject=partial(encode, prefix),
    )


def check_stored_responses(record_type: str, rows: type[Model], *, prefix: str) -> Iterator[Finding]:
    """Find stored responses whose record does not exist. One query for each BATCH of them."""
    calls = IdempotentCall.objects.filter(body__isnull=False).order_by("pk").values_list("pk", "body")
    records = (
        (record, encode("call", call))
        for call, body in calls.iterator(chunk_size=BATCH)
        if (record := find_record_id(bytes(body or b""), prefix))
    )
    while batch := list(islice(records, BATCH)):
        existing = set(rows._default_manager.filter(pk__in=[key for key, _ in batch]).values_list("pk", flat=True))
        for key, call in batch:
            if key not in existing:
                yield Finding(
                    f"{record_type}_replay", encode(prefix, key), f"the stored response of {call} has no row"
                )


def find_record_id(body: bytes, prefix: str) -> UUID | None:
    """Return the id of the record of this kind that a response contains, or None."""
    try:
        response = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    public_id = response.get("id") if isinstance(response, dict) else None
    return decode(prefix, public_id) if isinstance(public_id, str) else None


def checks(now: datetime) -> Checks:
    """Return the checks that each idempotent call has its response, that grants cover their venue and tokens, and that
    no webhook endpoint outlives its grant.
    """
    del now
    return {
        "unanswered_call": query("unanswered_call", UNANSWERED, subject=partial(encode, "call")),
        "oauth_grant": query("oauth_grant", GRANTS, subject=partial(encode, GRANT_PREFIX)),
        "app_webhook": query("app_webhook", APP_WEBHOOKS, subject=partial(encode, "whk")),
    }

"""The feed of all changes, in the order in which they were committed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from catalogue.history import publish
from catalogue.history.json_patch import paths

# As many places are looked at for one page, however rare what is asked for.
LOOKED_AT = 5_000
# What one reader waits for at most; the worker numbers the rest.
PUBLISHED = 10_000
LAST = 2**63 - 1

READ = """
WITH ahead AS MATERIALIZED (
    SELECT seq, restaurant_id, version, at, kind, patch
    FROM catalogue_version WHERE seq > %(since)s AND seq <= %(upto)s ORDER BY seq LIMIT %(looked_at)s
)
SELECT ahead.seq, ahead.kind, restaurant.slug, ahead.version, ahead.at, ahead.patch::text, survivor.slug,
    CASE WHEN %(with_record)s THEN held.before END, held.hours, held.after
FROM ahead
JOIN catalogue_restaurant AS restaurant ON restaurant.id = ahead.restaurant_id
LEFT JOIN catalogue_restaurant AS survivor ON survivor.id = restaurant.merged_into_id AND ahead.kind = 'merged'
LEFT JOIN catalogue_record AS held ON %(with_record)s AND held.restaurant_id = restaurant.id
WHERE (%(market)s::text IS NULL OR restaurant.market_id = %(market)s)
    AND (%(kinds)s::text[] IS NULL OR ahead.kind = ANY (%(kinds)s))
ORDER BY ahead.seq LIMIT %(most)s
"""
END = """
SELECT coalesce(max(seq), %(since)s), count(*) FROM (
    SELECT seq FROM catalogue_version WHERE seq > %(since)s ORDER BY seq LIMIT %(looked_at)s
) AS ahead
"""


@dataclass(frozen=True, slots=True)
class Change:
    """One change: its place in the feed, what it was, and which restaurant it made a version of.

    `slug` is today's, `into` the one it was merged into. `record` is the JSON of its free fields as they are now,
    without what depends on the moment; None where nobody asked, and of merged and erased restaurants.
    """

    seq: int
    type: str
    slug: str
    version: int
    at: datetime
    paths: list[str]
    into: str | None
    record: bytes | None


@dataclass(frozen=True, slots=True)
class Feed:
    """Changes after a place in the feed. Who goes on from `next_since` misses and repeats nothing.

    A page without a change may have more behind it: what was asked for is rare.
    """

    rows: Sequence[Change]
    limit: int
    next_since: int
    has_more: bool


def changes(
    *,
    since: int = 0,
    limit: int = 100,
    market: str | None = None,
    types: Sequence[str] | None = None,
    with_record: bool = False,
) -> Feed:
    """The changes after `since`, oldest first. Four queries, and five where something is picked out."""
    publish.publish(at_most=PUBLISHED)
    is_picky = market is not None or types is not None
    asked: dict[str, Any] = {
        "since": since,
        "upto": LAST,
        "looked_at": LOOKED_AT if is_picky else limit + 1,
        "market": market,
        "kinds": list(types) if types else None,
        "with_record": with_record,
        "most": limit + 1,
    }
    looked_at = 0
    with connection.cursor() as cursor:
        if is_picky:
            # Before the rows: what gets its place between the two is for the next page.
            cursor.execute(END, asked)
            asked["upto"], looked_at = cursor.fetchone()
        cursor.execute(READ, asked)
        found = [_change(*row) for row in cursor.fetchall()]
    rows = found[:limit]
    if len(found) > limit:
        return Feed(rows, limit, rows[-1].seq, has_more=True)
    seen = asked["upto"] if is_picky else (rows[-1].seq if rows else since)
    return Feed(rows, limit, seen, has_more=looked_at == LOOKED_AT)


def _change(
    seq: int,
    kind: str,
    slug: str,
    version: int,
    at: datetime,
    patch: str,
    into: str | None,
    before: str | None,
    hours: str | None,
    after: str | None,
) -> Change:
    record = None
    if before is not None and hours is not None and after is not None:
        record = f'{{{before},"hours":{{{hours}}},{after}}}'.encode()
    return Change(seq, kind, slug, version, at, paths(orjson.loads(patch)), into, record)

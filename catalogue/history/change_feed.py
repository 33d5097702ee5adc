"""The change feed: all changes in the order in which they were committed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from catalogue.history import publish
from catalogue.history.json_patch import changed_paths
from framework.db.sql_files import read_sql
from framework.errors import InvalidRequest

# Changes that a page scans, however rare the matching ones are.
MAX_SCANNED = 5_000
# Versions that a reader publishes before it reads; the worker publishes the rest.
MAX_PUBLISHED = 10_000
MAX_SEQ = 2**63 - 1

READ = read_sql("catalogue", "read_change_feed")
# At least the last position. It does not decrease when a restaurant with its versions is deleted.
HEAD = "SELECT last_value FROM catalogue_version_feed"
END = """
SELECT coalesce(max(seq), %(since)s), count(*) FROM (
    SELECT seq FROM catalogue_version WHERE seq > %(since)s ORDER BY seq LIMIT %(max_scanned)s
) AS ahead
"""


@dataclass(frozen=True, slots=True)
class Change:
    """A change: its position in the feed, its kind, and the version that it made.

    `slug` is the current one, `into` the restaurant that it was merged into. `record` is the JSON of the current free
    fields without those that depend on the time; None if not requested, and for merged and erased restaurants.
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
class ChangePage:
    """Changes after a position in the feed. A reader that continues from `next_since` misses and repeats nothing.

    A page may be empty although more changes follow, if the filters are selective.
    """

    rows: Sequence[Change]
    limit: int
    next_since: int
    has_more: bool


def list_changes(
    *,
    since: int = 0,
    limit: int = 100,
    market: str | None = None,
    types: Sequence[str] | None = None,
    with_record: bool = False,
) -> ChangePage:
    """Return the changes after `since`, oldest first. Four queries, one more with a filter, one more without changes.

    Raises InvalidRequest if the feed has not reached `since`.
    """
    publish.publish_versions(at_most=MAX_PUBLISHED)
    has_filter = market is not None or types is not None
    parameters: dict[str, Any] = {
        "since": since,
        "upto": MAX_SEQ,
        "max_scanned": MAX_SCANNED if has_filter else limit + 1,
        "market": market,
        "kinds": list(types) if types else None,
        "with_record": with_record,
        "rows": limit + 1,
    }
    scanned = 0
    with connection.cursor() as cursor:
        if has_filter:
            # Before the rows: what is published between the two queries belongs to the next page.
            cursor.execute(END, parameters)
            parameters["upto"], scanned = cursor.fetchone()
        cursor.execute(READ, parameters)
        changes = [_change(row) for row in cursor.fetchall()]
        if since and not changes:
            cursor.execute(HEAD)
            (head,) = cursor.fetchone()
            if since > head:
                raise InvalidRequest(
                    f"The feed ends at {head}: take `next_since` of your last page. If this service was restored from"
                    " a backup, begin again with an export.",
                    param="since",
                )
    rows = changes[:limit]
    if len(changes) > limit:
        return ChangePage(rows, limit, rows[-1].seq, has_more=True)
    next_since = parameters["upto"] if has_filter else (rows[-1].seq if rows else since)
    return ChangePage(rows, limit, next_since, has_more=scanned == MAX_SCANNED)


def _change(row: Sequence[Any]) -> Change:
    seq, kind, slug, version, at, patch, into, before, hours, after = row
    record = None if before is None else f'{{{before},"hours":{{{hours}}},{after}}}'.encode()
    return Change(seq, kind, slug, version, at, changed_paths(orjson.loads(patch)), into, record)

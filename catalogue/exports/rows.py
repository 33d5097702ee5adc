"""The rows of an export: the free fields of restaurants, as the database has rendered them."""

from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from catalogue.models import Export, ExportPart

# A worker may read longer than a web request may.
STATEMENT_TIMEOUT_S = 80
# Control characters, which no JSON holds raw: nothing is ever quoted or escaped.
BETWEEN = b"\x02"

# Each field of GET /v1/restaurants/{slug}?fields=core with its type, but for what depends on the moment of reading:
# the state of the hours and the flow offer.
SCHEMA: Mapping[str, str] = {
    "slug": "string",
    "name": "string",
    "id": "string",
    "alt_names": "array of string",
    "status": "string",
    "market": "string",
    "neighborhood": "string or null",
    "address": "object",
    "location": "object or null",
    "phone": "string or null",
    "phone_verified": "boolean",
    "phone_verified_at": "timestamp or null",
    "website": "string or null",
    "rating": "number or null",
    "review_count": "integer",
    "price_level": "integer or null",
    "cuisine": "string or null",
    "cuisines": "array of string",
    "hours": "object",
    "attributes": "object",
    "external_ids": "object",
    "sources": "array of object",
    "attribution": "array of object",
    "verified_at": "timestamp or null",
    "updated_at": "timestamp",
    "version": "integer",
}
MATCHES = """
restaurant.merged_into_id IS NULL AND restaurant.erased_at IS NULL
AND restaurant.created_at <= %(snapshot_at)s
AND (%(market)s::text IS NULL OR restaurant.market_id = %(market)s)
AND (%(status)s::text IS NULL OR restaurant.status = %(status)s)
AND (%(updated_since)s::timestamptz IS NULL OR restaurant.updated_at >= %(updated_since)s)
"""

# One statement, so one moment: of a part that is written while the catalogue changes, no row is half old. What is
# stored is JSON already.
ROWS = f"""
SELECT held.before, held.hours, held.after, array_to_string(held.sources, ',')
FROM catalogue_restaurant AS restaurant JOIN catalogue_record AS held ON held.restaurant_id = restaurant.id
WHERE (%(lo)s::uuid IS NULL OR restaurant.id > %(lo)s) AND (%(hi)s::uuid IS NULL OR restaurant.id <= %(hi)s)
AND {MATCHES}
ORDER BY restaurant.id
"""  # noqa: S608  # of constants
COPY = rf"COPY ({ROWS}) TO STDOUT (FORMAT csv, DELIMITER E'\x02', QUOTE E'\x01')"


@dataclass(frozen=True, slots=True)
class Row:
    """A restaurant as a line of JSON with its end, and the keys of the sources that it comes from."""

    line: bytes
    sources: frozenset[str]


def read(export: Export, part: ExportPart) -> Generator[Row]:
    """The rows of a part in the order of their keys, as of the moment at which the reading begins.

    One statement on a connection of its own: a row at a time is in memory, and the caller may write to the database
    meanwhile. Close the iterator if it is not read to its end.
    """
    with closing(connection.copy()) as apart:
        apart.ensure_connection()
        with apart.connection.transaction(), apart.connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT_S}s'")
            with cursor.copy(COPY, parameters(export) | {"lo": part.lo, "hi": part.hi}) as copied:
                for record in copied:
                    before, hours, after, keys = bytes(record).removesuffix(b"\n").split(BETWEEN)
                    line = b'{%b,"hours":{%b},%b}\n' % (before, hours, after)
                    yield Row(line=line, sources=frozenset(keys.decode().split(",")) if keys else frozenset())


def parameters(export: Export) -> dict[str, datetime | str | UUID | None]:
    """What MATCHES needs to know of a running export."""
    return {"snapshot_at": export.snapshot_at} | {
        name: export.filter.get(name) for name in ("market", "status", "updated_since")
    }

"""The rows of an export: the free fields of restaurants, written as JSON by the database, and their hours by us."""

import json
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from django.db import connection

from catalogue.hours import Hours, InvalidHoursError
from catalogue.models import Export, ExportPart
from config.api.ids import ALPHABET

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
HOURS = ("timezone", "periods", "special_days", "display", "osm")


def _moment(column: str) -> str:
    """A moment as the API writes it."""
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""


# config.api.ids.encode: 130 bits, five to a letter.
_LETTERS = " || ".join(
    f"substr('{ALPHABET}', substring(bits.of_id, {place}, 5)::int + 1, 1)" for place in range(1, 131, 5)
)

MATCHES = """
restaurant.created_at <= %(snapshot_at)s
AND (%(market)s::text IS NULL OR restaurant.market_id = %(market)s)
AND (%(status)s::text IS NULL OR restaurant.status = %(status)s)
AND (%(updated_since)s::timestamptz IS NULL OR restaurant.updated_at >= %(updated_since)s)
"""

# One statement, so one moment: of a part that is written while the catalogue changes, no row is half old. What is
# `before` the hours and what comes `after` them is JSON already.
ROWS = f"""
SELECT
    row_to_json(before), restaurant.hours, market.timezone, row_to_json(after), array_to_string(said.keys, ',')
FROM catalogue_restaurant AS restaurant
JOIN catalogue_market AS market ON market.slug = restaurant.market_id
LEFT JOIN catalogue_cuisine AS cuisine ON cuisine.slug = restaurant.cuisine_id
CROSS JOIN LATERAL (SELECT B'00' || ('x' || replace(restaurant.id::text, '-', ''))::bit(128) AS of_id) AS bits
CROSS JOIN LATERAL (
    SELECT
        concat_ws(' ', nullif(restaurant.postal_code, ''), nullif(restaurant.locality, '')) AS town,
        nullif(restaurant.line1, '') AS line1,
        nullif(restaurant.region, '') AS region
) AS place
CROSS JOIN LATERAL (
    SELECT
        array_agg(DISTINCT record.source_id) AS keys,
        coalesce(json_agg(json_build_object(
            'source', record.source_id, 'record', record.record, 'license', source.license,
            'updated_at', {_moment("record.updated_at")}, 'fields', record.fields
        ) ORDER BY record.source_id, record.record), '[]') AS records
    FROM catalogue_sourcerecord AS record
    JOIN catalogue_source AS source ON source.key = record.source_id
    WHERE record.restaurant_id = restaurant.id
) AS said
CROSS JOIN LATERAL (
    SELECT
        restaurant.slug, restaurant.name, 'rst_' || {_LETTERS} AS id, restaurant.alt_names, restaurant.status,
        restaurant.market_id AS market, restaurant.neighborhood,
        json_build_object(
            'line1', restaurant.line1, 'locality', restaurant.locality, 'region', restaurant.region,
            'postal_code', restaurant.postal_code, 'country', restaurant.country,
            'formatted', CASE WHEN concat(place.line1, place.town, place.region) <> ''
                THEN concat_ws(', ', place.line1, nullif(place.town, ''), place.region, restaurant.country) END
        ) AS address,
        CASE WHEN restaurant.position IS NOT NULL
            THEN json_build_object('lat', restaurant.latitude, 'lng', restaurant.longitude) END AS location,
        restaurant.phone, restaurant.phone_verified_at IS NOT NULL AS phone_verified,
        {_moment("restaurant.phone_verified_at")} AS phone_verified_at, restaurant.website, restaurant.rating,
        restaurant.review_count, restaurant.price_level, cuisine.label AS cuisine, restaurant.cuisines
) AS before
CROSS JOIN LATERAL (
    SELECT
        restaurant.attributes, restaurant.external_ids, said.records AS sources,
        (
            SELECT coalesce(json_agg(json_build_object(
                'source', source.key, 'text', source.attribution, 'license', source.license
            ) ORDER BY source.key), '[]')
            FROM catalogue_source AS source WHERE source.key = ANY (said.keys)
        ) AS attribution,
        {_moment("restaurant.verified_at")} AS verified_at, {_moment("restaurant.updated_at")} AS updated_at,
        restaurant.version
) AS after
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
                    before, stored, zone, after, keys = bytes(record).removesuffix(b"\n").split(BETWEEN)
                    line = b'%b,"hours":%b,%b\n' % (before[:-1], hours(stored, zone), after[1:])
                    yield Row(line=line, sources=frozenset(keys.decode().split(",")) if keys else frozenset())


@lru_cache(maxsize=4096)
def hours(stored: bytes, zone: bytes) -> bytes:
    """Stored hours in JSON as the API shows them; without any, or with broken ones, unknown in the market's zone.

    Kept for the next restaurants with the same hours, of which there are many.
    """
    try:
        found = Hours.from_json(json.loads(stored or b"null"))
    except (InvalidHoursError, AttributeError):
        found = Hours(zone.decode(), periods=(), special_days=(), known=False)
    shown = found.to_json()
    return json.dumps({name: shown[name] for name in HOURS}, ensure_ascii=False, separators=(",", ":")).encode()


def parameters(export: Export) -> dict[str, datetime | str | UUID | None]:
    """What MATCHES needs to know of a running export."""
    return {"snapshot_at": export.snapshot_at} | {
        name: export.filter.get(name) for name in ("market", "status", "updated_since")
    }

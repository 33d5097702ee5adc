"""The staging table: it holds a whole release before anything is written, to compare it with the catalogue."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from catalogue.importers.field_provenance import MISSING
from catalogue.importers.parsing.parsed_place import ExtractedRecord
from catalogue.importers.row_errors import Reject, Row
from catalogue.importers.upsert import ExtractedRow
from catalogue.search.geocoding.distance import Location

# Temporary: it disappears with the connection of a killed run, and is not written to the WAL.
CREATE = """
DROP TABLE IF EXISTS pg_temp.catalogue_staged;
CREATE TEMPORARY TABLE catalogue_staged (
    place bigint PRIMARY KEY, file integer NOT NULL, number bigint NOT NULL, record text NOT NULL,
    digest text NOT NULL, market text NOT NULL, lat float8, lng float8, content text NOT NULL
)
"""
COPY = "COPY catalogue_staged (place, file, number, record, digest, market, lat, lng, content) FROM STDIN"
INDEX = "CREATE INDEX ON catalogue_staged (record, place)"

# A record in several rows is merged into its first row; the order of the rows does not matter.
MERGE_PARTS = """
WITH grouped AS (
    SELECT min(place) AS first, count(*) AS parts, string_agg(digest, '' ORDER BY digest) AS digests,
        '[' || string_agg(content, ',' ORDER BY place) || ']' AS content,
        (array_agg(lat ORDER BY place) FILTER (WHERE lat IS NOT NULL))[1] AS lat,
        (array_agg(lng ORDER BY place) FILTER (WHERE lng IS NOT NULL))[1] AS lng
    FROM catalogue_staged GROUP BY record
)
UPDATE catalogue_staged AS staged
SET digest = encode(sha256(grouped.digests::bytea), 'hex'), content = grouped.content,
    lat = grouped.lat, lng = grouped.lng
FROM grouped WHERE staged.place = grouped.first
"""
# Deletes later rows of a record and returns those with other content.
DROP_DUPLICATES = """
WITH later AS (
    DELETE FROM catalogue_staged AS later USING (
        SELECT DISTINCT ON (record) record, place, number, digest FROM catalogue_staged ORDER BY record, place
    ) AS first
    WHERE later.record = first.record AND later.place > first.place
    RETURNING later.place, later.file, later.number, later.record, later.digest <> first.digest AS is_conflict,
        later.content, first.number AS first
)
SELECT file, number, record, first, content
FROM later WHERE is_conflict ORDER BY place
"""
DROP_PARTS = """
WITH later AS (
    DELETE FROM catalogue_staged AS later USING (
        SELECT record, min(place) AS place FROM catalogue_staged GROUP BY record
    ) AS first
    WHERE later.record = first.record AND later.place > first.place RETURNING 1
)
SELECT count(*) FROM later
"""
COUNT = "SELECT count(*) FROM catalogue_staged"
PENDING_PAGE = """
SELECT staged.place, staged.file, staged.number, staged.record, staged.digest, staged.market, staged.lat, staged.lng,
    staged.content
FROM catalogue_staged AS staged
LEFT JOIN catalogue_sourcerecord AS known ON known.source_id = %(source)s AND known.record = staged.record
WHERE staged.place > %(after)s AND known.digest IS DISTINCT FROM staged.digest AND (%(new)s OR known.id IS NOT NULL)
ORDER BY staged.place LIMIT %(limit)s
"""
# Per market the records of the source, those with another digest, and those that are missing in the release. Markets
# without a row in the release are left out.
COMPARE = """
SELECT restaurant.market_id, count(*),
    count(*) FILTER (WHERE staged.digest <> known.digest),
    count(*) FILTER (WHERE staged.record IS NULL AND restaurant.status <> 'permanently_closed')
FROM catalogue_sourcerecord AS known
JOIN catalogue_restaurant AS restaurant ON restaurant.id = known.restaurant_id
LEFT JOIN catalogue_staged AS staged ON staged.record = known.record
WHERE known.source_id = %(source)s AND known.digest <> %(missing)s
    AND restaurant.market_id IN (SELECT market FROM catalogue_staged)
    AND restaurant.merged_into_id IS NULL AND restaurant.erased_at IS NULL
GROUP BY restaurant.market_id ORDER BY restaurant.market_id
"""
MISSING_RECORDS = """
SELECT known.id, known.restaurant_id
FROM catalogue_sourcerecord AS known
JOIN catalogue_restaurant AS restaurant ON restaurant.id = known.restaurant_id
WHERE known.source_id = %(source)s AND known.digest <> %(missing)s AND known.id > %(after)s
    AND restaurant.market_id IN (SELECT market FROM catalogue_staged)
    AND NOT EXISTS (SELECT FROM catalogue_staged AS staged WHERE staged.record = known.record)
ORDER BY known.id LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class MarketComparison:
    """What a release would do to a market.

    `changed` of its `records` have another digest, `missing` are not listed.
    """

    market: str
    records: int
    changed: int
    missing: int


@dataclass(slots=True)
class StagingTable:
    """The rows of a run in a temporary table."""

    source: str
    rows: int = 0

    def create(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(CREATE)

    def add(self, found: Sequence[ExtractedRow], *, file: int) -> None:
        """Append rows by COPY."""
        if not found:
            return
        with connection.cursor() as cursor, cursor.copy(COPY) as copy:
            for each in found:
                self.rows += 1
                location = each.extracted.location
                copy.write_row(
                    (
                        self.rows,
                        file,
                        each.row.number,
                        each.extracted.record,
                        each.extracted.digest,
                        each.market,
                        location.lat if location else None,
                        location.lng if location else None,
                        json.dumps(each.extracted.content),
                    )
                )

    def build_index(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(INDEX)
            cursor.execute("ANALYZE catalogue_staged")

    def merge_parts(self) -> int:
        """Merge the rows of each record into one, and return how many were merged into others."""
        with connection.cursor() as cursor:
            cursor.execute(MERGE_PARTS)
            cursor.execute(DROP_PARTS)
            return int(cursor.fetchone()[0])

    def drop_duplicates(self) -> tuple[int, list[tuple[int, Reject]]]:
        """Delete repeated rows of a record; return how many are identical, and by file the conflicting ones."""
        with connection.cursor() as cursor:
            cursor.execute(COUNT)
            before = int(cursor.fetchone()[0])
            cursor.execute(DROP_DUPLICATES)
            rejects = [
                (file, Reject(Row(number, json.loads(content)), _conflict_reason(first, record)))
                for file, number, record, first, content in cursor.fetchall()
            ]
            cursor.execute(COUNT)
            return before - int(cursor.fetchone()[0]) - len(rejects), rejects

    def count(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute(COUNT)
            return int(cursor.fetchone()[0])

    def list_pending(self, *, limit: int, new: bool = True) -> Iterator[tuple[int, list[tuple[int, ExtractedRow]]]]:
        """Yield pages of rows that differ from the catalogue: the position of the last, and each row with its file.

        Without `new` only those whose record exists.
        """
        after = 0
        while True:
            with connection.cursor() as cursor:
                cursor.execute(PENDING_PAGE, {"source": self.source, "after": after, "limit": limit, "new": new})
                rows = cursor.fetchall()
            if not rows:
                return
            after = rows[-1][0]
            yield after, [(row[1], _to_extracted_row(row)) for row in rows]

    def compare(self) -> list[MarketComparison]:
        """Compare the release with the records of each market. One query."""
        with connection.cursor() as cursor:
            cursor.execute(COMPARE, {"source": self.source, "missing": MISSING})
            return [MarketComparison(*row) for row in cursor.fetchall()]

    def list_missing(self, *, after: int, limit: int) -> list[tuple[int, Any]]:
        """Return records that are missing in the release, with their restaurants, by key."""
        with connection.cursor() as cursor:
            cursor.execute(
                MISSING_RECORDS, {"source": self.source, "missing": MISSING, "after": after, "limit": limit}
            )
            return list(cursor.fetchall())


def _conflict_reason(first: int, record: str) -> str:
    return f"Row {first} is the same record ({record}) with other content."


def _to_extracted_row(row: Sequence[Any]) -> ExtractedRow:
    _, _, number, record, digest, market, lat, lng, content = row
    read = json.loads(content)
    return ExtractedRow(
        Row(number, read),
        ExtractedRecord(
            record=record,
            digest=digest,
            location=None if lat is None else Location(lat, lng),
            content=read,
        ),
        market,
    )

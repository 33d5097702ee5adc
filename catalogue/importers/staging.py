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
from framework.db.sql_files import read_sql

# The key of a record without an id contains a hash of its name, of this length.
HASH_LENGTH = 24
MAX_MOVED_M = 50

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

MERGE_PARTS = read_sql("catalogue", "merge_staged_parts")
DROP_DUPLICATES = read_sql("catalogue", "drop_staged_duplicates")
DROP_PARTS = """
DELETE FROM catalogue_staged AS later
USING (SELECT record, min(place) AS place FROM catalogue_staged GROUP BY record) AS first
WHERE later.record = first.record AND later.place > first.place
"""
COUNT = "SELECT count(*) FROM catalogue_staged"
PENDING_PAGE = read_sql("catalogue", "list_staged_changes")
ADOPT_MOVED = read_sql("catalogue", "adopt_moved_records")
COMPARE = read_sql("catalogue", "compare_staged")
MISSING_RECORDS = read_sql("catalogue", "list_missing_records")


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
            return int(cursor.rowcount)

    def drop_duplicates(self) -> tuple[int, list[tuple[int, Reject]]]:
        """Delete repeated rows of a record; return how many are identical, and by file the conflicting ones."""
        before = self.count()
        rejects = [
            (
                file,
                Reject(
                    Row(number, json.loads(content)),
                    (f"Row {first} is the same record ({record!r}) with other content.",),
                ),
            )
            for file, number, record, first, content in _query(DROP_DUPLICATES)
        ]
        return before - self.count() - len(rejects), rejects

    def adopt_moved_records(self) -> None:
        """Give records without an id that moved a little the key under which the catalogue has them."""
        parameters: dict[str, str | int] = {
            "source": self.source,
            "prefix": len(f"at/{'0' * HASH_LENGTH}/"),
            "metres": MAX_MOVED_M,
        }
        with connection.cursor() as cursor:
            cursor.execute(ADOPT_MOVED, parameters)

    def count(self) -> int:
        ((count,),) = _query(COUNT)
        return int(count)

    def list_pending(self, *, limit: int, new: bool = True) -> Iterator[tuple[int, list[tuple[int, ExtractedRow]]]]:
        """Yield pages of rows that differ from the catalogue: the position of the last, and each row with its file.

        Without `new` only those whose record exists.
        """
        after = 0
        while rows := _query(PENDING_PAGE, source=self.source, after=after, limit=limit, new=new):
            after = rows[-1][0]
            yield after, [(row[1], _to_extracted_row(row)) for row in rows]

    def compare(self) -> list[MarketComparison]:
        """Compare the release with the records of each market. One query."""
        return [MarketComparison(*row) for row in _query(COMPARE, source=self.source, missing=MISSING)]

    def list_missing(self, *, after: int, limit: int) -> list[tuple[int, Any]]:
        """Return records that are missing in the release, with their restaurants, by key."""
        return _query(MISSING_RECORDS, source=self.source, missing=MISSING, after=after, limit=limit)


def _query(statement: str, **parameters: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return list(cursor.fetchall())


def _to_extracted_row(row: Sequence[Any]) -> ExtractedRow:
    _, _, number, record, digest, market, lat, lng, text = row
    content = json.loads(text)
    location = None if lat is None else Location(lat, lng)
    extracted = ExtractedRecord(record=record, digest=digest, location=location, content=content)
    return ExtractedRow(Row(number, content), extracted, market)

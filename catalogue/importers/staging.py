"""Where a release waits as a whole before anything of it is written, so that it can be compared with what is held."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from catalogue.importers.field_provenance import ABSENT
from catalogue.importers.parsing.parsed_place import Sketch
from catalogue.importers.row_errors import Reject, Row
from catalogue.importers.upsert import Sketched
from catalogue.search.geocoding.distance import Location

# Of this connection only, so it is gone with a run that is killed. Nothing of it is logged.
CREATE = """
DROP TABLE IF EXISTS pg_temp.catalogue_staged;
CREATE TEMPORARY TABLE catalogue_staged (
    place bigint PRIMARY KEY, file integer NOT NULL, number bigint NOT NULL, record text NOT NULL,
    digest text NOT NULL, market text NOT NULL, lat float8, lng float8, content text NOT NULL
)
"""
COPY = "COPY catalogue_staged (place, file, number, record, digest, market, lat, lng, content) FROM STDIN"
INDEX = "CREATE INDEX ON catalogue_staged (record, place)"

# One record in several rows is what they say together, however they are ordered.
GROUP = """
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
# Of rows that say the same again there is nothing to tell; of those that say otherwise, the row.
DROP_REPEATED = """
WITH later AS (
    DELETE FROM catalogue_staged AS later USING (
        SELECT DISTINCT ON (record) record, place, number, digest FROM catalogue_staged ORDER BY record, place
    ) AS first
    WHERE later.record = first.record AND later.place > first.place
    RETURNING later.place, later.file, later.number, later.record, later.digest <> first.digest AS differs,
        later.content, first.number AS first
)
SELECT file, number, record, first, content
FROM later WHERE differs ORDER BY place
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
PAGE = """
SELECT staged.place, staged.file, staged.number, staged.record, staged.digest, staged.market, staged.lat, staged.lng,
    staged.content
FROM catalogue_staged AS staged
LEFT JOIN catalogue_sourcerecord AS held ON held.source_id = %(source)s AND held.record = staged.record
WHERE staged.place > %(after)s AND held.digest IS DISTINCT FROM staged.digest AND (%(new)s OR held.id IS NOT NULL)
ORDER BY staged.place LIMIT %(limit)s
"""
# What each market has from the source, how much of it the release speaks of otherwise, and how much not at all. A
# market of which the release says nothing is not in it.
COMPARE = """
SELECT restaurant.market_id, count(*),
    count(*) FILTER (WHERE staged.digest <> held.digest),
    count(*) FILTER (WHERE staged.record IS NULL AND restaurant.status <> 'permanently_closed')
FROM catalogue_sourcerecord AS held
JOIN catalogue_restaurant AS restaurant ON restaurant.id = held.restaurant_id
LEFT JOIN catalogue_staged AS staged ON staged.record = held.record
WHERE held.source_id = %(source)s AND held.digest <> %(absent)s
    AND restaurant.market_id IN (SELECT market FROM catalogue_staged)
    AND restaurant.merged_into_id IS NULL AND restaurant.erased_at IS NULL
GROUP BY restaurant.market_id ORDER BY restaurant.market_id
"""
ABSENTEES = """
SELECT held.id, held.restaurant_id
FROM catalogue_sourcerecord AS held
JOIN catalogue_restaurant AS restaurant ON restaurant.id = held.restaurant_id
WHERE held.source_id = %(source)s AND held.digest <> %(absent)s AND held.id > %(after)s
    AND restaurant.market_id IN (SELECT market FROM catalogue_staged)
    AND NOT EXISTS (SELECT FROM catalogue_staged AS staged WHERE staged.record = held.record)
ORDER BY held.id LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a release would do to a market: of so many records `stated` are told otherwise, and `absent` not at all."""

    market: str
    records: int
    stated: int
    absent: int


@dataclass(slots=True)
class Staging:
    """The rows of a run, in a temporary table. All but `repeated` and `absentees` answer without changing anything."""

    source: str
    rows: int = 0

    def begin(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(CREATE)

    def add(self, found: Sequence[Sketched], *, file: int) -> None:
        """Append these, by COPY."""
        if not found:
            return
        with connection.cursor() as cursor, cursor.copy(COPY) as copy:
            for each in found:
                self.rows += 1
                at = each.sketch.location
                copy.write_row(
                    (
                        self.rows,
                        file,
                        each.row.number,
                        each.sketch.record,
                        each.sketch.digest,
                        each.market,
                        at.lat if at else None,
                        at.lng if at else None,
                        json.dumps(each.sketch.content),
                    )
                )

    def end(self) -> None:
        """All rows are there: make them quick to find."""
        with connection.cursor() as cursor:
            cursor.execute(INDEX)
            cursor.execute("ANALYZE catalogue_staged")

    def group(self) -> int:
        """Make one row of all that speak of the same record; how many went into others."""
        with connection.cursor() as cursor:
            cursor.execute(GROUP)
            cursor.execute(DROP_PARTS)
            return int(cursor.fetchone()[0])

    def repeated(self) -> tuple[int, list[tuple[int, Reject]]]:
        """Drop the rows of a record that came before: how many say the same, and by file those that say otherwise."""
        with connection.cursor() as cursor:
            cursor.execute(COUNT)
            before = int(cursor.fetchone()[0])
            cursor.execute(DROP_REPEATED)
            rejects = [
                (file, Reject(Row(number, json.loads(content)), _otherwise(first, record)))
                for file, number, record, first, content in cursor.fetchall()
            ]
            cursor.execute(COUNT)
            return before - int(cursor.fetchone()[0]) - len(rejects), rejects

    def count(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute(COUNT)
            return int(cursor.fetchone()[0])

    def pending(self, *, limit: int, new: bool = True) -> Iterator[tuple[int, list[tuple[int, Sketched]]]]:
        """The rows that are not held as they are, by `limit`: the place of the last, and each with its file.

        Without `new` only those whose record is held, otherwise.
        """
        after = 0
        while True:
            with connection.cursor() as cursor:
                cursor.execute(PAGE, {"source": self.source, "after": after, "limit": limit, "new": new})
                rows = cursor.fetchall()
            if not rows:
                return
            after = rows[-1][0]
            yield after, [(row[1], _sketched(row)) for row in rows]

    def compare(self) -> list[Figures]:
        with connection.cursor() as cursor:
            cursor.execute(COMPARE, {"source": self.source, "absent": ABSENT})
            return [Figures(*row) for row in cursor.fetchall()]

    def absentees(self, *, after: int, limit: int) -> list[tuple[int, Any]]:
        """Records that the release has no more, with their restaurants, in the order of their ids."""
        with connection.cursor() as cursor:
            cursor.execute(ABSENTEES, {"source": self.source, "absent": ABSENT, "after": after, "limit": limit})
            return list(cursor.fetchall())


def _otherwise(first: int, record: str) -> str:
    return f"Row {first} is the same record ({record}) and says otherwise."


def _sketched(row: Sequence[Any]) -> Sketched:
    _, _, number, record, digest, market, lat, lng, content = row
    read = json.loads(content)
    return Sketched(
        Row(number, read),
        Sketch(
            record=record,
            digest=digest,
            location=None if lat is None else Location(lat, lng),
            content=read,
        ),
        market,
    )

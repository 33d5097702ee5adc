"""Rebuild the read model, compare it with the restaurants, and repair it.

Triggers (catalogue/sql/render_restaurants.sql) update it row by row. This module is for changes without triggers:
a restored table, a bulk load, a new version of a rendering function.
"""

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from django.db import connection, transaction

from catalogue.read_model import bulk_load
from framework.cli.progress import OnProgress, no_progress
from framework.db.sql_files import read_sql

logger = logging.getLogger(__name__)

# Restaurants per statement, which takes a fifth of a second.
BATCH_SIZE = 1_000

# Rows are stored by market and by tiles of this size, so that a search in an area reads few pages of the heap.
TILE_M = 500


@dataclass(frozen=True)
class Rendering:
    """A table of the read model: its columns as expressions of `r`, a restaurant, and `rendered`, what SQL renders
    of it.
    """

    table: str
    source: str
    condition: str
    columns: Mapping[str, str]

    @property
    def expected(self) -> str:
        """A query for the rows that the table should have."""
        columns = ", ".join(f"{value} AS {name}" for name, value in self.columns.items())
        return (
            f"SELECT {columns} FROM catalogue_restaurant AS r CROSS JOIN LATERAL {self.source} WHERE {self.condition}"  # noqa: S608  # built from constants
        )


IS_PUBLIC = "r.merged_into_id IS NULL AND r.erased_at IS NULL"
IS_LISTED = f"{IS_PUBLIC} AND r.status NOT IN ('permanently_closed', 'moved')"
RECORD = Rendering(
    table="catalogue_record",
    source="restaurant_record(r) AS rendered",
    condition=IS_PUBLIC,
    columns={
        "restaurant_id": "r.id",
        "slug": "r.slug",
        "status": "r.status",
        **{name: f"rendered.{name}" for name in ("timezone", "hours_known", "before", "hours", "after", "sources")},
    },
)
SEARCH_ROW = Rendering(
    table="catalogue_searchrow",
    source="restaurant_search_row(r) AS rendered",
    condition=IS_LISTED,
    columns={
        "restaurant_id": "r.id",
        "market": "r.market_id",
        **{
            name: f"r.{name}"
            for name in ("position", "latitude", "longitude", "cuisines", "price_level", "rating", "review_count")
        },
        **{
            name: f"rendered.{name}"
            for name in ("timezone", "is_shut", "tags", "neighborhood", "name", "line1", "document", "sources", "card")
        },
    },
)
KITCHEN = Rendering(
    table="catalogue_kitchen",
    source="(SELECT DISTINCT unnest(r.cuisines) AS cuisine) AS rendered",
    condition=IS_LISTED,
    columns={
        "restaurant_id": "r.id",
        "cuisine": "rendered.cuisine",
        **{name: f"r.{name}" for name in ("position", "price_level", "rating")},
    },
)
TABLES = tuple(rendering.table for rendering in (RECORD, SEARCH_ROW, KITCHEN))
SOURCE_TABLES = ("restaurant", "sourcerecord", "insight", "market", "cuisine", "source")

FUNCTION = read_sql("catalogue", "define_staging_function")
STAGE = """
CREATE TEMPORARY TABLE staged_{table} ON COMMIT DROP AS
SELECT {fields}
FROM (SELECT pg_temp.render(r) AS rendered FROM catalogue_restaurant AS r WHERE {condition} OFFSET 0) AS rows
"""

# Columns that are not rendered, but computed by catalogue.hours.open_intervals and catalogue.search.rank_refresh.
COPY_STATE = """
CREATE TEMPORARY TABLE saved ON COMMIT DROP AS
SELECT restaurant_id, rank_stars, rank_reviews, former_stars, former_reviews, ranked_at, open_intervals,
    intervals_until
FROM catalogue_searchrow WHERE %s
"""
FILL_RECORDS = f"""
INSERT INTO catalogue_record ({", ".join(RECORD.columns)}) SELECT {", ".join(RECORD.columns)}
FROM staged_catalogue_record
"""  # noqa: S608  # built from constants
FILL_ROWS = f"""
INSERT INTO catalogue_searchrow ({", ".join(SEARCH_ROW.columns)}, rank_stars, rank_reviews, former_stars,
    former_reviews, ranked_at, open_intervals, intervals_until)
SELECT {", ".join(f"staged.{name}" for name in SEARCH_ROW.columns)},
    coalesce(saved.rank_stars, staged.stars), coalesce(saved.rank_reviews, staged.review_count),
    coalesce(saved.former_stars, staged.stars), coalesce(saved.former_reviews, staged.review_count),
    coalesce(saved.ranked_at, 'epoch'), saved.open_intervals, saved.intervals_until
FROM (SELECT *, (coalesce(rating, 0) * 10)::integer AS stars FROM staged_catalogue_searchrow) AS staged
LEFT JOIN saved USING (restaurant_id)
ORDER BY staged.market, floor(staged.position[0] / {TILE_M}), floor(staged.position[1] / {TILE_M})
"""  # noqa: S608  # built from constants
FILL_KITCHENS = f"""
INSERT INTO catalogue_kitchen ({", ".join(KITCHEN.columns)})
SELECT r.restaurant_id, rendered.cuisine, r.position, r.price_level, r.rating
FROM catalogue_searchrow AS r CROSS JOIN LATERAL {KITCHEN.source}
"""  # noqa: S608  # built from constants

NEXT_BATCH = "SELECT id FROM catalogue_restaurant WHERE id > %s ORDER BY id LIMIT %s"
MIN_UUID = UUID(int=0)


@dataclass(frozen=True)
class Difference:
    """A wrong row of the read model: `missing`, `left over` or `different`."""

    restaurant_id: UUID
    table: str
    what: str


def render_restaurants(ids: Collection[UUID]) -> None:
    """Render these restaurants under their locks. One statement, 0.4 ms for each restaurant."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT render_restaurants(%s)", [list(ids)])


def rebuild_read_model(*, keeps: bool = True, on_step: OnProgress = no_progress) -> int:
    """Write all rows of the read model again, sorted by location; return the number of search rows.

    In one transaction, which takes half a minute for 354,000 restaurants on two cores. It locks restaurants against
    writers, and in its second half the read model against readers. `keeps` preserves the open intervals and the ranks;
    without it the worker computes the intervals, and ranks follow the current ratings.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        bulk_load.disable_timeouts()
        cursor.execute(f"LOCK TABLE {', '.join(f'catalogue_{table}' for table in SOURCE_TABLES)} IN SHARE MODE")
        cursor.execute(f"LOCK TABLE {', '.join(TABLES)} IN SHARE ROW EXCLUSIVE MODE")
        _stage(RECORD)
        on_step("read model", 1, 5)
        _stage(SEARCH_ROW)
        on_step("read model", 2, 5)
        cursor.execute(COPY_STATE, [keeps])
        # Constraints cannot be dropped while deferred checks are pending.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with bulk_load.indexes_dropped(TABLES, on_step=on_step):
            # TRUNCATE would empty the table for an export that reads an older snapshot.
            for table in reversed(TABLES):
                cursor.execute(f"DELETE FROM {table}")  # noqa: S608  # built from constants
            cursor.execute(FILL_RECORDS)
            on_step("read model", 3, 5)
            cursor.execute(FILL_ROWS)
            rows = int(cursor.rowcount)
            on_step("read model", 4, 5)
            cursor.execute(FILL_KITCHENS)
            on_step("read model", 5, 5)
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute(
            f"DROP TABLE saved, {', '.join(f'staged_{rendering.table}' for rendering in (RECORD, SEARCH_ROW))}"
        )
    return rows


def find_differences(*, limit: int | None = None, on_step: OnProgress = no_progress) -> Iterator[Difference]:
    """Compare the read model with the restaurants and yield the differences, sorted by id.

    A statement compares a thousand restaurants in one snapshot, so concurrent changes are no differences; 0.2 ms for
    each.
    """
    yield from islice((difference for ids in _batches(on_step) for difference in _compare(ids)), limit)


def repair_read_model(*, on_step: OnProgress = no_progress) -> int:
    """Render the restaurants that differ, and log them; return how many. Concurrent writers and runs are safe."""
    repaired = 0
    for ids in _batches(on_step):
        differences = list(_compare(ids))
        for difference in differences:
            logger.warning(
                "%s of restaurant %s was %s and is rendered again",
                difference.table,
                difference.restaurant_id,
                difference.what,
            )
        ids_to_render = sorted({difference.restaurant_id for difference in differences})
        if ids_to_render:
            render_restaurants(ids_to_render)
        repaired += len(ids_to_render)
    return repaired


def _stage(rendering: Rendering) -> None:
    """Copy the rows that a table should have into a temporary table, with parallel workers."""
    with connection.cursor() as cursor:
        cursor.execute(
            FUNCTION.format(
                table=rendering.table,
                values=", ".join(rendering.columns.values()),
                fields=", ".join(f"row.{name}" for name in rendering.columns),
                source=rendering.source,
            )
        )
        for setting in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"):
            cursor.execute(f"SET LOCAL {setting} = 0")
        fields = ", ".join(f"(rendered).{name}" for name in rendering.columns)
        cursor.execute(STAGE.format(table=rendering.table, fields=fields, condition=rendering.condition))
        for setting in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"):
            cursor.execute(f"SET LOCAL {setting} TO DEFAULT")
        cursor.execute("DROP FUNCTION pg_temp.render(catalogue_restaurant)")


def _batches(on_step: OnProgress) -> Iterator[list[UUID]]:
    """Yield the ids of all restaurants, sorted, a thousand at a time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM catalogue_restaurant")
        row = cursor.fetchone()
        total, done, after = row[0] if row else 0, 0, MIN_UUID
        while True:
            cursor.execute(NEXT_BATCH, [after, BATCH_SIZE])
            ids = [pk for (pk,) in cursor.fetchall()]
            if not ids:
                return
            yield ids
            done, after = done + len(ids), ids[-1]
            on_step("restaurants", done, max(done, total))


def _compare(ids: list[UUID]) -> Iterator[Difference]:
    for rendering in (RECORD, SEARCH_ROW, KITCHEN):
        with connection.cursor() as cursor:
            cursor.execute(_comparison(rendering), {"first": ids[0], "last": ids[-1]})
            found = cursor.fetchall()
        yield from (Difference(pk, rendering.table, what) for pk, what in sorted(found))


def _comparison(rendering: Rendering) -> str:
    keys = [name for name in rendering.columns if name in {"restaurant_id", "cuisine"}]
    # The type point has no equality operator for row comparisons.
    compared = [f"{name}::text" if name == "position" else name for name in rendering.columns if name not in keys]
    expected, actual = (", ".join(f"{side}.{name}" for name in compared) for side in ("expected", "actual"))
    return f"""
        SELECT restaurant_id, CASE
            WHEN actual.row_exists IS NULL THEN 'missing'
            WHEN expected.row_exists IS NULL THEN 'left over' ELSE 'different' END
        FROM (SELECT *, true AS row_exists FROM ({rendering.expected}) AS rendered
            WHERE restaurant_id BETWEEN %(first)s AND %(last)s) AS expected
        FULL JOIN (SELECT *, true AS row_exists FROM {rendering.table}
            WHERE restaurant_id BETWEEN %(first)s AND %(last)s) AS actual USING ({", ".join(keys)})
        WHERE expected.row_exists IS NULL OR actual.row_exists IS NULL OR ({expected}) IS DISTINCT FROM ({actual})
        GROUP BY 1, 2
    """  # noqa: S608  # built from constants

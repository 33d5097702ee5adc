"""The read model as a whole: made anew, compared with the restaurants, and mended.

The triggers (catalogue/sql/render_restaurants.sql) render what changes, one by one. What stands here is for the day on
which somebody has gone round them: a restored table, triggers that were switched off for a bulk load,
a function that was mended.
"""

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction

from catalogue.read_model import bulk_load
from framework.cli.progress import OnProgress, no_progress

logger = logging.getLogger(__name__)

# Restaurants that are compared, or rendered, in one statement: a fifth of a second.
RANGE = 1_000

# Who reads a part of a town reads few pages of the heap: rows lie by market, then in tiles of so many metres.
TILE_M = 500


@dataclass(frozen=True)
class Rendering:
    """A table of the read model: its columns out of `r`, a restaurant, and `made`, what the database renders of it."""

    table: str
    made_by: str
    of: str
    columns: Mapping[str, str]

    @property
    def due(self) -> str:
        """A query for all that the table should hold."""
        columns = ", ".join(f"{value} AS {name}" for name, value in self.columns.items())
        return f"SELECT {columns} FROM catalogue_restaurant AS r CROSS JOIN LATERAL {self.made_by} WHERE {self.of}"  # noqa: S608  # of constants


IS_KNOWN = "r.merged_into_id IS NULL AND r.erased_at IS NULL"
IS_LISTED = f"{IS_KNOWN} AND r.status NOT IN ('permanently_closed', 'moved')"
RECORD = Rendering(
    table="catalogue_record",
    made_by="restaurant_record(r) AS made",
    of=IS_KNOWN,
    columns={
        "restaurant_id": "r.id",
        "slug": "r.slug",
        "status": "r.status",
        **{name: f"made.{name}" for name in ("timezone", "hours_known", "before", "hours", "after", "sources")},
    },
)
SEARCH_ROW = Rendering(
    table="catalogue_searchrow",
    made_by="restaurant_search_row(r) AS made",
    of=IS_LISTED,
    columns={
        "restaurant_id": "r.id",
        "market": "r.market_id",
        **{
            name: f"r.{name}"
            for name in ("position", "latitude", "longitude", "cuisines", "price_level", "rating", "review_count")
        },
        **{
            name: f"made.{name}"
            for name in ("timezone", "is_shut", "tags", "neighborhood", "name", "line1", "document", "sources", "card")
        },
    },
)
KITCHEN = Rendering(
    table="catalogue_kitchen",
    made_by="(SELECT DISTINCT unnest(r.cuisines) AS cuisine) AS made",
    of=IS_LISTED,
    columns={
        "restaurant_id": "r.id",
        "cuisine": "made.cuisine",
        **{name: f"r.{name}" for name in ("position", "price_level", "rating")},
    },
)
TABLES = tuple(rendering.table for rendering in (RECORD, SEARCH_ROW, KITCHEN))
BEHIND = ("restaurant", "sourcerecord", "insight", "market", "cuisine", "source")

# A function that the planner cannot open is one that it gives to parallel workers; what it can, it does alone.
FUNCTION = """
CREATE FUNCTION pg_temp.rendered(r catalogue_restaurant) RETURNS {table}
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $function$
DECLARE
    row {table};
BEGIN
    SELECT {values} INTO {fields} FROM {made_by};
    RETURN row;
END
$function$
"""
STAGE = """
CREATE TEMPORARY TABLE staged_{table} ON COMMIT DROP AS
SELECT {fields} FROM (SELECT pg_temp.rendered(r) AS made FROM catalogue_restaurant AS r WHERE {of} OFFSET 0) AS one
"""

# What is not rendered, but kept by catalogue.hours.open_spans and catalogue.search.rank_refresh.
KEEP = """
CREATE TEMPORARY TABLE kept ON COMMIT DROP AS
SELECT restaurant_id, rank_stars, rank_reviews, former_stars, former_reviews, ranked_at, open_spans, spans_until
FROM catalogue_searchrow WHERE %s
"""
FILL_RECORDS = f"""
INSERT INTO catalogue_record ({", ".join(RECORD.columns)}) SELECT {", ".join(RECORD.columns)}
FROM staged_catalogue_record
"""  # noqa: S608  # of constants
FILL_ROWS = f"""
INSERT INTO catalogue_searchrow ({", ".join(SEARCH_ROW.columns)}, rank_stars, rank_reviews, former_stars,
    former_reviews, ranked_at, open_spans, spans_until)
SELECT {", ".join(f"staged.{name}" for name in SEARCH_ROW.columns)},
    coalesce(kept.rank_stars, staged.stars), coalesce(kept.rank_reviews, staged.review_count),
    coalesce(kept.former_stars, staged.stars), coalesce(kept.former_reviews, staged.review_count),
    coalesce(kept.ranked_at, 'epoch'), kept.open_spans, kept.spans_until
FROM (SELECT *, (coalesce(rating, 0) * 10)::integer AS stars FROM staged_catalogue_searchrow) AS staged
LEFT JOIN kept USING (restaurant_id)
ORDER BY staged.market, floor(staged.position[0] / {TILE_M}), floor(staged.position[1] / {TILE_M})
"""  # noqa: S608  # of constants
FILL_KITCHENS = f"""
INSERT INTO catalogue_kitchen ({", ".join(KITCHEN.columns)})
SELECT r.restaurant_id, made.cuisine, r.position, r.price_level, r.rating
FROM catalogue_searchrow AS r CROSS JOIN LATERAL {KITCHEN.made_by}
"""  # noqa: S608  # of constants

NEXT = "SELECT id FROM catalogue_restaurant WHERE id > %s ORDER BY id LIMIT %s"
FIRST = UUID(int=0)


@dataclass(frozen=True)
class Difference:
    """A restaurant that a table of the read model does not show as it is: `missing`, `left over` or `another`."""

    restaurant_id: UUID
    table: str
    what: str


def render(ids: Collection[UUID]) -> None:
    """Render these restaurants now, whoever changes them meanwhile. One statement, 0.4 ms a restaurant."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT render_restaurants(%s)", [list(ids)])


def rebuild(*, keeps: bool = True, on_step: OnProgress = no_progress) -> int:
    """Make all rows of the read model anew, in the order of places; how many restaurants lists see then.

    In one transaction: half a minute for 354,000 restaurants on two cores. Until it ends nobody changes restaurants,
    and in its second half nobody reads the read model. `keeps` the open spans and the order of lists; without it the
    spans are worked out by the worker, and each restaurant has the place that its rating says.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        bulk_load.take_time()
        cursor.execute(f"LOCK TABLE {', '.join(f'catalogue_{table}' for table in BEHIND)} IN SHARE MODE")
        cursor.execute(f"LOCK TABLE {', '.join(TABLES)} IN SHARE ROW EXCLUSIVE MODE")
        _stage(RECORD)
        on_step("read model", 1, 5)
        _stage(SEARCH_ROW)
        on_step("read model", 2, 5)
        cursor.execute(KEEP, [keeps])
        # What foreign keys still have to check would forbid that the indexes go.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with bulk_load.unindexed(TABLES, on_step=on_step):
            # Not TRUNCATE: an export that reads an older snapshot would find nothing.
            for table in reversed(TABLES):
                cursor.execute(f"DELETE FROM {table}")  # noqa: S608  # of constants
            cursor.execute(FILL_RECORDS)
            on_step("read model", 3, 5)
            cursor.execute(FILL_ROWS)
            rows = int(cursor.rowcount)
            on_step("read model", 4, 5)
            cursor.execute(FILL_KITCHENS)
            on_step("read model", 5, 5)
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute(f"DROP TABLE kept, {', '.join(f'staged_{one.table}' for one in (RECORD, SEARCH_ROW))}")
    return rows


def differences(*, limit: int | None = None, on_step: OnProgress = no_progress) -> Iterator[Difference]:
    """Compare the read model with the restaurants, at most so many differences, in the order of their ids.

    Each thousand is a statement of its own that sees one moment, so a change that happens meanwhile is no difference;
    0.2 ms a restaurant.
    """
    found = 0
    for ids in _ranges(on_step):
        for difference in _differing(ids):
            if limit is not None and found >= limit:
                return
            found += 1
            yield difference


def mend(*, on_step: OnProgress = no_progress) -> int:
    """Render anew the restaurants that differ, and log them; how many there were.

    The restaurants are locked when they are rendered, so edits and a second run at the same time do no harm.
    """
    mended = 0
    for ids in _ranges(on_step):
        differing = list(_differing(ids))
        for difference in differing:
            logger.warning(
                "%s of restaurant %s was %s: rendered anew",
                difference.table,
                difference.restaurant_id,
                difference.what,
            )
        wrong = sorted({difference.restaurant_id for difference in differing})
        if wrong:
            render(wrong)
        mended += len(wrong)
    return mended


def _stage(rendering: Rendering) -> None:
    """Put what a table should hold into a temporary one, by as many processes as the database gives."""
    with connection.cursor() as cursor:
        cursor.execute(
            FUNCTION.format(
                table=rendering.table,
                values=", ".join(rendering.columns.values()),
                fields=", ".join(f"row.{name}" for name in rendering.columns),
                made_by=rendering.made_by,
            )
        )
        for setting in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"):
            cursor.execute(f"SET LOCAL {setting} = 0")
        fields = ", ".join(f"(made).{name}" for name in rendering.columns)
        cursor.execute(STAGE.format(table=rendering.table, fields=fields, of=rendering.of))
        for setting in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"):
            cursor.execute(f"SET LOCAL {setting} TO DEFAULT")
        cursor.execute("DROP FUNCTION pg_temp.rendered(catalogue_restaurant)")


def _ranges(on_step: OnProgress) -> Iterator[list[UUID]]:
    """The ids of all restaurants, in their order, a thousand at a time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM catalogue_restaurant")
        row = cursor.fetchone()
        total, done, after = row[0] if row else 0, 0, FIRST
        while True:
            cursor.execute(NEXT, [after, RANGE])
            ids = [pk for (pk,) in cursor.fetchall()]
            if not ids:
                return
            yield ids
            done, after = done + len(ids), ids[-1]
            on_step("restaurants", done, max(done, total))


def _differing(ids: list[UUID]) -> Iterator[Difference]:
    for rendering in (RECORD, SEARCH_ROW, KITCHEN):
        with connection.cursor() as cursor:
            cursor.execute(_comparison(rendering), {"first": ids[0], "last": ids[-1]})
            found = cursor.fetchall()
        yield from (Difference(pk, rendering.table, what) for pk, what in sorted(found))


def _comparison(rendering: Rendering) -> str:
    keys = [name for name in rendering.columns if name in {"restaurant_id", "cuisine"}]
    # Points know no equality that a comparison of rows could use.
    compared = [f"{name}::text" if name == "position" else name for name in rendering.columns if name not in keys]
    due, held = (", ".join(f"{side}.{name}" for name in compared) for side in ("due", "held"))
    return f"""
        SELECT restaurant_id, CASE
            WHEN held.is_there IS NULL THEN 'missing' WHEN due.is_there IS NULL THEN 'left over' ELSE 'another' END
        FROM (SELECT *, true AS is_there FROM ({rendering.due}) AS made
            WHERE restaurant_id BETWEEN %(first)s AND %(last)s) AS due
        FULL JOIN (SELECT *, true AS is_there FROM {rendering.table}
            WHERE restaurant_id BETWEEN %(first)s AND %(last)s) AS held USING ({", ".join(keys)})
        WHERE due.is_there IS NULL OR held.is_there IS NULL OR ({due}) IS DISTINCT FROM ({held})
        GROUP BY 1, 2
    """  # noqa: S608  # of constants

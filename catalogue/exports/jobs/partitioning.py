"""How the keys of an export are split into parts: the same rows always in the same way."""

import re

from django.db import connection

from catalogue.exports import datasets
from catalogue.exports.datasets.base import parameters
from catalogue.exports.jobs.shared_snapshot import STATEMENT_TIMEOUT_S
from catalogue.models import Export

# The table of the key, where no more than it is needed.
TABLE = re.compile(r"\s*(\w+ AS \w+)(?:\s+(?:LEFT |INNER )?JOIN\b|\s*$)")
# The last key of each part but the last, and how many rows there are.
EXACTLY = """
WITH
counted AS (
    SELECT {key} AS id, row_number() OVER (ORDER BY {key}) AS nth FROM {rows} WHERE {wanted}
),
total AS (SELECT count(*) AS rows FROM counted)
SELECT coalesce(
    array_agg(counted.id::text ORDER BY counted.nth) FILTER (
        WHERE counted.nth %% %(rows_a_part)s = 0 AND counted.nth < total.rows
    ), '{{}}'
), (SELECT rows FROM total)
FROM counted, total
"""
# The same of all keys of a table, from its index alone: it goes from each to the next but so many, and looks whether
# there is one more. Of 7.5 M reviews 0.8 s, where counting those that match takes 8.4.
ROUGHLY = """
WITH RECURSIVE hop AS (
    SELECT (
        SELECT array_agg(id ORDER BY id) FROM (
            SELECT {key} AS id FROM {table} ORDER BY {key} OFFSET %(rows_a_part)s - 1 LIMIT 2
        ) AS found
    ) AS ids, 1 AS nth
    UNION ALL
    SELECT (
        SELECT array_agg(id ORDER BY id) FROM (
            SELECT {key} AS id FROM {table} WHERE {key} > hop.ids[1]
            ORDER BY {key} OFFSET %(rows_a_part)s - 1 LIMIT 2
        ) AS found
    ), hop.nth + 1
    FROM hop WHERE hop.ids[2] IS NOT NULL
),
bounds AS (SELECT ids[1] AS id, nth FROM hop WHERE ids[2] IS NOT NULL)
SELECT coalesce((SELECT array_agg(id::text ORDER BY nth) FROM bounds), '{{}}'), (
    SELECT coalesce((SELECT max(nth) FROM bounds), 0) * %(rows_a_part)s + count(*)
    FROM {table} WHERE {key} > (SELECT id FROM bounds ORDER BY nth DESC LIMIT 1) OR NOT EXISTS (SELECT FROM bounds)
)
"""


def split(export: Export, *, rows_a_part: int) -> tuple[list[str], int]:
    """The last key of each part but the last, and how many rows there are, about. Call it in a transaction."""
    dataset = datasets.of(export)
    asked = parameters(export)
    table = TABLE.match(dataset.rows)
    is_of_all = table is not None and asked["since"] is None and not any(export.filter.values())
    statement = ROUGHLY if is_of_all else EXACTLY
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{STATEMENT_TIMEOUT_S}s"])
        cursor.execute(
            statement.format(key=dataset.key, rows=dataset.rows, wanted=dataset.wanted, table=table and table[1]),
            asked | {"rows_a_part": rows_a_part},
        )
        bounds, total = cursor.fetchone()
    return bounds, total

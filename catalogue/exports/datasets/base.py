"""A dataset: rows in SQL. Statements take the parameters of `parameters` by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Self

from catalogue.models import Export, ExportPart
from framework.api.urls import public_url

# PostgreSQL says that a transaction has begun a moment after it has: one that was not seen yet may be older than it
# looked. What is told twice does no harm.
SPARE = timedelta(seconds=1)

# What a filter may say of most rows, those of a restaurant: nobody is told of one that is merged or erased.
OF_RESTAURANT = """
restaurant.merged_into_id IS NULL AND restaurant.erased_at IS NULL
AND (%(market)s::text IS NULL OR restaurant.market_id = %(market)s)
AND (%(status)s::text IS NULL OR restaurant.status = %(status)s)
"""

# Restaurants of which something has changed that a filter looks at, or by which their reviews, photos and versions
# name them. A moment of the database's own: the clock of who writes may lag behind. What a version told goes with an
# erasure, its kind stays.
MOVED = """
SELECT version.restaurant_id, max(version.updated_at) AS at
FROM catalogue_version AS version
WHERE version.updated_at >= %(since)s::timestamptz AND (
    version.kind IN ('merged', 'erased')
    OR version.patch ?| ARRAY['slug', 'status', 'market_id', 'merged_into_id', 'erased_at']
)
GROUP BY version.restaurant_id
"""
GONE = """
SELECT key AS id, max(at) AS removed_at FROM (
    SELECT key, at FROM catalogue_removal WHERE dataset = '{dataset}' AND at >= %(since)s::timestamptz
    {others}
) AS every
GROUP BY key ORDER BY key COLLATE "C"
"""


@dataclass(frozen=True, slots=True)
class Column:
    """A flat column of Parquet and CSV: its SQL, and its type and meaning as the manifest says them."""

    name: str
    sql: str
    type: str
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Rows that can be exported. `key` is unique, ordered and indexed; rows come in its order, which
    callers are told of as `order`.

    `matches` is the condition of an export, `changed` that of a delta besides. `record` is the SQL of a row as a line
    of JSON, `schema` says its fields; `sources` is the SQL of an array of the keys of its sources; `versions` are the
    xmin of the rows that it is made of, null for none. `removed` selects what a delta calls gone: `id` and
    `removed_at`, in the order of the ids. What SQL cannot say is put through `rendered`: by its name, the value of a
    field as JSON has it; a column of that name holds the value as text, of JSON where it is no string.
    """

    key: str
    key_type: str
    rows: str
    matches: str
    changed: str
    record: str
    schema: Mapping[str, str]
    columns: tuple[Column, ...]
    sources: str
    versions: tuple[str, ...]
    removed: str | None
    order: str = "of the ids"
    filters: tuple[str, ...] = ("market", "status", "updated_since")
    rendered: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    is_delta: bool = False

    def select(self, what: str, *, ordered: bool = True) -> str:
        """SELECT `what` of the rows of a part."""
        order = f" ORDER BY {self.key}" if ordered else ""
        return f"SELECT {what} FROM {self.rows} WHERE {self.within} AND {self.wanted}{order}"  # noqa: S608  # no word of a caller

    @property
    def within(self) -> str:
        """The condition of the keys of a part."""
        lo, hi = f"%(lo)s::{self.key_type}", f"%(hi)s::{self.key_type}"
        return f"({lo} IS NULL OR {self.key} > {lo}) AND ({hi} IS NULL OR {self.key} <= {hi})"

    @property
    def wanted(self) -> str:
        """The condition of an export."""
        return f"({self.matches}) AND ({self.changed})" if self.is_delta else f"({self.matches})"

    @property
    def flat(self) -> str:
        """The columns of a row, in their order."""
        return ", ".join(f'{column.sql} AS "{column.name}"' for column in self.columns)

    def told(self, *, is_delta: bool) -> Self:
        """All of its rows, or what has changed."""
        return replace(self, is_delta=is_delta, removed=self.removed if is_delta else None)


def gone(dataset: str, *others: str) -> str:
    """SELECT what is gone from a dataset: what was deleted, and what the others select as `key` and `at`."""
    return GONE.format(dataset=dataset, others=" ".join(f"UNION ALL {each}" for each in others))


def parameters(export: Export, part: ExportPart | None = None) -> dict[str, Any]:
    """What the statements of a dataset need to know."""
    began = export.since_export.changes_from if export.since_export else None
    return {
        **{name: export.filter.get(name) for name in ("market", "status", "updated_since")},
        "since": began and began - SPARE,
        "photos": public_url("/photos/"),
        "lo": part.lo if part else None,
        "hi": part.hi if part else None,
    }

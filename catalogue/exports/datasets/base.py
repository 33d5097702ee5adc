"""The SQL of a dataset; its statements take the named parameters of `query_parameters`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Self

from catalogue.exports.datasets.fields import Content
from catalogue.models import Export, ExportPart
from framework.api.urls import public_url

# PostgreSQL reports the start of a transaction a moment after it: a transaction that was not listed yet may be older
# than the snapshot. Rows that are exported twice do no harm.
CLOCK_MARGIN = timedelta(seconds=1)

# The filters that most datasets have. Merged and erased restaurants are never exported.
VISIBLE_RESTAURANT = """
restaurant.merged_into_id IS NULL AND restaurant.erased_at IS NULL
AND (%(market)s::text IS NULL OR restaurant.market_id = %(market)s)
AND (%(status)s::text IS NULL OR restaurant.status = %(status)s)
"""

# Restaurants whose filtered columns have changed, or the slug that their reviews, photos and versions name. By the
# database's clock: a writer's may lag behind. An erasure deletes the patches of versions, not their kind.
CHANGED_RESTAURANTS = """
SELECT version.restaurant_id, max(version.updated_at) AS at
FROM catalogue_version AS version
WHERE version.updated_at >= %(since)s::timestamptz AND (
    version.kind IN ('merged', 'erased')
    OR version.patch ?| ARRAY['slug', 'status', 'market_id', 'merged_into_id', 'erased_at']
)
GROUP BY version.restaurant_id
"""
REMOVED_ROWS = """
SELECT key AS id, max(at) AS removed_at FROM (
    SELECT key, at FROM catalogue_removal WHERE dataset = '{dataset}' AND at >= %(since)s::timestamptz
    {others}
) AS every
GROUP BY key ORDER BY key COLLATE "C"
"""


def visible_condition(column: str) -> str:
    """The condition of rows of visible restaurants that match the filters; `column` is that of `updated_since`."""
    return f"{VISIBLE_RESTAURANT} AND {updated_condition(column)}"


def updated_condition(column: str) -> str:
    """The condition of the filter `updated_since` on this column."""
    return f"(%(updated_since)s::timestamptz IS NULL OR {column} >= %(updated_since)s::timestamptz)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset(Content):
    """Rows that can be exported, ordered by `key`, which is unique and indexed; `order` describes it to callers.

    `matches` is the condition of an export, `changed` the additional one of a delta. `sources` is the SQL of an array
    of source keys; `versions` the xmin of the rows that it is made of, null for none. `removed` selects the removed
    rows of a delta: `id` and `removed_at`, ordered by id. `transforms` maps a field or column to a Python function of
    its JSON value, for what SQL cannot express.
    """

    key: str
    key_type: str
    rows: str
    matches: str
    changed: str
    sources: str
    versions: tuple[str, ...]
    removed: str | None
    order: str = "of the ids"
    filters: tuple[str, ...] = ("market", "status", "updated_since")
    transforms: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    is_delta: bool = False

    def select(self, expressions: str, *, ordered: bool = True) -> str:
        """Return the SELECT of the rows of a part."""
        order = f" ORDER BY {self.key}" if ordered else ""
        return f"SELECT {expressions} FROM {self.rows} WHERE {self.part_condition} AND {self.condition}{order}"  # noqa: S608  # constants only

    @property
    def part_condition(self) -> str:
        """The condition of the key range of a part."""
        lo, hi = f"%(lo)s::{self.key_type}", f"%(hi)s::{self.key_type}"
        return f"({lo} IS NULL OR {self.key} > {lo}) AND ({hi} IS NULL OR {self.key} <= {hi})"

    @property
    def condition(self) -> str:
        """The condition of an export."""
        return f"({self.matches}) AND ({self.changed})" if self.is_delta else f"({self.matches})"

    def for_export(self, *, is_delta: bool) -> Self:
        """Return the dataset with all rows, or with the changed and removed ones."""
        return replace(self, is_delta=is_delta, removed=self.removed if is_delta else None)


def select_removed(dataset: str, *others: str) -> str:
    """Return the SELECT of the removed rows of a dataset: deleted ones, and those of the other SELECTs."""
    return REMOVED_ROWS.format(dataset=dataset, others=" ".join(f"UNION ALL {other}" for other in others))


def query_parameters(export: Export, part: ExportPart | None = None) -> dict[str, Any]:
    """Return the parameters of the statements of a dataset."""
    since = export.since_export.changes_from if export.since_export else None
    return {
        **{name: export.filter.get(name) for name in ("market", "status", "updated_since")},
        "since": since and since - CLOCK_MARGIN,
        "photos": public_url("/photos/"),
        "lo": part.lo if part else None,
        "hi": part.hi if part else None,
    }

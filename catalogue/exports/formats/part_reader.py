"""The rows of column part, read inside a snapshot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg

from catalogue.exports.datasets import Column, Dataset
from catalogue.exports.formats import columns
from catalogue.exports.storage.files import Draft
from catalogue.models import ExportPart

# The columns of removed rows.
REMOVED = (Column("id", "gone.id", "string"), Column("removed_at", "gone.removed_at", "timestamp"))
REMOVED_RECORD = "json_build_object('id', gone.id, 'removed_at', api_timestamp(gone.removed_at))::text"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartReader:
    """The SELECTs of column part. Writers call `heartbeat` regularly: it renews the lease, or raises LeaseLostError.

    For a part of removed rows it reads `dataset.removed`: `id` and `removed_at`, ordered by id.
    """

    dataset: Dataset
    parameters: Mapping[str, Any]
    connection: "psycopg.Connection[Any]"
    snapshot: str
    heartbeat: Callable[[], None]
    kind: str = ExportPart.Kind.ROWS

    @property
    def columns(self) -> Sequence[Column]:
        return REMOVED if self.is_of_removed else self.dataset.columns

    @property
    def json_select(self) -> str:
        """SELECT of each row as a JSON line."""
        return self._select(REMOVED_RECORD if self.is_of_removed else self.dataset.record)

    @property
    def typed_select(self) -> str:
        """SELECT of the columns, cast to exactly their types."""
        typed = (f'{columns.cast_sql(column.sql, column.type)} AS "{column.name}"' for column in self.columns)
        return self._select(", ".join(typed))

    @property
    def csv_select(self) -> str:
        """SELECT of the columns as CSV text."""
        texts = (f'{columns.csv_sql(column.sql, column.type)} AS "{column.name}"' for column in self.columns)
        return self._select(", ".join(texts))

    @property
    def array_select(self) -> str:
        """SELECT of each row as a JSON array of CSV texts."""
        texts = ", ".join(f"({columns.csv_sql(column.sql, column.type)})::text" for column in self.columns)
        return self._select(f"to_json(ARRAY[{texts}])")

    @property
    def is_transformed(self) -> bool:
        """Whether Python functions have to be applied to the rows."""
        return bool(self.dataset.transforms) and not self.is_of_removed

    @property
    def is_of_removed(self) -> bool:
        return self.kind == ExportPart.Kind.REMOVED

    def _select(self, expressions: str) -> str:
        if self.is_of_removed:
            return f"SELECT {expressions} FROM ({self.dataset.removed}) AS gone"  # noqa: S608  # constants only
        return self.dataset.select(expressions)


class Writer(Protocol):
    """Writes all rows of a part into a draft and returns their number."""

    def __call__(self, reader: PartReader, draft: Draft) -> int: ...

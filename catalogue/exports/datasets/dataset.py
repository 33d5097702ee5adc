"""A dataset: rows in SQL. Statements take the parameters of `parameters` by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalogue.models import Export, ExportPart


@dataclass(frozen=True, slots=True)
class Column:
    """A flat column of Parquet and CSV: its SQL, and its type and meaning as the manifest says them."""

    name: str
    sql: str
    type: str
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Rows that can be exported. `key` is unique, ordered and indexed; rows come in its order.

    `record` is the SQL of a row as text of JSON, `schema` says its fields; `sources` is the SQL of an array of the
    keys of its sources; `versions` are the xmin of all rows that it is made of. `changed` holds of the rows of a delta
    too, and `removed` selects the ids (and moments) that a delta calls gone.
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
    removed: str | None = None

    def select(self, what: str, *, ordered: bool = True) -> str:
        """SELECT `what` of the rows of a part."""
        order = f" ORDER BY {self.key}" if ordered else ""
        return f"SELECT {what} FROM {self.rows} WHERE {self.within} AND {self.wanted}{order}"  # noqa: S608

    @property
    def within(self) -> str:
        """The condition of the keys of a part."""
        lo, hi = f"%(lo)s::{self.key_type}", f"%(hi)s::{self.key_type}"
        return f"({lo} IS NULL OR {self.key} > {lo}) AND ({hi} IS NULL OR {self.key} <= {hi})"

    @property
    def wanted(self) -> str:
        """The condition of an export."""
        return f"({self.matches}) AND (%(since)s::timestamptz IS NULL OR {self.changed})"

    @property
    def flat(self) -> str:
        """The columns of a row, in their order."""
        return ", ".join(f'{column.sql} AS "{column.name}"' for column in self.columns)


def parameters(export: Export, part: ExportPart | None = None) -> dict[str, Any]:
    """What the statements of a dataset need to know."""
    since = export.since_export.changes_from if export.since_export else None
    return {
        **{name: export.filter.get(name) for name in ("market", "status", "updated_since")},
        "since": since,
        "lo": part.lo if part else None,
        "hi": part.hi if part else None,
    }

"""What a writer reads: the rows of one part, inside a snapshot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg

from catalogue.exports.datasets import Column, Dataset
from catalogue.exports.formats import column_types
from catalogue.exports.storage.files import Draft
from catalogue.models import ExportPart

# What a delta says of a row that is gone, in each format.
REMOVED = (Column("id", "gone.id", "string"), Column("removed_at", "gone.removed_at", "timestamp"))
REMOVED_RECORD = "json_build_object('id', gone.id, 'removed_at', api_timestamp(gone.removed_at))::text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The rows of one part. `beat` is to be called now and then: it keeps the part ours, or raises that it is not.

    Of the kind `removed` it reads `dataset.removed`, which selects `id` and `removed_at` in their order.
    """

    dataset: Dataset
    parameters: Mapping[str, Any]
    connection: "psycopg.Connection[Any]"
    snapshot: str
    beat: Callable[[], None]
    kind: str = ExportPart.Kind.ROWS

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of its flat rows."""
        return REMOVED if self.is_of_removed else self.dataset.columns

    @property
    def records(self) -> str:
        """SELECT each row as a line of JSON."""
        return self._select(REMOVED_RECORD if self.is_of_removed else self.dataset.record)

    @property
    def typed(self) -> str:
        """SELECT the columns, each of its very type."""
        return self._select(
            ", ".join(f'{column_types.typed(one.sql, one.type)} AS "{one.name}"' for one in self.columns)
        )

    @property
    def texts(self) -> str:
        """SELECT the columns as CSV shows them."""
        return self._select(
            ", ".join(f'{column_types.text(one.sql, one.type)} AS "{one.name}"' for one in self.columns)
        )

    @property
    def arrays(self) -> str:
        """SELECT each row as CSV shows it, in a JSON array of texts."""
        texts = ", ".join(f"({column_types.text(one.sql, one.type)})::text" for one in self.columns)
        return self._select(f"to_json(ARRAY[{texts}])")

    @property
    def is_rendered(self) -> bool:
        """Whether its rows have to be put through what SQL cannot say."""
        return bool(self.dataset.rendered) and not self.is_of_removed

    @property
    def is_of_removed(self) -> bool:
        """Whether it is of what a delta calls gone."""
        return self.kind == ExportPart.Kind.REMOVED

    def _select(self, what: str) -> str:
        if self.is_of_removed:
            return f"SELECT {what} FROM ({self.dataset.removed}) AS gone"  # noqa: S608  # no word of a caller
        return self.dataset.select(what)


class Writer(Protocol):
    """Writes all rows of a reading into a draft, and says how many they were."""

    def __call__(self, reading: Reading, draft: Draft) -> int: ...

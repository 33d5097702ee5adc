"""Datasets of our own exports: JSON lines, a row each, with the slug of its restaurant."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Generic, TypeVar
from uuid import UUID

from catalogue.importers.row_errors import Reject, Row, RowCounts, RowRejected, clean_content
from catalogue.importers.sources import native_jsonl
from catalogue.models import FormerSlug, Restaurant

Parsed = TypeVar("Parsed")


@dataclass(slots=True)
class ExportedRowImport(ABC, Generic[Parsed]):
    """A run over exported rows of restaurants that the catalogue has. `source` is that of the run."""

    clock: Callable[[], datetime]
    source: str = "native"

    def read_rows(self, stream: BinaryIO) -> Iterator[Any]:
        return native_jsonl.read_rows(stream)

    def parse(self, rows: Sequence[Row]) -> tuple[list[Parsed], RowCounts]:
        """Parse rows and count those that are not imported. No query."""
        counts, found = RowCounts(), []
        for row in rows:
            try:
                found.append(self._read(row, _read_line(row)))
            except RowRejected as error:
                counts.rejects.append(Reject(row, error.reasons))
        return found, counts

    @abstractmethod
    def _read(self, row: Row, line: Any) -> Parsed:
        """Parse the content of a row. Raises RowRejected."""


def _read_line(row: Row) -> Any:
    try:
        return clean_content(json.loads(row.content))
    except (ValueError, RecursionError) as error:
        raise RowRejected(f"The line is no JSON: {error}.") from error


def find_restaurants(slugs: set[str]) -> dict[str, UUID]:
    """Return the restaurants with these present or former slugs. Two queries."""
    restaurants = dict(FormerSlug.objects.filter(slug__in=slugs).values_list("slug", "restaurant"))
    present = Restaurant.objects.filter(slug__in=slugs, merged_into=None, erased_at=None)
    return restaurants | dict(present.values_list("slug", "pk"))


def find_unknown(slug: str, source: str, *, restaurants: Mapping[str, UUID], sources: Collection[str]) -> str | None:
    """Return the reason if the restaurant or the source of a row is not stored here."""
    if slug not in restaurants:
        return f"restaurant: {slug!r} is not in the catalogue; import the restaurants first."
    if source not in sources:
        return f"source: {source!r} is not known; add it in the admin."
    return None

"""Counts of pending work on the front page of the back office."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from django.db.models import QuerySet
from django.http import HttpRequest

# Larger numbers are not useful, and counting further would be slow.
MOST_COUNTED = 99


@dataclass(frozen=True, slots=True)
class Awaiting:
    """A count of pending rows with a link to them. `is_bad` marks failures."""

    label: str
    number: int
    address: str
    is_bad: bool = False

    @property
    def shown(self) -> str:
        """The number, or `99+`."""
        return f"{MOST_COUNTED}+" if self.number > MOST_COUNTED else str(self.number)


@runtime_checkable
class Awaits(Protocol):
    """A ModelAdmin with counts for the front page."""

    def awaiting(self, request: HttpRequest) -> Iterable[Awaiting]:
        """Yield the counts for the signed-in user. One bounded query each."""


def counted(rows: QuerySet[Any]) -> int:
    """Count the rows, up to one more than the maximum shown."""
    return rows.order_by()[: MOST_COUNTED + 1].count()

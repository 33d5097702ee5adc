"""What waits for somebody, as the front page of the back office shows it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from django.db.models import QuerySet
from django.http import HttpRequest

# Beyond it the number says no more to people, and counting on would cost.
MOST_COUNTED = 99


@dataclass(frozen=True, slots=True)
class Awaiting:
    """So many of these wait, and here they are. `is_bad` is what is broken, not merely waiting."""

    label: str
    number: int
    address: str
    is_bad: bool = False

    @property
    def shown(self) -> str:
        """The number, or that there are more than are counted."""
        return f"{MOST_COUNTED}+" if self.number > MOST_COUNTED else str(self.number)


@runtime_checkable
class Awaits(Protocol):
    """A part of the back office (a ModelAdmin) that has something to tell on the front page."""

    def awaiting(self, request: HttpRequest) -> Iterable[Awaiting]:
        """What of its rows waits, for who looks. One bounded count each."""


def counted(rows: QuerySet[Any]) -> int:
    """How many there are, up to one more than is shown."""
    return rows.order_by()[: MOST_COUNTED + 1].count()

"""Counts of pending work, as the index page of the admin shows them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from django.db.models import QuerySet
from django.http import HttpRequest

# Larger numbers are shown as "99+", and cost no longer count.
MAX_COUNTED = 99


@dataclass(frozen=True, slots=True)
class PendingCount:
    """`number` rows wait for staff at the page `url`; `is_bad` where they are broken, not merely waiting.

    `mine` of them are assigned to the user, at the page `mine_url`.
    """

    label: str
    number: int
    url: str
    is_bad: bool = False
    mine: int = 0
    mine_url: str = ""

    @property
    def shown(self) -> str:
        return format_bounded(self.number)

    @property
    def mine_shown(self) -> str:
        return format_bounded(self.mine)


@runtime_checkable
class HasPendingCounts(Protocol):
    """A ModelAdmin with counts for the index page."""

    def pending_counts(self, request: HttpRequest) -> Iterable[PendingCount]:
        """What waits among its rows, as far as this user may see them. One `count_bounded` each."""


def format_bounded(number: int) -> str:
    return f"{MAX_COUNTED}+" if number > MAX_COUNTED else str(number)


def count_bounded(rows: QuerySet[Any]) -> int:
    """How many rows there are, counting no further than MAX_COUNTED + 1."""
    return rows.order_by()[: MAX_COUNTED + 1].count()

"""Counts of pending work, as the index page of the admin shows them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.timesince import timesince

# Larger numbers are shown as "99+", and cost no longer count.
MAX_COUNTED = 99


@dataclass(frozen=True, slots=True)
class PendingCount:
    """`number` rows wait for staff at the page `url`; `is_bad` where they are broken, not merely waiting.

    `mine` of them are assigned to the user, at the page `mine_url`. The oldest has waited
    since `since`, if it is known.
    """

    label: str
    number: int
    url: str
    is_bad: bool = False
    mine: int = 0
    mine_url: str = ""
    since: datetime | None = None

    @property
    def shown(self) -> str:
        return format_bounded(self.number)

    @property
    def mine_shown(self) -> str:
        return format_bounded(self.mine)

    @property
    def age(self) -> str:
        """How long the oldest has waited: "2 hours"; empty if it is not known."""
        return timesince(self.since, depth=1) if self.since else ""


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


def count_since(rows: QuerySet[Any], field: str) -> tuple[int, datetime | None]:
    """The same number, and when the oldest row began to wait: the smallest value of `field`, which needs an index.

    One query.
    """
    moments = list(rows.order_by(field).values_list(field, flat=True)[: MAX_COUNTED + 1])
    return len(moments), next(iter(moments), None)

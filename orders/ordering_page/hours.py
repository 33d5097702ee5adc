"""The hours in which the ordering page takes orders, as another app knows them (orders.ordering_page.registry)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from accounts.models import Venue
from orders.ordering_page import registry


@dataclass(frozen=True, slots=True)
class Hours:
    """The spans of the next days in which orders are taken; None for a venue that states no hours."""

    spans: Sequence[tuple[datetime, datetime]] | None = None

    def is_open(self, at: datetime) -> bool:
        return self.spans is None or any(start <= at < end for start, end in self.spans)

    def find_opening(self, now: datetime) -> datetime | None:
        """Return when orders are taken next; None if they are taken now, or not within the next days."""
        if self.is_open(now):
            return None
        return next((start for start, _end in self.spans or () if start > now), None)


def load_hours(venue: Venue, *, now: datetime) -> Hours:
    """Read the hours. Two queries."""
    return Hours(registry.find_hours(venue, now))

"""The hours in which the ordering page takes orders, as another app knows them (orders.ordering_page.registry)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from accounts.models import Venue
from orders import capacity
from orders.models import Fulfilment
from orders.ordering_page import registry


@dataclass(frozen=True, slots=True)
class Hours:
    """The spans of the next days in which orders are taken; None for a venue that states no hours."""

    spans: registry.Spans | None = None

    def is_open(self, at: datetime) -> bool:
        return self.spans is None or any(start <= at < end for start, end in self.spans)

    def includes_later(self, at: datetime, *, now: datetime) -> bool:
        """Return whether `at` is offered for orders for later: within a day; on this day if no hours are stated.

        Both are times at the venue.
        """
        # Two times of one zone would be compared by the clock, which may be put back in between.
        if at.astimezone(UTC) - now.astimezone(UTC) > capacity.HORIZON:
            return False
        return at.date() == now.date() if self.spans is None else self.is_open(at)

    def includes_promise(self, promised_at: datetime, *, now: datetime, prep_minutes: int) -> bool:
        """Return whether an order of now that is ready then is begun in the hours that include now."""
        begun_at = promised_at - timedelta(minutes=prep_minutes)
        return self.spans is None or any(start <= now < end and begun_at <= end for start, end in self.spans)

    def find_opening(self, now: datetime) -> datetime | None:
        """Return when orders are taken next; None if they are taken now, or not within the next days."""
        if self.is_open(now):
            return None
        return next((start for start, _end in self.spans or () if start > now), None)


def load_hours(venue: Venue, *, now: datetime) -> dict[str, Hours]:
    """Read the hours of pick-up and at the table. Two queries."""
    general, at_table = registry.find_hours(venue, now) or (None, None)
    return {Fulfilment.PICKUP: Hours(general), Fulfilment.DINE_IN: Hours(at_table)}

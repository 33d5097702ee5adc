"""What apps beside this one know of a venue, for its ordering page. config/guest_pages.py adds it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from accounts.models import Venue

# The look of the venue's pages for guests: the `css` of a <style> element, and the paths of `logo` and `photo`.
LOOKS: list[Callable[[Venue], Mapping[str, str]]] = []
# The names of the venue's tables, in their order.
TABLES: list[Callable[[Venue], Sequence[str]]] = []

Spans = Sequence[tuple[datetime, datetime]]
# The spans from a moment on, for a week, in which the venue takes orders, in their order: in general, and at its
# tables. None if it states no hours.
HOURS: list[Callable[[Venue, datetime], tuple[Spans, Spans] | None]] = []


def find_look(venue: Venue) -> Mapping[str, str]:
    return next((find(venue) for find in LOOKS), {})


def list_tables(venue: Venue) -> list[str]:
    return [name for names in TABLES for name in names(venue)]


def find_hours(venue: Venue, now: datetime) -> tuple[Spans, Spans] | None:
    return next((find(venue, now) for find in HOURS), None)

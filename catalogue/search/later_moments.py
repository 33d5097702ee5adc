"""Searches for a moment beyond the stored intervals: the hours of candidates are evaluated in the order of hits."""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from catalogue.hours import open_at
from catalogue.search import fetch
from catalogue.search.fetch import Row
from catalogue.search.sql import SearchStatement
from framework.errors import InvalidRequest

# Candidates per statement. Most pages need the first batch only; all of them take at most about half a second.
BATCHES = (100, 400, 1_500)
MAX_CANDIDATES = sum(BATCHES)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterMoment:
    """Hits must be open from `start` to `end`; `now` is the moment of the first page."""

    start: datetime
    end: datetime
    now: datetime

    def fetch_rows(self, candidates: SearchStatement, *, limit: int) -> list[Row]:
        """Return at most `limit` rows that are open then, in the order of the statement.

        Three statements for each batch. Raises InvalidRequest if 2,000 candidates do not suffice.
        """
        found: list[Row] = []
        for batch in BATCHES:
            # The row beyond the batch shows that there is another.
            rows = fetch.fetch_rows(candidates, limit=batch + 1)
            is_last = len(rows) <= batch
            rows = rows[:batch]
            is_open = set(self._find_open([fetch.ID(row) for row in rows]))
            found += [row for row in rows if fetch.ID(row) in is_open]
            if len(found) >= limit or is_last:
                return found[:limit]
            after = (*fetch.sort_key(candidates, rows[-1]), fetch.ID(rows[-1]).hex)
            candidates = replace(candidates, after=after)
        raise _too_many()

    def find_matches(self, candidates: SearchStatement) -> tuple[UUID, ...]:
        """Return the ids of all matches. Three statements. Raises InvalidRequest for more than 2,000 candidates."""
        rows = fetch.execute(candidates, candidates.matching("r.restaurant_id"), rows=MAX_CANDIDATES + 1)
        if len(rows) > MAX_CANDIDATES:
            raise _too_many()
        return tuple(self._find_open([fetch.ID(row) for row in rows]))

    def _find_open(self, restaurants: list[UUID]) -> list[UUID]:
        return open_at.find_open(restaurants, start=self.start, end=self.end, now=self.now)


def _too_many() -> InvalidRequest:
    return InvalidRequest(
        "Opening hours beyond the next 14 days are evaluated for at most"
        f" {MAX_CANDIDATES:,} restaurants in one request, and this search has more. Narrow it by `radius`,"
        " `neighborhood`, `cuisine` or `q`, or leave `include_total` and `facets` out.",
        param="open",
    )

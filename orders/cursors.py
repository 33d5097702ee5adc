"""Cursors of lists of orders: the newest first, or with `updated_since` the oldest change first (docs/orders.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.models import Venue
from framework.api.pagination.cursor import decode_cursor, encode_cursor, fingerprint
from orders import order_json
from orders.models import Orders

# A change is visible when its transaction is committed, at most so long after its `updated_at`.
COMMIT_LAG = timedelta(minutes=1)
# Before each id of a moment.
NIL = UUID(int=0)
BEGINNING = (datetime.fromtimestamp(0, UTC), NIL)


@dataclass(frozen=True, slots=True)
class OrderCursors:
    """The cursors of the venue's orders that match the parameters of a filter. They stay valid.

    A cursor is the position after which a page begins: (created_at, id), or (updated_at, id) of a list that follows
    changes. The latter also has the horizon of its walk, the moment before which all changes were visible when the
    walk began, or "" if the walk begins with it. A walk ends with a page that has no more after it. The next begins
    after the last order or at the horizon, whichever is earlier: it reads what was committed behind the position.
    """

    venue: Venue
    filters: Mapping[str, str]

    @property
    def follows_changes(self) -> bool:
        return "updated_since" in self.filters

    @property
    def question(self) -> str:
        return fingerprint("orders", self.venue.pk, sorted(self.filters.items()))

    def after_page(self, last: order_json.Position | None, *, now: datetime) -> str | None:
        """Return the cursor after a page that was asked by its number; `last` is None if it is the last one.

        Such pages are newest first, so a list that follows changes begins again, with the oldest.
        """
        if self.follows_changes:
            return self._encode(BEGINNING, now, "")
        return self._encode(last, now) if last else None

    def read_page(self, orders: Orders, cursor: str, *, limit: int, now: datetime) -> dict[str, Any]:
        """Return the `rows` after a cursor, whether it `has_more`, and the `next_cursor`.

        Two queries, one if there are no rows. Raises InvalidCursor.
        """
        at, pk, *rest = decode_cursor(cursor, question=self.question, now=now, lifetime=None).after
        position = datetime.fromisoformat(str(at)), UUID(str(pk))
        positions = list(self._query(orders.of(self.venue), *position)[: limit + 1])
        has_more, positions = len(positions) > limit, positions[:limit]
        rows = order_json.read_records([pk for _, pk in positions]) if positions else []
        # Not of the rows, which may have been changed again since.
        last = positions[-1] if positions else position
        next_cursor = self._encode(last, now) if has_more else None
        if self.follows_changes:
            horizon = str(rest[0]) or (now - COMMIT_LAG).isoformat()
            next_walk = min(last, (datetime.fromisoformat(horizon), NIL))
            next_cursor = self._encode(last, now, horizon) if has_more else self._encode(next_walk, now, "")
        return {"rows": rows, "has_more": has_more, "next_cursor": next_cursor}

    def _query(self, orders: Orders, at: datetime, pk: UUID) -> Any:
        """Return the positions after this one. The first condition is one of the index."""
        if self.follows_changes:
            later = orders.filter(Q(updated_at__gt=at) | Q(pk__gt=pk), updated_at__gte=at)
            return later.order_by("updated_at", "pk").values_list("updated_at", "pk")
        earlier = orders.filter(Q(created_at__lt=at) | Q(pk__lt=pk), created_at__lte=at)
        return earlier.newest_first().values_list("created_at", "pk")

    def _encode(self, position: order_json.Position, now: datetime, *rest: str) -> str:
        at, pk = position
        return encode_cursor([at.isoformat(), str(pk), *rest], as_of=now, question=self.question)

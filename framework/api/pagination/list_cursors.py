"""Cursors of lists of rows with `updated_at`, in the order of the list, or with `updated_since` by their changes.

docs/orders.md and docs/booking.md describe them to clients.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from framework.api.pagination.cursor import decode_cursor, encode_cursor, fingerprint

# The sort key and the id of a row.
Position = tuple[datetime, UUID]
# Before each id of a moment.
NIL = UUID(int=0)
BEGINNING = (datetime.fromtimestamp(0, UTC), NIL)
# Before the latest row of a list that begins with it.
END = (datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCursors:
    """The cursors of a list of these filters. They stay valid.

    `name` and `owner` say which list it is and whose. `sort_key` is the column of moments by which it is ordered,
    before the id; with a minus the latest is first. A change is visible at most `commit_lag` after its `updated_at`.
    `read_records` reads the records of ids, in their order.

    A cursor is the position after which a page begins: (sort key, id), or (updated_at, id) of a list that follows
    changes. The latter also has the horizon of its walk, the moment before which all changes were visible when the
    walk began, or "" if the walk begins with it. A walk ends with a page that has no more after it. The next begins
    after the last row or at the horizon, whichever is earlier: it reads what was committed behind the position.
    """

    name: str
    owner: UUID
    filters: Mapping[str, str]
    sort_key: str
    # The column of changes that the list follows always; of others, with `updated_since`.
    followed_key: str = ""
    commit_lag: timedelta
    read_records: Callable[[Sequence[UUID]], list[dict[str, Any]]]

    @property
    def follows_changes(self) -> bool:
        return bool(self.followed_key) or "updated_since" in self.filters

    @property
    def question(self) -> str:
        return fingerprint(self.name, self.owner, sorted(self.filters.items()))

    def after_page(self, last: Position | None, *, now: datetime) -> str | None:
        """Return the cursor after a page that was asked by its number; `last` is None if it is the last one.

        Such pages are in the order of the list, so one that follows changes begins again, with the oldest.
        """
        if self.follows_changes:
            return self.beginning(now=now)
        return self._encode(last, now) if last else None

    def beginning(self, *, now: datetime) -> str:
        """Return the cursor of a walk through all changes, or through all rows in the order of the list."""
        if self.follows_changes:
            return self._encode(BEGINNING, now, "")
        return self._encode(END if self.sort_key.startswith("-") else BEGINNING, now)

    def read_page(self, rows: QuerySet[Any], cursor: str, *, limit: int, now: datetime) -> dict[str, Any]:
        """Return the `rows` after a cursor, of these rows of the owner, whether it `has_more`, and the `next_cursor`.

        Two queries, one if there are no rows. Raises InvalidCursor.
        """
        at, pk, *rest = decode_cursor(cursor, question=self.question, now=now, lifetime=None).after
        position = datetime.fromisoformat(str(at)), UUID(str(pk))
        positions = list(self._query(rows, *position)[: limit + 1])
        has_more, positions = len(positions) > limit, positions[:limit]
        records = self.read_records([pk for _, pk in positions]) if positions else []
        # Not of the records, which may have been changed again since.
        last = positions[-1] if positions else position
        next_cursor = self._encode(last, now) if has_more else None
        if self.follows_changes:
            horizon = str(rest[0]) or (now - self.commit_lag).isoformat()
            next_walk = min(last, (datetime.fromisoformat(horizon), NIL))
            next_cursor = self._encode(last, now, horizon) if has_more else self._encode(next_walk, now, "")
        return {"rows": records, "has_more": has_more, "next_cursor": next_cursor}

    def _query(self, rows: QuerySet[Any], at: datetime, pk: UUID) -> Any:
        """Return the positions after this one."""
        sort_key = (self.followed_key or "updated_at") if self.follows_changes else self.sort_key
        column = sort_key.removeprefix("-")
        sign, comparison = ("-", "lt") if sort_key != column else ("", "gt")
        # The second condition is one of the index.
        after = Q(**{f"{column}__{comparison}": at}) | Q(**{f"pk__{comparison}": pk})
        later = rows.filter(after, **{f"{column}__{comparison}e": at})
        return later.order_by(sort_key, f"{sign}pk").values_list(column, "pk")

    def _encode(self, position: Position, now: datetime, *rest: str) -> str:
        at, pk = position
        return encode_cursor([at.isoformat(), str(pk), *rest], as_of=now, question=self.question)

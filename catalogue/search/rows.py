"""The rows of a search: the next ones of a walk, in their order, with a row more where others follow."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from typing import Any
from uuid import UUID

import orjson
from django.db import connection, transaction
from psycopg import ClientCursor

from catalogue import geo
from catalogue.flow import Offer
from catalogue.search.answer import Hit, change_of
from catalogue.search.statement import Statement
from config.api.cursors import Key

# One wrong letter in a word of five leaves half of its trigrams; the bound that PostgreSQL comes with is 0.6.
LIKENESS = "SELECT set_config('pg_trgm.word_similarity_threshold', %s::text, true)"
LEAST_LIKENESS = "0.45"
# Hours made of special days alone say nothing after the last of them.
UNSAID = """
SELECT r.id FROM catalogue_restaurant r JOIN catalogue_market m ON m.slug = r.market_id
WHERE r.id = ANY(%(ids)s) AND NOT jsonb_path_exists(r.hours, '$.periods[*]')
    AND (SELECT max(day #>> '{}') FROM jsonb_path_query(r.hours, '$.special_days[*].date') AS day)
        < to_char(%(now)s AT TIME ZONE m.timezone, 'YYYY-MM-DD')
"""
# Rows that are read beyond a page, as the plane's order is not quite that of the ground; where they do not suffice,
# several times as many are read.
SLACK = 3
MORE = 4


@dataclass(frozen=True, slots=True)
class Row:
    """A restaurant at its place in the order."""

    key: tuple[Key, ...]
    id: UUID
    metres: float | None
    card: str
    sources: list[str]
    timezone: str
    is_shut: bool
    spans_until: datetime | None
    is_known: bool
    opens: datetime | None
    closes: datetime | None

    @property
    def never_opens(self) -> bool:
        """Whether it is closed for all the days that were worked out."""
        return self.is_known and self.opens is None and not self.is_shut

    def hit(self, offer: Offer | None, *, now: datetime, labels: Mapping[str, str] | None = None) -> Hit:
        """The hit; `labels` are those of cuisines in another language than the card's."""
        card = translated(self.card, labels) if labels else self.card
        if self.is_shut:
            return Hit(card=card, metres=self.metres, open_now=False)
        if not self.is_known or (self.spans_until is not None and self.spans_until <= now):
            return Hit(card=card, metres=self.metres, offer=offer)
        is_open = self.opens is not None and self.opens <= now
        change = change_of(
            now=now, zone=self.timezone, until=self.spans_until, is_open=is_open, opens=self.opens, closes=self.closes
        )
        return Hit(card=card, metres=self.metres, open_now=is_open, next_change=change, offer=offer)


def hits(
    rows: Sequence[Row], offered: Mapping[UUID, Offer], *, now: datetime, labels: Mapping[str, str] | None
) -> list[Hit]:
    """The rows as hits. One query where some of them never open: nobody may know when they do."""
    unsaid: set[UUID] = set()
    if never := [row.id for row in rows if row.never_opens]:
        with connection.cursor() as cursor:
            cursor.execute(UNSAID, {"ids": never, "now": now})
            unsaid = {place for (place,) in cursor.fetchall()}
    told = [replace(row, is_known=False) if row.id in unsaid else row for row in rows]
    return [row.hit(offered.get(row.id), now=now, labels=labels) for row in told]


def translated(card: str, labels: Mapping[str, str]) -> str:
    """A card whose main cuisine has the label of another language, where there is one."""
    members = orjson.loads(f"{{{card}}}")
    # The main one is the first, where there is a label at all.
    if members["cuisine"] is not None and members["cuisines"]:
        members["cuisine"] = labels.get(members["cuisines"][0], members["cuisine"])
    return orjson.dumps(members)[1:-1].decode()


def read(statement: Statement, *, wanted: int) -> list[Row]:
    """So many rows of the statement, fewer where there are no more."""
    if statement.is_nearest:
        return _nearest(statement, wanted=wanted)
    keys = len(statement.columns)
    found = run(statement, statement.ranked(), rows=wanted)
    return [Row(row[:keys], *row[keys:]) for row in found]


def _nearest(statement: Statement, *, wanted: int) -> list[Row]:
    """The index walks in the order of the plane, which is not quite the order on the ground.

    What has not been read lies on the plane at least as far away as the last row that was. So those are in their
    final order that are nearer on the ground than this can be; one walk suffices, but where many are at one place.
    """
    rows = wanted + SLACK
    while True:
        found = run(statement, statement.nearest(rows), prepared=True)
        places = {place: Row((metres,), place, metres, *shown) for _, _, place, metres, *shown in found}
        nearest = sorted(places.values(), key=lambda row: (row.key, row.id))
        seen_to = _seen_to(found, rows=rows)
        if seen_to == inf:
            return nearest[:wanted]
        if len(nearest) >= wanted and statement.center:
            last = float(nearest[wanted - 1].key[0])
            if last * geo.stretch(statement.center, radius_m=last).high < seen_to:
                return nearest[:wanted]
        rows *= MORE


def _seen_to(found: Iterable[tuple[Any, ...]], *, rows: int) -> float:
    """How far on the plane all that match have been read, of each cuisine; infinity when these are all."""
    farthest: dict[str | None, tuple[int, float]] = {}
    for plane, cuisine, *_ in found:
        count, far = farthest.get(cuisine, (0, 0.0))
        farthest[cuisine] = (count + 1, max(far, plane))
    return min((far for count, far in farthest.values() if count >= rows), default=inf)


def run(statement: Statement, sql: str, *, prepared: bool = False, **more: Any) -> list[tuple[Any, ...]]:
    """Rows of a text of this statement; `more` are values that are not its own.

    What is `prepared` is planned once for all questions of this form. The plan of others depends on their values: how
    often a word stands somewhere, whether an order is walked or made. So those are written into the text.
    """
    values = statement.parameters() | more
    with ExitStack() as held:
        if statement.by_letters:
            held.enter_context(transaction.atomic())
        cursor = held.enter_context(connection.cursor())
        if statement.by_letters:
            cursor.execute(LIKENESS, [LEAST_LIKENESS])
        if prepared:
            cursor.execute(sql, values)
        else:
            cursor.execute(ClientCursor(connection.connection).mogrify(sql, values))
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found

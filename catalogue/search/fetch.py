"""The rows of a search: the next ones of a walk, in their order, with a row more where others follow."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import lru_cache
from math import inf
from operator import itemgetter
from typing import Any
from uuid import UUID

import orjson
from django.db import connection, transaction
from psycopg import ClientCursor

from catalogue.offers.on_sale import of_row
from catalogue.search.geocoding import distance
from catalogue.search.results import OPTIONS, Hit, plain
from catalogue.search.sql import Statement
from framework import timezones
from framework.api.pagination.cursor import Key
from framework.db.prepared_statements import fetch_all as rows_of

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


# A restaurant at its place in the order, as statements show it: its id, its metres from the reference point, SHOWN and
# what its place in the order is made of.
Row = tuple[Any, ...]
COLUMNS = 15
ID, METRES, SOURCES = itemgetter(0), itemgetter(1), itemgetter(3)
# Around the 20 hits of a page many close at the same time.
MOST_MOMENTS = 4096


def key(statement: Statement, row: Row) -> tuple[Key, ...]:
    """The sort key of a row of this statement, which the id completes."""
    return row[1:2] if statement.is_nearest else row[COLUMNS:]


def hits(rows: Sequence[Row], *, now: datetime, labels: Mapping[str, str] | None) -> list[Hit]:
    """The rows as hits. One query where some of them never open: nobody may know when they do.

    `labels` are those of another language than the cards'. Written by hand, as an answer has many of them.
    """
    unsaid: set[UUID] | None = None
    found: list[Hit] = []
    for place, metres, card, _, zone, is_shut, until, is_known, opens, closes, percent, *rest in rows:
        open_now, change, offer = "null", "null", "null"
        if percent is not None and not is_shut:
            offer = orjson.dumps(plain(of_row(percent, *rest[:4])), option=OPTIONS).decode()
        if is_shut:
            open_now = "false"
        elif is_known and (until is None or until > now):
            if opens is None and unsaid is None:
                unsaid = _unsaid(rows, now=now)
            if opens is not None and opens <= now:
                open_now = "true"
                # What ends where the worked out days end tells of no change.
                if until and closes and closes < until:
                    change = _on_a_clock(closes, zone)
            elif not unsaid or place not in unsaid:
                open_now = "false"
                if opens is not None:
                    change = _on_a_clock(opens, zone)
        far = '"walking_distance_m":null,"walking_minutes":null,"distance_m":null'
        if metres is not None:
            walked, minutes = distance.walk(metres)
            far = f'"walking_distance_m":{walked},"walking_minutes":{minutes},"distance_m":{round(metres)}'
        card = translated(card, labels) if labels else card
        found.append(Hit(f'{{{card},{far},"open_now":{open_now},"next_change":{change},"flow_offer":{offer}}}'))
    return found


def _unsaid(rows: Sequence[Row], *, now: datetime) -> set[UUID]:
    """Those of which nobody knows when they open, of those that are closed for all the days that were worked out."""
    never = [row[0] for row in rows if row[8] is None and row[7] and not row[5]]
    with connection.cursor() as cursor:
        cursor.execute(UNSAID, {"ids": never, "now": now})
        return {place for (place,) in cursor.fetchall()}


@lru_cache(maxsize=MOST_MOMENTS)
def _on_a_clock(moment: datetime, zone: str) -> str:
    """A moment on the wall clock of a zone as it is written everywhere: to the second, and Z on the clock of UTC."""
    text = moment.astimezone(timezones.zone(zone)).isoformat(timespec="seconds")
    return f'"{text[:-6]}Z"' if text.endswith("+00:00") else f'"{text}"'


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
    return run(statement, statement.ranked(), rows=wanted)


def _nearest(statement: Statement, *, wanted: int) -> list[Row]:
    """The index walks in the order of the plane, which is not quite the order on the ground.

    What has not been read lies on the plane at least as far away as the last row that was. So those are in their
    final order that are nearer on the ground than this can be; one walk suffices, but where many are at one place.
    """
    rows = wanted + SLACK
    while True:
        found = run(statement, statement.nearest(rows), prepared=True)
        # Each once, whatever it cooks; by metres, then by id.
        nearest = sorted({row[0]: row for row in found}.values(), key=itemgetter(1, 0))[:wanted]
        seen_to = _seen_to(found, rows=rows)
        if seen_to == inf:
            return nearest
        if len(nearest) == wanted and statement.center:
            last = METRES(nearest[-1])
            if last * distance.stretch(statement.center, radius_m=last).high < seen_to:
                return nearest
        rows *= MORE


def _seen_to(found: Sequence[Row], *, rows: int) -> float:
    """How far on the plane all that match have been read, of each cuisine; infinity when these are all."""
    farthest: dict[str | None, list[float]] = {}
    if len(found) >= rows:
        for *_, plane, cuisine in found:
            farthest.setdefault(cuisine, []).append(plane)
    return min((max(planes) for planes in farthest.values() if len(planes) >= rows), default=inf)


def run(statement: Statement, sql: str, *, prepared: bool = False, **more: Any) -> list[Row]:
    """Rows of a text of this statement; `more` are values that are not its own.

    What is `prepared` is planned once for all questions of this form. The plan of others depends on their values: how
    often a word stands somewhere, whether an order is walked or made. So those are written into the text.
    """
    values = statement.parameters() | more
    if prepared and not statement.by_letters:
        return rows_of(sql, values)
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
        found: list[Row] = cursor.fetchall()
    return found

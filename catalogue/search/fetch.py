"""Execute a search statement and render its rows as hits."""

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

from catalogue.offers.on_sale import offer_from_row
from catalogue.search.geocoding import distance
from catalogue.search.results import ORJSON_OPTIONS, Hit
from catalogue.search.sql import SearchStatement
from framework import timezones
from framework.api.pagination.cursor import Key
from framework.db.prepared_statements import fetch_all as prepared_rows

# A wrong letter in a word of five removes half of its trigrams; PostgreSQL's default of 0.6 would miss such words.
SET_SIMILARITY = "SELECT set_config('pg_trgm.word_similarity_threshold', %s::text, true)"
MIN_WORD_SIMILARITY = "0.45"
# Restaurants whose hours consist of special days only, all of which are over.
EXPIRED_HOURS = """
SELECT r.id FROM catalogue_restaurant r JOIN catalogue_market m ON m.slug = r.market_id
WHERE r.id = ANY(%(ids)s) AND NOT jsonb_path_exists(r.hours, '$.periods[*]')
    AND (SELECT max(day #>> '{}') FROM jsonb_path_query(r.hours, '$.special_days[*].date') AS day)
        < to_char(%(now)s AT TIME ZONE m.timezone, 'YYYY-MM-DD')
"""
# Extra rows of a nearest-first page, because the order on the plane differs a little from that on the ground; the
# factor by which their number grows when they do not suffice.
EXTRA_ROWS = 3
GROWTH = 4

# The columns of a statement: restaurant id, metres from the reference point, HIT_COLUMNS, then the sort key.
Row = tuple[Any, ...]
KEY_START = 17
ID, METRES, SOURCES = itemgetter(0), itemgetter(1), itemgetter(3)
# Restaurants of one page often close at the same time.
CACHED_TIMESTAMPS = 4096
CACHED_CITIES = 256


def sort_key(statement: SearchStatement, row: Row) -> tuple[Key, ...]:
    """Return the keyset of a row, without the id that completes it."""
    return row[1:2] if statement.is_nearest_first else row[KEY_START:]


def fetch_rows(statement: SearchStatement, *, limit: int) -> list[Row]:
    """Return at most `limit` rows in the order of the statement."""
    if not statement.is_nearest_first:
        return execute(statement, statement.ranked(), rows=limit)
    # The index returns rows in the order on the plane. Rows that it has not returned yet are at least as far away on
    # the plane as the last one that it has, so rows nearer on the ground than that are in their final order. One query
    # suffices unless many restaurants share a position.
    rows = limit + EXTRA_ROWS
    while True:
        found = execute(statement, statement.nearest(rows), prepared=True)
        # A restaurant appears once for each requested cuisine.
        nearest = sorted({ID(row): row for row in found}.values(), key=itemgetter(1, 0))[:limit]
        complete_to = _complete_to(found, rows=rows)
        if complete_to == inf:
            return nearest
        if len(nearest) == limit and statement.center:
            last_m = METRES(nearest[-1])
            if last_m * distance.mercator_scale(statement.center, radius_m=last_m).high < complete_to:
                return nearest
        rows *= GROWTH


def _complete_to(found: Sequence[Row], *, rows: int) -> float:
    """Return the distance on the plane up to which the rows of every cuisine are complete; infinity if these are
    all.
    """
    distances: dict[str | None, list[float]] = {}
    if len(found) >= rows:
        for *_, plane, cuisine in found:
            distances.setdefault(cuisine, []).append(plane)
    return min((max(planes) for planes in distances.values() if len(planes) >= rows), default=inf)


def execute(statement: SearchStatement, sql: str, *, prepared: bool = False, **parameters: Any) -> list[Row]:
    """Execute SQL of this statement with its parameters and these.

    A `prepared` statement has one generic plan for all queries of its form. The plan of the others depends on the
    values (how frequent a word is, whether an index order is used), so these are interpolated into the text.
    """
    values = statement.parameters() | parameters
    if prepared and not statement.by_trigrams:
        return prepared_rows(sql, values)
    with ExitStack() as stack:
        if statement.by_trigrams:
            stack.enter_context(transaction.atomic())
        cursor = stack.enter_context(connection.cursor())
        if statement.by_trigrams:
            cursor.execute(SET_SIMILARITY, [MIN_WORD_SIMILARITY])
        if prepared:
            cursor.execute(sql, values)
        else:
            cursor.execute(ClientCursor(connection.connection).mogrify(sql, values))
        rows: list[Row] = cursor.fetchall()
    return rows


def render_hits(rows: Sequence[Row], *, now: datetime, labels: Mapping[str, str] | None) -> list[Hit]:
    """Render rows as the JSON of hits, without a JSON encoder, because a response has many of them.

    `labels` are the cuisine labels of another language. One query if a restaurant does not open within the computed
    days, because its hours may have expired.
    """
    expired: set[UUID] | None = None
    hits: list[Hit] = []
    for restaurant_id, metres, card, _, city, country, *columns in rows:
        zone, is_shut, until, is_known, opens, closes, percent, *slot = columns
        open_now, next_change, offer = "null", "null", "null"
        if percent is not None and not is_shut:
            offer = orjson.dumps(offer_from_row(percent, *slot[:4]).to_dict(), option=ORJSON_OPTIONS).decode()
        if is_shut:
            open_now = "false"
        elif is_known and (until is None or until > now):
            if opens is None and expired is None:
                expired = _expired_hours(rows, now=now)
            if opens is not None and opens <= now:
                open_now = "true"
                # An interval that reaches the end of the computed days does not say when the restaurant closes.
                if until and closes and closes < until:
                    next_change = _local_timestamp(closes, zone)
            elif not expired or restaurant_id not in expired:
                open_now = "false"
                if opens is not None:
                    next_change = _local_timestamp(opens, zone)
        distances = '"walking_distance_m":null,"walking_minutes":null,"distance_m":null'
        if metres is not None:
            walk_m, minutes = distance.estimate_walk(metres)
            distances = f'"walking_distance_m":{walk_m},"walking_minutes":{minutes},"distance_m":{round(metres)}'
        card = translate_cuisine(card, labels) if labels else card
        moments = f'"open_now":{open_now},"next_change":{next_change}'
        hits.append(Hit(f'{{{card},{_city_members(city, country)},{distances},{moments},"flow_offer":{offer}}}'))
    return hits


def _expired_hours(rows: Sequence[Row], *, now: datetime) -> set[UUID]:
    never_open = [row[0] for row in rows if row[10] is None and row[9] and not row[7]]
    with connection.cursor() as cursor:
        cursor.execute(EXPIRED_HOURS, {"ids": never_open, "now": now})
        return {pk for (pk,) in cursor.fetchall()}


@lru_cache(maxsize=CACHED_CITIES)
def _city_members(city: str, country: str) -> str:
    return orjson.dumps({"city": city, "country": country})[1:-1].decode()


@lru_cache(maxsize=CACHED_TIMESTAMPS)
def _local_timestamp(moment: datetime, zone: str) -> str:
    """Format a moment in a time zone as RFC 3339, to the second, with Z for UTC."""
    text = moment.astimezone(timezones.zone(zone)).isoformat(timespec="seconds")
    return f'"{text[:-6]}Z"' if text.endswith("+00:00") else f'"{text}"'


def translate_cuisine(card: str, labels: Mapping[str, str]) -> str:
    """Return the members of a card with the label of the main cuisine replaced where `labels` has one."""
    members = orjson.loads(f"{{{card}}}")
    # The main cuisine is the first one.
    if members["cuisine"] is not None and members["cuisines"]:
        members["cuisine"] = labels.get(members["cuisines"][0], members["cuisine"])
    return orjson.dumps(members)[1:-1].decode()

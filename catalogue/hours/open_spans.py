"""Open spans: opening hours worked out for the next days, so that a search for what is open is one index condition."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import date, datetime, timedelta
from functools import lru_cache, partial
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection, transaction

from catalogue.hours import HORIZON_DAYS, Hours, InvalidHoursError, SpecialDay, holidays, read_osm
from catalogue.models import Restaurant
from catalogue.models.postgres_fields import Span

logger = logging.getLogger(__name__)

# A search may ask for any moment of 14 days. The worker comes each hour, and a missed one does no harm; most of a day
# more, so that each row is worked out about once a day.
PROMISED = timedelta(days=14, hours=2)
AHEAD = timedelta(days=15)

# Clocks of two machines differ: a moment that has just passed is still answered.
BEHIND = timedelta(days=1)

# The special days that a record is sure to show. They are read for twice as long: a rewrite is a version in the
# history, so a place whose every day is special gets one a month and not one a day.
SHOWN = timedelta(days=30)

CLOSED = frozenset(
    {Restaurant.Status.TEMPORARILY_CLOSED, Restaurant.Status.PERMANENTLY_CLOSED, Restaurant.Status.MOVED}
)

# What is found at a time, before it is claimed in batches.
FOUND_AT_ONCE = 50_000


class Due(NamedTuple):
    """A reason to work spans out: what to look for, and what to lock."""

    condition: str
    locked: str


# A writer of hours empties `spans_until`, and leaves it alone where it is empty: there the lock of the restaurant
# keeps him waiting until what was read of it is stored.
MISSING = Due("row.spans_missing", "row, restaurant")
ENDING = Due("row.spans_until < %(promised)s", "row")

# No index has `spans_until`: with one, each of these updates would have to touch all the indexes of the row.
# An update writes the row to another place: in the order in which they lie, so that neighbours stay neighbours
# (catalogue.read_model.rebuild.TILE_M).
FIND = """
SELECT row.restaurant_id FROM catalogue_searchrow AS row WHERE {condition} ORDER BY row.ctid LIMIT %(size)s
"""

CLAIM = """
SELECT restaurant.id, restaurant.status, restaurant.hours::text, restaurant.latitude, restaurant.longitude,
    'hours' = ANY (restaurant.locked_fields), restaurant.market_id, restaurant.version, row.ctid::text
FROM catalogue_searchrow AS row JOIN catalogue_restaurant AS restaurant ON restaurant.id = row.restaurant_id
WHERE row.restaurant_id = ANY (%(ids)s::uuid[]) AND {condition}
ORDER BY row.ctid
FOR NO KEY UPDATE OF {locked} SKIP LOCKED
"""

# By their places, which are theirs while they are locked: one after the other, as they lie.
STORE = """
UPDATE catalogue_searchrow AS row SET open_spans = made.spans::tstzmultirange, spans_until = %s
FROM unnest(%s::tid[], %s::text[]) AS made (place, spans) WHERE row.ctid = made.place
"""

# In the order of the keys, passing over what somebody else is writing: no two can wait for each other.
RENEW = """
WITH held AS MATERIALIZED (
    SELECT restaurant.id, made.hours
    FROM unnest(%s::uuid[], %s::integer[], %s::text[]) AS made (id, version, hours)
    JOIN catalogue_restaurant AS restaurant ON restaurant.id = made.id AND restaurant.version = made.version
    ORDER BY restaurant.id
    FOR NO KEY UPDATE OF restaurant SKIP LOCKED
)
UPDATE catalogue_restaurant AS restaurant SET hours = held.hours::jsonb, updated_at = %s
FROM held WHERE restaurant.id = held.id
"""


class Stated(NamedTuple):
    """What a restaurant states of its hours: as much as tells one reading from another."""

    hours: str
    is_locked: bool
    point: tuple[float, float] | None
    holidays: frozenset[date]


class Reading(NamedTuple):
    """The spans as PostgreSQL writes them, None when nobody knows; and the hours in JSON that are to be stored."""

    spans: str | None
    hours: str | None


UNKNOWN = Reading(None, None)


def refresh(*, now: datetime, batch: int = 1000, at_most: int | None = None) -> int:
    """Work out the open spans that are missing or end before the promised days do; how many restaurants that were.

    Spans are missing where the hours, the status or the place of a restaurant changed: a trigger sees to it. Those
    come first. Each batch is a short transaction that claims its rows and passes over claimed ones, so any number of
    workers may run this at once. Special days that come in sight are stored with the hours of the restaurant.
    """
    read = lru_cache(maxsize=20_000)(_reader(now=now))
    done = 0
    # Hours that were stored anew leave their spans missing, so that nothing is missed between two transactions.
    for due in (MISSING, ENDING, MISSING):
        while at_most is None or done < at_most:
            size = FOUND_AT_ONCE if at_most is None else min(FOUND_AT_ONCE, at_most - done)
            found = _find(due, now=now, size=size)
            worked_out = sum(
                _refresh_some(due, found[start : start + batch], read=read, now=now)
                for start in range(0, len(found), batch)
            )
            done += worked_out
            if len(found) < size or not worked_out:
                break
    return done


def _find(due: Due, *, now: datetime, size: int) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(FIND.format(condition=due.condition), {"promised": now + PROMISED, "size": size})
        return [restaurant for (restaurant,) in cursor.fetchall()]


def _refresh_some(due: Due, ids: Sequence[UUID], *, read: Callable[[Stated], Reading], now: datetime) -> int:
    ready: list[tuple[str, str | None]] = []
    renewed: list[tuple[UUID, int, str]] = []
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            CLAIM.format(condition=due.condition, locked=due.locked), {"ids": list(ids), "promised": now + PROMISED}
        )
        claimed = cursor.fetchall()
        # Younger than the claim: whoever changes the holidays marks the rows that they concern, and has done so by now
        # or waits for these.
        kept = holidays.by_market(first=now.date() - 3 * BEHIND, last=now.date() + timedelta(days=HORIZON_DAYS))
        for restaurant, status, hours, lat, lng, is_locked, market, version, place in claimed:
            point = None if lat is None or lng is None else (lat, lng)
            reading = UNKNOWN
            if hours:
                reading = read(_stated(hours, is_locked=is_locked, point=point, kept=kept.get(market, frozenset())))
            # Closure outranks hours.
            ready.append((place, "{}" if status in CLOSED else reading.spans))
            if reading.hours is not None:
                renewed.append((restaurant, version, reading.hours))
        if ready:
            cursor.execute(STORE, [now + AHEAD, *map(list, zip(*ready, strict=True))])
    if renewed:
        # A transaction of its own: who changes a restaurant waits for its search row, which the one above held.
        with connection.cursor() as cursor:
            cursor.execute(RENEW, [*map(list, zip(*renewed, strict=True)), now])
    return len(ready)


def _stated(hours: str, *, is_locked: bool, point: tuple[float, float] | None, kept: frozenset[date]) -> Stated:
    """Only what the reading depends on, so that equal ones are read once: the place for the sun, the city for `PH`."""
    lowered = hours.lower()
    is_by_sun = any(word in lowered for word in ("sunrise", "sunset", "dawn", "dusk"))
    return Stated(hours, is_locked, point if is_by_sun else None, kept if "ph" in lowered else frozenset())


def _reader(*, now: datetime) -> Callable[[Stated], Reading]:
    start, end = now - BEHIND, now + AHEAD

    def read(stated: Stated) -> Reading:
        hours = _parsed(json.loads(stated.hours))
        if hours is None:
            logger.warning("These hours are broken: %.200s", stated.hours)
            return UNKNOWN
        today = now.astimezone(ZoneInfo(hours.timezone)).date()
        # From the day before the first moment, whose tail may reach into it.
        again = read_again(
            hours,
            today=today,
            first=today - BEHIND,
            point=stated.point,
            is_locked=stated.is_locked,
            holidays=stated.holidays,
        )
        spans = _multirange(again.spans(start=start, end=end)) if again.known else None
        shown = _within(hours, today, today + SHOWN) == _within(again, today, today + SHOWN)
        return Reading(spans, None if shown else json.dumps(again.to_json()))

    return read


def stated(restaurant: Restaurant) -> Hours | None:
    """The hours of a restaurant; None when it states none, or broken ones."""
    if restaurant.hours is None:
        return None
    hours = _parsed(restaurant.hours)
    if hours is None:
        logger.warning("The hours of restaurant %s are broken", restaurant.pk)
    return hours


def _parsed(written: Mapping[str, Any]) -> Hours | None:
    try:
        return Hours.from_json(written)
    except (InvalidHoursError, AttributeError):
        return None


def read_again(
    hours: Hours,
    *,
    today: date,
    first: date,
    point: tuple[float, float] | None,
    is_locked: bool,
    holidays: Set[date],
) -> Hours:
    """Hours with dates ("Dec 24 off") were read for some days: read the string they come from for others.

    For the 60 days from `first`, and the day before, whose tail may reach into them. Hours whose week is not what the
    string says stay as they are, and so do those that staff decided on (`is_locked`), unless they still say just what
    the string does from `today` on.
    """
    if hours.osm is None or not hours.known:
        return hours
    read = partial(read_osm, hours.osm, timezone=hours.timezone, point=point, holidays=holidays)
    again = read(on=first - timedelta(days=1), days=HORIZON_DAYS + 1)
    if again.periods != hours.periods:
        return hours
    if is_locked:
        last = max((special.date for special in hours.special_days), default=today)
        if _within(hours, today, date.max) != _within(read(on=today), today, last + timedelta(days=1)):
            return hours
    return again


def _within(hours: Hours, first: date, end: date) -> list[SpecialDay]:
    return [special for special in hours.special_days if first <= special.date < end]


def _multirange(spans: Sequence[Span]) -> str:
    return "{" + ",".join(f"[{opens.isoformat()},{closes.isoformat()})" for opens, closes in spans) + "}"

"""Open intervals: opening hours computed for the next days, so that a search for open restaurants uses an index."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import date, datetime, timedelta
from functools import lru_cache, partial
from typing import Any, NamedTuple, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection, transaction

from catalogue.hours import HORIZON_DAYS, Hours, InvalidHoursError, SpecialDay, holidays, read_osm
from catalogue.models import Restaurant

logger = logging.getLogger(__name__)

# A search uses the intervals for any moment of the next 14 days (later ones: catalogue.hours.open_at). The worker runs
# each hour and may miss a run; the rest of the 15th day lets it compute each row about once a day.
GUARANTEED_AHEAD = timedelta(days=14, hours=2)
COMPUTED_AHEAD = timedelta(days=15)

# Clocks of two machines differ, so the recent past is computed too.
COMPUTED_BEHIND = timedelta(days=1)

# A record always contains the special days of this time. They are computed for twice as long, because each update
# makes a version in the history: a restaurant whose every day is special gets one a month instead of one a day.
VISIBLE_AHEAD = timedelta(days=30)

CLOSED_STATUSES = frozenset(
    {Restaurant.Status.TEMPORARILY_CLOSED, Restaurant.Status.PERMANENTLY_CLOSED, Restaurant.Status.MOVED}
)

# Rows per query for outdated rows; they are claimed in smaller batches.
MAX_FOUND = 50_000


# Reasons to refresh rows: their condition, and the tables to lock. A writer of hours sets `intervals_until` to NULL,
# but does not write it when it is NULL already: then the lock on the restaurant makes the writer wait until the
# intervals are stored.
MISSING = {"condition": "row.intervals_missing", "locked": "row, restaurant"}
# Those that end later than any were computed while the clock was ahead, and begin too late.
EXPIRING = {"condition": "row.intervals_until NOT BETWEEN %(guaranteed)s AND %(latest)s", "locked": "row"}

# `intervals_until` has no index, because each update would then have to update all indexes of the row. An update moves
# the row, so rows are updated in their physical order to keep neighbours together
# (catalogue.read_model.rebuild.TILE_M).
FIND_OUTDATED = """
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

# By ctid, which does not change while the rows are locked.
STORE_INTERVALS = """
UPDATE catalogue_searchrow AS row SET open_intervals = computed.intervals::tstzmultirange, intervals_until = %s
FROM unnest(%s::tid[], %s::text[]) AS computed (ctid, intervals) WHERE row.ctid = computed.ctid
"""

# In the order of the keys and without waiting for locks, so that no two can deadlock.
STORE_HOURS = """
WITH held AS MATERIALIZED (
    SELECT restaurant.id, computed.hours
    FROM unnest(%s::uuid[], %s::integer[], %s::text[]) AS computed (id, version, hours)
    JOIN catalogue_restaurant AS restaurant
        ON restaurant.id = computed.id AND restaurant.version = computed.version
    ORDER BY restaurant.id
    FOR NO KEY UPDATE OF restaurant SKIP LOCKED
)
UPDATE catalogue_restaurant AS restaurant SET hours = held.hours::jsonb, updated_at = %s
FROM held WHERE restaurant.id = held.id
"""


class HoursInput(NamedTuple):
    """Everything that the intervals of a restaurant depend on."""

    hours: str
    is_locked: bool
    point: tuple[float, float] | None
    holidays: frozenset[date]

    @classmethod
    def reduce(
        cls,
        hours: str,
        *,
        is_locked: bool,
        lat: float | None,
        lng: float | None,
        market_holidays: frozenset[date],
    ) -> Self:
        """Drop what these hours do not depend on, so that equal inputs are computed once."""
        lowered = hours.lower()
        uses_sun = any(word in lowered for word in ("sunrise", "sunset", "dawn", "dusk"))
        point = (lat, lng) if uses_sun and lat is not None and lng is not None else None
        return cls(hours, is_locked, point, market_holidays if "ph" in lowered else frozenset())


class ComputedIntervals(NamedTuple):
    """The intervals as a PostgreSQL multirange, None if unknown; and the hours to store as JSON, None if unchanged."""

    intervals: str | None
    hours: str | None


UNKNOWN = ComputedIntervals(None, None)


def refresh_open_intervals(*, now: datetime, batch: int = 1000, at_most: int | None = None) -> int:
    """Compute the open intervals that are missing or expire soon; return the number of restaurants.

    A trigger marks intervals as missing when the hours, the status or the location of a restaurant change. Those are
    computed first. Each batch is a short transaction that skips locked rows, so any number of workers may run this at
    once. Special days that come into the horizon are stored with the hours of the restaurant.
    """
    compute = lru_cache(maxsize=20_000)(partial(_compute, now=now))
    done = 0
    # Storing hours marks the intervals as missing again, so the missing ones are refreshed once more at the end.
    for reason in (MISSING, EXPIRING, MISSING):
        while at_most is None or done < at_most:
            size = MAX_FOUND if at_most is None else min(MAX_FOUND, at_most - done)
            with connection.cursor() as cursor:
                sql = FIND_OUTDATED.format(**reason)
                cursor.execute(sql, _valid_ends(now) | {"size": size})
                found = [restaurant for (restaurant,) in cursor.fetchall()]
            refreshed = sum(
                _refresh_batch(reason, found[start : start + batch], compute=compute, now=now)
                for start in range(0, len(found), batch)
            )
            done += refreshed
            if len(found) < size or not refreshed:
                break
    return done


def _valid_ends(now: datetime) -> dict[str, Any]:
    return {"guaranteed": now + GUARANTEED_AHEAD, "latest": now + COMPUTED_AHEAD + COMPUTED_BEHIND}


def _refresh_batch(
    reason: dict[str, str], ids: Sequence[UUID], *, compute: Callable[[HoursInput], ComputedIntervals], now: datetime
) -> int:
    computed: list[tuple[str, str | None]] = []
    changed_hours: list[tuple[UUID, int, str]] = []
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(CLAIM.format(**reason), _valid_ends(now) | {"ids": list(ids)})
        claimed = cursor.fetchall()
        # Read after the claim: a transaction that changes holidays marks the affected rows, so it has either committed
        # or waits for these locks.
        by_market = holidays.holidays_by_market(
            first=now.date() - 3 * COMPUTED_BEHIND, last=now.date() + timedelta(days=HORIZON_DAYS)
        )
        for restaurant, status, hours, lat, lng, is_locked, market, version, ctid in claimed:
            result = UNKNOWN
            if hours:
                dates = by_market.get(market, frozenset())
                given = HoursInput.reduce(hours, is_locked=is_locked, lat=lat, lng=lng, market_holidays=dates)
                result = compute(given)
            # A closure overrides hours.
            computed.append((ctid, "{}" if status in CLOSED_STATUSES else result.intervals))
            if result.hours is not None:
                changed_hours.append((restaurant, version, result.hours))
        if computed:
            cursor.execute(STORE_INTERVALS, [now + COMPUTED_AHEAD, *map(list, zip(*computed, strict=True))])
    if changed_hours:
        # In its own transaction: a writer of the restaurant waits for its search row, which the one above has locked.
        with connection.cursor() as cursor:
            cursor.execute(STORE_HOURS, [*map(list, zip(*changed_hours, strict=True)), now])
    return len(computed)


def _compute(given: HoursInput, *, now: datetime) -> ComputedIntervals:
    hours = hours_from_json(json.loads(given.hours))
    if hours is None:
        logger.warning("invalid hours: %.200s", given.hours)
        return UNKNOWN
    today = now.astimezone(ZoneInfo(hours.timezone)).date()
    # From the day before the first moment, because its last interval may end after midnight.
    current = reread_osm(
        hours,
        today=today,
        first=today - COMPUTED_BEHIND,
        point=given.point,
        is_locked=given.is_locked,
        holidays=given.holidays,
    )
    intervals = None
    if current.known:
        spans = current.spans(start=now - COMPUTED_BEHIND, end=now + COMPUTED_AHEAD)
        intervals = "{" + ",".join(f"[{opens.isoformat()},{closes.isoformat()})" for opens, closes in spans) + "}"
    is_current = _within(hours, today, today + VISIBLE_AHEAD) == _within(current, today, today + VISIBLE_AHEAD)
    return ComputedIntervals(intervals, None if is_current else json.dumps(current.to_json()))


def parse_hours(restaurant: Restaurant) -> Hours | None:
    """Return the hours of a restaurant; None if it has none or they are invalid."""
    if restaurant.hours is None:
        return None
    hours = hours_from_json(restaurant.hours)
    if hours is None:
        logger.warning("invalid hours of restaurant %s", restaurant.pk)
    return hours


def hours_from_json(value: Mapping[str, Any]) -> Hours | None:
    """Return hours from their JSON; None if they are invalid."""
    try:
        return Hours.from_json(value)
    except (InvalidHoursError, AttributeError):
        return None


def reread_osm(
    hours: Hours,
    *,
    today: date,
    first: date,
    days: int = HORIZON_DAYS,
    point: tuple[float, float] | None,
    is_locked: bool,
    holidays: Set[date],
) -> Hours:
    """Read the opening_hours string of hours again for the `days` from `first` and the day before.

    Hours with dates ("Dec 24 off") were read for a limited number of days. Hours stay unchanged if their week differs
    from the string, or if staff have locked them (`is_locked`) and they differ from the string from `today` on.
    """
    if hours.osm is None or not hours.known:
        return hours
    read = partial(read_osm, hours.osm, timezone=hours.timezone, point=point, holidays=holidays)
    current = read(on=first - timedelta(days=1), days=days + 1)
    if current.periods != hours.periods:
        return hours
    if is_locked:
        last = max((special.date for special in hours.special_days), default=today)
        if _within(hours, today, date.max) != _within(read(on=today), today, last + timedelta(days=1)):
            return hours
    return current


def _within(hours: Hours, first: date, end: date) -> list[SpecialDay]:
    return [special for special in hours.special_days if first <= special.date < end]

"""From the local wall clock of a zone to instants."""

from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from catalogue.hours.periods import DAY

_MINUTE = timedelta(minutes=1)


def instant(zone: ZoneInfo, day: int, minute: int) -> datetime:
    """The UTC instant at which the clock on the wall first reads `minute` of `day` or later.

    `day` is a proleptic ordinal (`date.toordinal`), `minute` counts from its midnight and may pass 1440.
    So a time that occurs twice in autumn means its first occurrence, and a time that spring skips means
    the moment of the skip.
    """
    if minute >= DAY:
        day += minute // DAY
        minute %= DAY
    midnight = _midnight(zone, day)
    if midnight is not None:
        return midnight + timedelta(minutes=minute)
    return _first_reading(zone, datetime.fromordinal(day) + minute * _MINUTE)


@lru_cache(maxsize=8192)
def _midnight(zone: ZoneInfo, day: int) -> datetime | None:
    """Local midnight in UTC, or None where the offset changes during the day and counting minutes would lie."""
    midnight = datetime.fromordinal(day).replace(tzinfo=zone)
    next_midnight = datetime.fromordinal(day + 1).replace(tzinfo=zone)
    if midnight.utcoffset() != next_midnight.utcoffset():
        return None
    return midnight.astimezone(UTC)


def _first_reading(zone: ZoneInfo, local: datetime) -> datetime:
    first = local.replace(tzinfo=zone).astimezone(UTC)
    if _reading(zone, first) == local:
        return first
    # Skipped: fold 0 lies after the skip and fold 1 before it (PEP 495), the skip itself somewhere between.
    before = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    minutes = range((first - before) // _MINUTE)
    return before + _MINUTE * bisect_left(minutes, local, key=lambda passed: _reading(zone, before + passed * _MINUTE))


def _reading(zone: ZoneInfo, at: datetime) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None)

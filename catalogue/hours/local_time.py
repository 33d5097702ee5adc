"""Conversion of local times to instants."""

from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from catalogue.hours.periods import DAY

_MINUTE = timedelta(minutes=1)


def to_instant(zone: ZoneInfo, day: int, minute: int) -> datetime:
    """Return the first UTC instant at which the local time is `minute` of `day` or later.

    `day` is a proleptic ordinal (`date.toordinal`), `minute` counts from its midnight and may exceed 1440. A local
    time that occurs twice in autumn means its first occurrence, and one that is skipped in spring means the moment of
    the skip.
    """
    if minute >= DAY:
        day += minute // DAY
        minute %= DAY
    midnight = _midnight(zone, day)
    if midnight is not None:
        return midnight + timedelta(minutes=minute)
    local = datetime.fromordinal(day) + minute * _MINUTE
    first = local.replace(tzinfo=zone).astimezone(UTC)
    if _local(zone, first) == local:
        return first
    # Skipped: fold 0 is after the skip and fold 1 before it (PEP 495), so the skip is between the two.
    before = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    minutes = range((first - before) // _MINUTE)
    return before + _MINUTE * bisect_left(minutes, local, key=lambda passed: _local(zone, before + passed * _MINUTE))


@lru_cache(maxsize=8192)
def _midnight(zone: ZoneInfo, day: int) -> datetime | None:
    """Return local midnight in UTC, or None if the UTC offset changes during the day."""
    midnight = datetime.fromordinal(day).replace(tzinfo=zone)
    next_midnight = datetime.fromordinal(day + 1).replace(tzinfo=zone)
    if midnight.utcoffset() != next_midnight.utcoffset():
        return None
    return midnight.astimezone(UTC)


def _local(zone: ZoneInfo, at: datetime) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None)

"""Dates of seasons, week numbers and Easter, and hours by the sun, computed by the library opening-hours-py.

The library gets one rule at a time, never the whole string: where rules meet, it drops the hours after midnight of the
day before.
"""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from opening_hours import OpeningHours, State, validate

from catalogue.hours.osm_grammar import OsmInterval, UnreadableHoursError

_MINUTE = timedelta(minutes=1)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def expand_dates(selector: str, *, dates: list[date]) -> frozenset[date]:
    """Return those of the consecutive `dates` that "Dec 24-26", "week 30" or "Su[1]" selects. Raises
    UnreadableHoursError.
    """
    expression = OpeningHours(_checked(f"{selector} 00:00-24:00"))
    start = datetime.combine(dates[0], time())
    selected: set[date] = set()
    for opens, closes, state, _ in expression.intervals(start, start + timedelta(days=len(dates))):
        if state == State.OPEN:
            selected.update(opens.date() + timedelta(days=passed) for passed in range((closes - opens).days))
    return frozenset(selected)


def sun_intervals(times: str, *, on: date, timezone: str, point: tuple[float, float]) -> tuple[OsmInterval, ...]:
    """Return the intervals of "17:00-sunset" that begin on a date at a point (lat, lng). Raises
    UnreadableHoursError.
    """
    # The date in the expression excludes intervals that begin on the day before.
    expression = OpeningHours(
        _checked(f"{on.year} {_MONTHS[on.month - 1]} {on.day:02} {times}"), timezone=ZoneInfo(timezone), coords=point
    )
    midnight = datetime.combine(on, time())
    return tuple(
        OsmInterval(
            (opens.replace(tzinfo=None) - midnight) // _MINUTE, (closes.replace(tzinfo=None) - midnight) // _MINUTE
        )
        for opens, closes, state, _ in expression.intervals(midnight, midnight + timedelta(days=2))
        if state == State.OPEN
    )


def _checked(text: str) -> str:
    if not validate(text):
        raise UnreadableHoursError(f'"{text}" is not a valid expression.')
    return text

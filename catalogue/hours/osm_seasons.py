"""What a weekday cannot say: which dates a season, a week number or Easter means, and when the sun moves.

The library opening-hours-py knows the calendar. It is asked about one rule at a time, never about the whole
string: where rules meet, it drops the hours after midnight of the day before.
"""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from opening_hours import OpeningHours, State, validate

from catalogue.hours.osm_grammar import Span, UnreadableHoursError

_MINUTE = timedelta(minutes=1)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def dates_of(selector: str, *, dates: list[date]) -> frozenset[date]:
    """Those of the consecutive `dates` that "Dec 24-26", "week 30" or "Su[1]" mean. Raises UnreadableHoursError."""
    expression = OpeningHours(_checked(f"{selector} 00:00-24:00"))
    start = datetime.combine(dates[0], time())
    chosen: set[date] = set()
    for opens, closes, state, _ in expression.intervals(start, start + timedelta(days=len(dates))):
        if state == State.OPEN:
            chosen.update(opens.date() + timedelta(days=passed) for passed in range((closes - opens).days))
    return frozenset(chosen)


def sun_spans(times: str, *, on: date, timezone: str, point: tuple[float, float]) -> tuple[Span, ...]:
    """The spans of "17:00-sunset" that open on a date, at a point (lat, lng). Raises UnreadableHoursError."""
    # With the date in the expression, what opens the day before cannot come back as this day's.
    expression = OpeningHours(
        _checked(f"{on.year} {_MONTHS[on.month - 1]} {on.day:02} {times}"), timezone=ZoneInfo(timezone), coords=point
    )
    midnight = datetime.combine(on, time())
    return tuple(
        Span((opens.replace(tzinfo=None) - midnight) // _MINUTE, (closes.replace(tzinfo=None) - midnight) // _MINUTE)
        for opens, closes, state, _ in expression.intervals(midnight, midnight + timedelta(days=2))
        if state == State.OPEN
    )


def _checked(text: str) -> str:
    if not validate(text):
        raise UnreadableHoursError(f'"{text}" is not in the grammar.')
    return text

"""Opening hours as an owner writes them: a text of times for each weekday, and closed or special days."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from catalogue.hours import Hours, InvalidHoursError
from catalogue.hours.serialization import format_time, write_spans
from framework.errors import InvalidRequest

MAX_SPECIAL_DAYS = 200
# Days that one entry closes.
MAX_DAYS_AT_ONCE = 60
_SPAN = re.compile(r"([0-2]?\d)[:.]([0-5]\d)\s*[-\u2013]\s*([0-2]?\d)[:.]([0-5]\d)")


def read_times(text: str) -> list[dict[str, str]]:
    """Read "12:00-14:30, 18:00-23:00"; nothing means closed. A close that is not after its open is on the next day.

    Raises InvalidHoursError.
    """
    spans = []
    for part in filter(None, (part.strip() for part in re.split("[,;]", text))):
        match = _SPAN.fullmatch(part)
        if match is None or int(match[1]) > 23 or int(match[3] + match[4]) > 2400:
            raise InvalidHoursError(f'"{part}" is no time such as 12:00-14:30.')
        spans.append({"open": f"{match[1]:0>2}:{match[2]}", "close": f"{int(match[3]) % 24:02}:{match[4]}"})
    return spans


def write_times(spans: Sequence[Mapping[str, str]]) -> str:
    """The text of `read_times`."""
    return ", ".join(f"{span['open']}-{span['close']}" for span in spans)


def list_week(hours: Mapping[str, Any] | None) -> list[str]:
    """The text of each weekday, from Monday; empty ones without hours. A period of several days is one of each day."""
    week: list[list[tuple[int, int]]] = [[] for _ in range(7)]
    for period in Hours.from_json(hours).periods if hours else ():
        for day, opens, closes in period.split_by_day():
            week[day].append((opens, closes))
    return [", ".join(f"{format_time(opens)}-{format_time(closes)}" for opens, closes in sorted(day)) for day in week]


def replace_week(hours: Mapping[str, Any] | None, week: Sequence[str], *, timezone: str) -> dict[str, Any] | None:
    """Return the hours with these weekdays and their own special days; None if no day has a time: they are unknown.

    Raises InvalidHoursError.
    """
    periods = []
    for day, text in enumerate(week):
        for span in read_times(text):
            closes_on = day if span["close"] > span["open"] else (day + 1) % 7
            opens, closes = ({"day": on, "time": span[name]} for on, name in ((day, "open"), (closes_on, "close")))
            periods.append({"kind": "regular", "open": opens, "close": closes})
    if not periods:
        return None
    special_days = (hours or {}).get("special_days", [])
    return Hours.from_json({"timezone": timezone, "periods": periods, "special_days": special_days}).to_json()


def set_special_days(
    hours: Mapping[str, Any] | None, first: date, last: date, spans: Sequence[Mapping[str, str]], *, today: date
) -> dict[str, Any]:
    """Return the hours with these times on the days from `first` to `last`; no times means closed.

    Days before yesterday are left out, as nobody asks for them. Raises InvalidRequest, InvalidHoursError.
    """
    if not hours or not hours.get("periods"):
        raise InvalidRequest("Enter the weekly hours first.", param="first")
    if first < today or not first <= last < first + timedelta(days=MAX_DAYS_AT_ONCE):
        raise InvalidRequest(f"Enter 1 to {MAX_DAYS_AT_ONCE} days from today on.", param="last")
    days = {first + timedelta(days=number) for number in range((last - first).days + 1)}
    kept = [special for special in _upcoming(hours, today=today) if date.fromisoformat(special["date"]) not in days]
    if len(kept) + len(days) > MAX_SPECIAL_DAYS:
        raise InvalidRequest(f"There are more than {MAX_SPECIAL_DAYS} days. Remove some first.", param="first")
    added = [{"date": day.isoformat(), "periods": list(spans)} for day in sorted(days)]
    return _with_special_days(hours, kept + added)


def remove_special_day(hours: Mapping[str, Any], day: date, *, today: date) -> dict[str, Any]:
    """Return the hours without this special day: the week applies."""
    return _with_special_days(
        hours, [special for special in _upcoming(hours, today=today) if special["date"] != day.isoformat()]
    )


def list_special_days(hours: Mapping[str, Any] | None, *, today: date) -> list[tuple[date, str]]:
    """The special days from today on with the text of their times, empty if closed."""
    if not hours:
        return []
    specials = sorted(Hours.from_json(hours).special_days, key=lambda special: special.date)
    return [(one.date, write_times(write_spans(one.periods))) for one in specials if one.date >= today]


def _upcoming(hours: Mapping[str, Any], *, today: date) -> list[dict[str, Any]]:
    yesterday = (today - timedelta(days=1)).isoformat()
    return [special for special in hours.get("special_days", []) if special["date"] >= yesterday]


def _with_special_days(hours: Mapping[str, Any], special_days: list[dict[str, Any]]) -> dict[str, Any]:
    special_days.sort(key=lambda special: str(special["date"]))
    # Without the text that they were read from, they are not computed from it again.
    content = {"timezone": hours["timezone"], "periods": hours["periods"], "special_days": special_days}
    return Hours.from_json(content).to_json()

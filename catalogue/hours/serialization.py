"""The JSON of opening hours: times as "HH:MM", days as 0 (Monday) to 6, dates as ISO 8601."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, TypeVar

from catalogue.hours.periods import DAY, InvalidHoursError, Moment, Period, SpecialDay

_Item = TypeVar("_Item")


def format_time(minute: int) -> str:
    """Format a minute after any midnight as "HH:MM"."""
    return f"{minute % DAY // 60:02}:{minute % 60:02}"


_MINUTES = {format_time(minute): minute for minute in range(DAY)}


def write_periods(periods: tuple[Period, ...]) -> list[dict[str, Any]]:
    return [
        {"kind": period.kind, "open": _write_moment(period.opens), "close": _write_moment(period.closes)}
        for period in periods
    ]


def write_special_days(special_days: tuple[SpecialDay, ...]) -> list[dict[str, Any]]:
    return [{"date": special.date.isoformat(), "periods": write_spans(special.periods)} for special in special_days]


def write_spans(spans: tuple[tuple[int, int], ...]) -> list[dict[str, str]]:
    return [{"open": format_time(opens), "close": format_time(closes)} for opens, closes in spans]


def read_periods(value: object) -> tuple[Period, ...]:
    """Read weekly periods. A close at "24:00" is 00:00 of the next day. Raises InvalidHoursError."""
    return _each("periods", value, _read_period)


def read_special_days(value: object) -> tuple[SpecialDay, ...]:
    """Read special days. A close that is not after its open is on the next day. Raises InvalidHoursError."""
    return _each("special_days", value, _read_special_day)


def read_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidHoursError(f"{name}: a text is expected.")
    return value


def read_texts(name: str, value: object) -> tuple[str, ...]:
    return tuple(read_text(f"{name}[{index}]", each) for index, each in enumerate(_read_list(name, value)))


def read_flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidHoursError(f"{name}: true or false is expected.")
    return value


def _write_moment(moment: Moment) -> dict[str, Any]:
    return {"day": moment.day, "time": format_time(moment.minute)}


def _read_period(value: Mapping[str, Any]) -> Period:
    return Period(
        opens=_read_moment("open", value.get("open")),
        closes=_read_moment("close", value.get("close")),
        kind=read_text("kind", value.get("kind", "regular")),
    )


def _read_moment(name: str, value: object) -> Moment:
    if not isinstance(value, Mapping):
        raise InvalidHoursError(f"{name}: an object is expected.")
    day, minute = value.get("day"), _read_time(f"{name}.time", value.get("time"), is_close=name == "close")
    if type(day) is not int or not 0 <= day <= 6:
        raise InvalidHoursError(f"{name}.day: a number from 0 (Monday) to 6 is expected.")
    return Moment((day + minute // DAY) % 7, minute % DAY)


def _read_special_day(value: Mapping[str, Any]) -> SpecialDay:
    text = read_text("date", value.get("date"))
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise InvalidHoursError('date: "YYYY-MM-DD" is expected.') from error
    return SpecialDay(day, _each("periods", value.get("periods"), _read_span))


def _read_span(value: Mapping[str, Any]) -> tuple[int, int]:
    opens = _read_time("open", value.get("open"), is_close=False)
    closes = _read_time("close", value.get("close"), is_close=True)
    return opens, closes if closes > opens else closes + DAY


def _read_time(name: str, value: object, *, is_close: bool) -> int:
    minute = _MINUTES.get(value) if isinstance(value, str) else None
    if minute is not None:
        return minute
    if is_close and value == "24:00":
        return DAY
    raise InvalidHoursError(f'{name}: a time "HH:MM" is expected.')


def _read_list(name: str, value: object) -> Sequence[Any]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise InvalidHoursError(f"{name}: a list is expected.")
    return value


def _each(name: str, value: object, read: Callable[[Mapping[str, Any]], _Item]) -> tuple[_Item, ...]:
    """Apply `read` to each object of a list. Raises InvalidHoursError with the index."""
    items = []
    for index, item in enumerate(_read_list(name, value)):
        if not isinstance(item, Mapping):
            raise InvalidHoursError(f"{name}[{index}]: an object is expected.")
        try:
            items.append(read(item))
        except InvalidHoursError as error:
            raise InvalidHoursError(f"{name}[{index}].{error}") from error
    return tuple(items)

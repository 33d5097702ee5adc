"""Parse the OpenStreetMap opening_hours syntax, as far as restaurants use it, into rules."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from catalogue.hours.periods import DAY

EVERY_DAY = frozenset(range(7))
_LATE_OPENING = 22 * 60
_OPEN_END_LENGTH = 2 * 60

_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS = {name[:letters]: day for day, name in enumerate(_NAMES) for letters in (2, 3, None)}

_COMMENT = re.compile(r'"[^"]*"')
_DASH_TABLE = str.maketrans({"\N{EN DASH}": "-", "\N{EM DASH}": "-", "\N{MINUS SIGN}": "-"})
_CLOCK = r"\d{1,2}:\d{2}"
_SUN = r"(?:dawn|sunrise|sunset|dusk)"
_POINT = rf"(?:{_CLOCK}|{_SUN}|\({_SUN}[-+]{_CLOCK}\))"
_SPAN = rf"{_POINT}(?:\s*-\s*{_POINT})?\s*\+?"
_BODY = re.compile(
    rf"(?<![\d:])(?:24/7|{_SPAN}(?:\s*,\s*{_SPAN})*(?:\s*\bopen\b)?|\b(?:off|closed)\b)", re.IGNORECASE | re.ASCII
)
_CLOCK_SPAN = re.compile(r"(\d{1,2}):([0-5]\d)(?:-(\d{1,2}):([0-5]\d))?(\+?)", re.ASCII)
_DAY_RANGE = re.compile(r"([a-z]+)(?:\s*-\s*([a-z]+))?", re.IGNORECASE | re.ASCII)
_HOLIDAY = re.compile(r"\b[PS]H\b", re.IGNORECASE)
_PUBLIC_HOLIDAY = re.compile(r"(?:(?P<season>.+)\s)?PH(?:\s+(?P<days>[a-z][a-z\s,-]*))?", re.IGNORECASE | re.ASCII)


class UnreadableHoursError(ValueError):
    """The string cannot be interpreted with certainty."""


@dataclass(frozen=True, order=True)
class OsmInterval:
    """Minutes from the midnight of the opening day; `is_open_end` if the closing time is an estimate."""

    opens: int
    closes: int
    is_open_end: bool = False

    def __post_init__(self) -> None:
        if not (0 <= self.opens < DAY and self.opens < self.closes <= self.opens + DAY):
            raise UnreadableHoursError(f"Minutes {self.opens} to {self.closes} are not an interval of one day.")


@dataclass(frozen=True)
class Holidays:
    """The public holidays that a rule selects: those on these weekdays, and of a season ("Jul-Aug") if it names
    one.
    """

    weekdays: frozenset[int] = EVERY_DAY
    season: str = ""


@dataclass(frozen=True)
class Rule:
    """A rule: days and their intervals.

    `weekdays` is None if the days depend on the calendar: then `selector` names them. It is empty for a rule about
    `holidays` only, which are None for other rules. No `spans` means closed, unless the times depend on the `sun`,
    whose text is stored. `joined` is the separator before the rule: ";" replaces, "," adds, "||" applies to days
    without a rule. `left_out` are days that are not known (school holidays).
    """

    joined: Literal[";", ",", "||"]
    selector: str
    weekdays: frozenset[int] | None
    spans: tuple[OsmInterval, ...]
    sun: str = ""
    holidays: Holidays | None = None
    left_out: str = ""

    @property
    def is_off(self) -> bool:
        return not self.spans and not self.sun


@lru_cache(maxsize=4096)
def read_rules(text: str) -> tuple[Rule, ...]:
    """Return the rules of an opening_hours string in order, without comments.

    School holidays (SH) are left out, because their dates are not known. Raises UnreadableHoursError, also for days
    without times ("Tu-Sa"): the specification calls them open all day, but in practice their hours are missing.
    """
    rules: list[Rule] = []
    separator = ";"
    for part in re.split(r"(;|\|\|)", _COMMENT.sub(" ", text.translate(_DASH_TABLE))):
        if part in {";", "||"}:
            separator = part
        else:
            rules += _read_part(part, joined="||" if separator == "||" else ";")
    return tuple(rules)


def _read_part(part: str, *, joined: Literal[";", "||"]) -> list[Rule]:
    """Return the rules between two semicolons; all but the first follow a comma.

    In "Jul-Aug Mo-Fr 11:00-22:00, Sa 10:00-22:00" the season applies to Saturday too, as authors mean it, although the
    specification says otherwise.
    """
    rules: list[Rule] = []
    season = ""
    end = 0
    for body in _BODY.finditer(part):
        selector = part[end : body.start()].strip()
        if end and not selector.startswith(","):
            raise UnreadableHoursError(f'Nothing divides "{part[:end].strip()}" from what follows.')
        days = selector.strip(", ")
        if end and not days:
            raise UnreadableHoursError(f'It is not said which days are meant by "{body[0]}".')
        parsed = _read_selector(days)
        if not end:
            season = _season(parsed.days)
        elif season and _read_weekdays(parsed.days) is not None:
            parsed = parsed.within(season)
        rules.append(_read_rule(parsed, body[0], joined="," if end else joined))
        end = body.end()
    if part[end:].strip(", \t\n"):
        raise UnreadableHoursError(f'"{part[end:].strip()}" states no times.')
    return rules


@dataclass(frozen=True)
class _Selector:
    """The parts of a selector: days that are not holidays, public holidays, and unknown days."""

    days: str
    holidays: Holidays | None
    left_out: str

    def within(self, season: str) -> "_Selector":
        holidays = self.holidays and Holidays(self.holidays.weekdays, self.holidays.season or season)
        return _Selector(f"{season} {self.days}" if self.days else "", holidays, self.left_out)


def _read_selector(selector: str) -> _Selector:
    """Parse a selector: "Mo-Fr,PH" selects weekdays and holidays, "PH Mo-Fr" the holidays on these weekdays."""
    alone = _read_holidays(selector)
    if alone:
        return _Selector("", alone, "")
    items = [item.strip() for item in selector.split(",")]
    days_only = [item for item in items if not _HOLIDAY.search(item)]
    holiday_items = [(item, _read_holidays(item)) for item in items if _HOLIDAY.search(item)]
    if re.match(r"SH\s", selector, re.IGNORECASE):
        return _Selector("", None, selector)
    days = ", ".join(days_only)
    holidays = next((found for _, found in holiday_items if found), None)
    if holidays and not holidays.season:
        holidays = Holidays(holidays.weekdays, _season(days))
    return _Selector(days, holidays, ", ".join(item for item, found in holiday_items if not found))


def _read_holidays(item: str) -> Holidays | None:
    """Return the holidays that "PH", "PH Mo-Fr" or "Jul-Aug PH" selects; None for any other text."""
    match = _PUBLIC_HOLIDAY.fullmatch(item)
    if match is None or _HOLIDAY.search(match["season"] or ""):
        return None
    weekdays = _read_weekdays(match["days"]) if match["days"] else EVERY_DAY
    return None if weekdays is None else Holidays(weekdays, match["season"] or "")


def _read_rule(selector: _Selector, body: str, *, joined: Literal[";", ",", "||"]) -> Rule:
    uses_sun = re.search(_SUN, body, re.IGNORECASE) is not None
    has_no_days = not (selector.days or selector.holidays or selector.left_out)
    return Rule(
        joined=joined,
        selector=selector.days,
        weekdays=EVERY_DAY if has_no_days else _read_weekdays(selector.days) if selector.days else frozenset(),
        spans=() if uses_sun else _read_body(body),
        sun=body.lower() if uses_sun else "",
        holidays=selector.holidays,
        left_out=selector.left_out,
    )


def _season(selector: str) -> str:
    """Return the "Jul-Aug" of "Jul-Aug Mo-Fr", or an empty string."""
    if _read_weekdays(selector) is not None:
        return ""
    season, _, days = selector.rpartition(" ")
    return season if _read_weekdays(days) is not None else ""


def _read_weekdays(selector: str) -> frozenset[int] | None:
    """Return the weekdays, None if the selector has anything but weekdays and ranges of weekdays."""
    selected: set[int] = set()
    for item in selector.split(","):
        match = _DAY_RANGE.fullmatch(item.strip(": "))
        first = _DAYS.get(match[1].lower()) if match else None
        last = _DAYS.get((match[2] or match[1]).lower()) if match else None
        if first is None or last is None:
            return None
        selected.update((first + passed) % 7 for passed in range((last - first) % 7 + 1))
    return frozenset(selected)


def _read_body(body: str) -> tuple[OsmInterval, ...]:
    if body == "24/7":
        return (OsmInterval(0, DAY),)
    if body.lower() in {"off", "closed"}:
        return ()
    times = re.sub(r"\s|open", "", body, flags=re.IGNORECASE)
    return tuple(_read_span(span) for span in times.split(","))


def _read_span(span: str) -> OsmInterval:
    """Parse an interval. An open end closes at midnight, or two hours after opening if that is from 22:00 on."""
    match = _CLOCK_SPAN.fullmatch(span)
    if match is None:
        raise UnreadableHoursError(f'"{span}" is not an interval of time.')
    opens = int(match[1]) * 60 + int(match[2])
    is_open_end = bool(match[5])
    if match[3]:
        closes = int(match[3]) * 60 + int(match[4])
    elif is_open_end:
        closes = DAY if opens < _LATE_OPENING else opens + _OPEN_END_LENGTH
    else:
        raise UnreadableHoursError(f'"{span}" does not say until when.')
    return OsmInterval(opens, closes if closes > opens else closes + DAY, is_open_end)

"""The grammar of OpenStreetMap's opening_hours, as far as restaurants use it: text to rules."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from catalogue.hours.periods import DAY

EVERY_DAY = frozenset(range(7))
_LATE = 22 * 60
_LATE_LASTS = 2 * 60

_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS = {name[:letters]: day for day, name in enumerate(_NAMES) for letters in (2, 3, None)}

_COMMENT = re.compile(r'"[^"]*"')
_DASHES = str.maketrans({"\N{EN DASH}": "-", "\N{EM DASH}": "-", "\N{MINUS SIGN}": "-"})
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
    """The string says something that we cannot read for certain."""


@dataclass(frozen=True, order=True)
class Span:
    """Minutes from the midnight of the day that opens; `is_open_end` when the closing is our estimate."""

    opens: int
    closes: int
    is_open_end: bool = False

    def __post_init__(self) -> None:
        if not (0 <= self.opens < DAY and self.opens < self.closes <= self.opens + DAY):
            raise UnreadableHoursError(f"Minutes {self.opens} to {self.closes} are not a span of one day.")


@dataclass(frozen=True)
class Holidays:
    """The public holidays that a rule means: those on these weekdays, of a season ("Jul-Aug") where one is named."""

    weekdays: frozenset[int] = EVERY_DAY
    season: str = ""


@dataclass(frozen=True)
class Rule:
    """One rule: on which days, what holds.

    `weekdays` is None when only a calendar knows the days, which `selector` then names; it is empty when the rule is
    for `holidays` alone, which are None when it is not for them. No `spans` means closed, unless the times follow the
    `sun`, whose text is kept. `joined` is how it meets the rules before: ";" replaces, "," adds, "||" fills days that
    nothing before spoke of. `left_out` are its days that nobody knows.
    """

    joined: Literal[";", ",", "||"]
    selector: str
    weekdays: frozenset[int] | None
    spans: tuple[Span, ...]
    sun: str = ""
    holidays: Holidays | None = None
    left_out: str = ""

    @property
    def is_off(self) -> bool:
        return not self.spans and not self.sun


@lru_cache(maxsize=4096)
def read_rules(text: str) -> tuple[Rule, ...]:
    """The rules of an opening_hours string in order, without comments.

    School holidays (SH) are nobody's data, and left out. Raises UnreadableHoursError, also for days without times
    ("Tu-Sa") that the specification calls open all day: in practice they are hours nobody wrote down.
    """
    rules: list[Rule] = []
    separator = ";"
    for part in re.split(r"(;|\|\|)", _COMMENT.sub(" ", text.translate(_DASHES))):
        if part in {";", "||"}:
            separator = part
        else:
            rules += _read_part(part, joined="||" if separator == "||" else ";")
    return tuple(rules)


def _read_part(part: str, *, joined: Literal[";", "||"]) -> list[Rule]:
    """The rules between two semicolons, of which all but the first are joined by a comma.

    In "Jul-Aug Mo-Fr 11:00-22:00, Sa 10:00-22:00" the season is meant for Saturday too. The specification
    says otherwise; the people who write these strings do not.
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
        named = _named(days)
        if not end:
            season = _season(named.days)
        elif season and _read_weekdays(named.days) is not None:
            named = named.within(season)
        rules.append(_read_rule(named, body[0], joined="," if end else joined))
        end = body.end()
    if part[end:].strip(", \t\n"):
        raise UnreadableHoursError(f'"{part[end:].strip()}" states no times.')
    return rules


@dataclass(frozen=True)
class _Named:
    """The parts of a selector: days that are not holidays, public holidays, and what cannot be known."""

    days: str
    holidays: Holidays | None
    left_out: str

    def within(self, season: str) -> "_Named":
        holidays = self.holidays and Holidays(self.holidays.weekdays, self.holidays.season or season)
        return _Named(f"{season} {self.days}" if self.days else "", holidays, self.left_out)


def _named(selector: str) -> _Named:
    """ "Mo-Fr,PH" names weekdays and holidays, "PH Mo-Fr" the holidays that are such weekdays."""
    alone = _read_holidays(selector)
    if alone:
        return _Named("", alone, "")
    items = [item.strip() for item in selector.split(",")]
    kept = [item for item in items if not _HOLIDAY.search(item)]
    spoken = [(item, _read_holidays(item)) for item in items if _HOLIDAY.search(item)]
    if re.match(r"SH\s", selector, re.IGNORECASE):
        return _Named("", None, selector)
    days = ", ".join(kept)
    holidays = next((found for _, found in spoken if found), None)
    if holidays and not holidays.season:
        holidays = Holidays(holidays.weekdays, _season(days))
    return _Named(days, holidays, ", ".join(item for item, found in spoken if not found))


def _read_holidays(item: str) -> Holidays | None:
    """The holidays that "PH", "PH Mo-Fr" or "Jul-Aug PH" means; None where it means anything else."""
    match = _PUBLIC_HOLIDAY.fullmatch(item)
    if match is None or _HOLIDAY.search(match["season"] or ""):
        return None
    weekdays = _read_weekdays(match["days"]) if match["days"] else EVERY_DAY
    return None if weekdays is None else Holidays(weekdays, match["season"] or "")


def _read_rule(named: _Named, body: str, *, joined: Literal[";", ",", "||"]) -> Rule:
    is_sunny = re.search(_SUN, body, re.IGNORECASE) is not None
    says_no_days = not (named.days or named.holidays or named.left_out)
    return Rule(
        joined=joined,
        selector=named.days,
        weekdays=EVERY_DAY if says_no_days else _read_weekdays(named.days) if named.days else frozenset(),
        spans=() if is_sunny else _read_body(body),
        sun=body.lower() if is_sunny else "",
        holidays=named.holidays,
        left_out=named.left_out,
    )


def _season(selector: str) -> str:
    """The "Jul-Aug" of "Jul-Aug Mo-Fr", or nothing."""
    if _read_weekdays(selector) is not None:
        return ""
    season, _, days = selector.rpartition(" ")
    return season if _read_weekdays(days) is not None else ""


def _read_weekdays(selector: str) -> frozenset[int] | None:
    """None when a part of it is more than a weekday or a range of them."""
    chosen: set[int] = set()
    for item in selector.split(","):
        match = _DAY_RANGE.fullmatch(item.strip(": "))
        first = _DAYS.get(match[1].lower()) if match else None
        last = _DAYS.get((match[2] or match[1]).lower()) if match else None
        if first is None or last is None:
            return None
        chosen.update((first + passed) % 7 for passed in range((last - first) % 7 + 1))
    return frozenset(chosen)


def _read_body(body: str) -> tuple[Span, ...]:
    if body == "24/7":
        return (Span(0, DAY),)
    if body.lower() in {"off", "closed"}:
        return ()
    times = re.sub(r"\s|open", "", body, flags=re.IGNORECASE)
    return tuple(_read_span(span) for span in times.split(","))


def _read_span(span: str) -> Span:
    """An open end without a closing time is read as closing at midnight, or two hours after opening from 22:00 on."""
    match = _CLOCK_SPAN.fullmatch(span)
    if match is None:
        raise UnreadableHoursError(f'"{span}" is not a span of time.')
    opens = int(match[1]) * 60 + int(match[2])
    is_open_end = bool(match[5])
    if match[3]:
        closes = int(match[3]) * 60 + int(match[4])
    elif is_open_end:
        closes = DAY if opens < _LATE else opens + _LATE_LASTS
    else:
        raise UnreadableHoursError(f'"{span}" does not say until when.')
    return Span(opens, closes if closes > opens else closes + DAY, is_open_end)

"""Convert OpenStreetMap opening_hours strings to hours.

The library opening-hours-py computes the dates of seasons, week numbers and Easter, and hours by the sun. It gets one
rule at a time, never the whole string: where rules meet, it drops the hours after midnight of the day before.
"""

from collections.abc import Iterable, Sequence, Set
from datetime import date, datetime, time, timedelta
from itertools import chain
from zoneinfo import ZoneInfo

from opening_hours import OpeningHours, State, validate

from catalogue.hours.osm_grammar import EVERY_DAY, OsmInterval, Rule, UnreadableHoursError, read_rules
from catalogue.hours.periods import DAY, Moment, Period, SpecialDay
from catalogue.hours.schedule import Hours

HORIZON_DAYS = 60
_MINUTE = timedelta(minutes=1)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def read_osm(
    text: str,
    *,
    timezone: str,
    on: date,
    days: int = HORIZON_DAYS,
    point: tuple[float, float] | None = None,
    holidays: Set[date] = frozenset(),
) -> Hours:
    """Read an opening_hours string, which is stored in `osm`.

    Rules for weekdays become weekly periods. Rules for seasons, weeks, dates, Easter and public holidays become
    special days for the `days` from `on` where they differ from the week, so such hours must be read again later.
    Hours by the sun need the `point` (lat, lng). Comments are ignored, and school holidays are listed in `notes`.
    Hours are unknown if the string cannot be interpreted with certainty, or never says when the place is open, unless
    it is closed on every day.
    """
    try:
        rules = read_rules(text)
        week = [_weekly(rules, day) for day in range(7)]
        dates = [on + timedelta(days=passed) for passed in range(days)]
        special_days = _special_days(rules, week, timezone=timezone, dates=dates, point=point, holidays=holidays)
    except UnreadableHoursError as error:
        return Hours(timezone, (), (), osm=text, known=False, notes=(str(error),))
    left_out = tuple(f'"{rule.left_out}" is ignored: the dates are not known.' for rule in rules if rule.left_out)
    is_ever_open = any(not rule.is_off and rule.weekdays != frozenset() for rule in rules)
    is_always_off = EVERY_DAY.issubset(chain.from_iterable(rule.weekdays or () for rule in rules))
    if not (is_ever_open or is_always_off):
        notes = ("It never says when the place is open.", *left_out)
        return Hours(timezone, (), (), osm=text, known=False, notes=notes)
    return Hours(
        timezone,
        periods=tuple(_period(day, span) for day, spans in enumerate(week) for span in spans),
        special_days=special_days,
        osm=text,
        notes=left_out,
    )


def _weekly(rules: Sequence[Rule], day: int) -> list[OsmInterval]:
    """Return the intervals of a weekday by the rules that depend on weekdays only."""
    return _combined((rule, rule.spans) for rule in rules if not rule.sun and day in (rule.weekdays or ()))


def _special_days(
    rules: Sequence[Rule],
    week: list[list[OsmInterval]],
    *,
    timezone: str,
    dates: list[date],
    point: tuple[float, float] | None,
    holidays: Set[date],
) -> tuple[SpecialDay, ...]:
    """Return the dates that differ from the week; all dates if no rule is about weekdays."""
    upcoming = [day for day in dates if day in holidays]
    by_holiday = [_holidays_of(rule, upcoming) for rule in rules]
    if all(rule.weekdays is not None and not rule.sun for rule in rules) and not any(by_holiday):
        return ()
    if point is None and any(rule.sun for rule in rules):
        raise UnreadableHoursError("Hours by the sun need a place.")
    by_date = [
        _expand_dates(rule.selector, dates=dates)
        if rule.weekdays is None
        else {each for each in dates if each.weekday() in rule.weekdays}
        for rule in rules
    ]

    def intervals_of(rule: Rule, day: date) -> tuple[OsmInterval, ...]:
        return _sun_intervals(rule.sun, on=day, timezone=timezone, point=point) if rule.sun and point else rule.spans

    special_days = []
    for day in dates:
        has_holiday_rule = any(day in days for days in by_holiday)
        # Rules for holidays override rules for weekdays, in any order.
        applying = [
            rule
            for rule, days, of_holidays in zip(rules, by_date, by_holiday, strict=True)
            if day in of_holidays or (day in days and not (has_holiday_rule and rule.weekdays is not None))
        ]
        spans = _combined((rule, intervals_of(rule, day)) for rule in applying)
        if spans != week[day.weekday()] or not any(week):
            special_days.append(SpecialDay(day, tuple((span.opens, span.closes) for span in spans)))
    return tuple(special_days)


def _holidays_of(rule: Rule, holidays: list[date]) -> Set[date]:
    """Return those of the sorted holidays that a rule selects."""
    if rule.holidays is None or not holidays:
        return frozenset()
    selected = frozenset(day for day in holidays if day.weekday() in rule.holidays.weekdays)
    if not rule.holidays.season:
        return selected
    days = range((holidays[-1] - holidays[0]).days + 1)
    dates = [holidays[0] + timedelta(days=passed) for passed in days]
    return selected & _expand_dates(rule.holidays.season, dates=dates)


def _combined(applying: Iterable[tuple[Rule, tuple[OsmInterval, ...]]]) -> list[OsmInterval]:
    """Return the intervals of a day to which these rules apply, in their order."""
    spans: list[OsmInterval] = []
    is_decided = False
    for rule, intervals in applying:
        if rule.joined == "||" and is_decided:
            continue
        spans = [*spans, *intervals] if rule.joined == "," and not rule.is_off else list(intervals)
        is_decided = True
    return _merged(spans)


def _merged(spans: list[OsmInterval]) -> list[OsmInterval]:
    """Return the intervals sorted, and merged where they overlap or touch, up to 24 hours."""
    merged: list[OsmInterval] = []
    for span in sorted(spans):
        last = merged[-1] if merged else None
        if last and span.opens <= last.closes and span.closes <= last.opens + DAY:
            latest = max(last, span, key=lambda either: (either.closes, not either.is_open_end))
            merged[-1] = OsmInterval(last.opens, latest.closes, latest.is_open_end)
        else:
            merged.append(span)
    return merged


def _period(day: int, span: OsmInterval) -> Period:
    return Period(
        opens=Moment(day, span.opens),
        closes=Moment((day + span.closes // DAY) % 7, span.closes % DAY),
        kind="open_end" if span.is_open_end else "regular",
    )


def _expand_dates(selector: str, *, dates: list[date]) -> frozenset[date]:
    """Return those of the consecutive `dates` that "Dec 24-26", "week 30" or "Su[1]" selects."""
    expression = OpeningHours(_checked(f"{selector} 00:00-24:00"))
    start = datetime.combine(dates[0], time())
    selected: set[date] = set()
    for opens, closes, state, _ in expression.intervals(start, start + timedelta(days=len(dates))):
        if state == State.OPEN:
            selected.update(opens.date() + timedelta(days=passed) for passed in range((closes - opens).days))
    return frozenset(selected)


def _sun_intervals(times: str, *, on: date, timezone: str, point: tuple[float, float]) -> tuple[OsmInterval, ...]:
    """Return the intervals of "17:00-sunset" that begin on a date at a point (lat, lng)."""
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

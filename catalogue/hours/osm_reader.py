"""From OpenStreetMap's opening_hours to our hours."""

from collections.abc import Iterable, Sequence, Set
from datetime import date, timedelta
from itertools import chain

from catalogue.hours.osm_grammar import EVERY_DAY, Rule, Span, UnreadableHoursError, read_rules
from catalogue.hours.osm_seasons import dates_of, sun_spans
from catalogue.hours.periods import DAY, Moment, Period, SpecialDay
from catalogue.hours.schedule import Hours

HORIZON_DAYS = 60


def read_osm(
    text: str,
    *,
    timezone: str,
    on: date,
    days: int = HORIZON_DAYS,
    point: tuple[float, float] | None = None,
    holidays: Set[date] = frozenset(),
) -> Hours:
    """Read an opening_hours string; the string itself is kept in `osm`.

    Rules for weekdays become weekly periods. Rules for seasons, weeks, dates, Easter and public holidays become
    special days for the `days` from `on`, wherever they change what the week says: such hours have to be read again
    as time passes. Which dates are `holidays` is for the caller to know. Hours by the sun need the place's `point`
    (lat, lng). A comment promises nothing, and nobody knows the school holidays: `notes` say what was left out. What
    cannot be read for certain makes the hours unknown, and so does a string that never says when the place is open,
    unless it is closed on every day.
    """
    try:
        rules = read_rules(text)
        week = [_weekly(rules, day) for day in range(7)]
        dates = [on + timedelta(days=passed) for passed in range(days)]
        special_days = _special_days(rules, week, timezone=timezone, dates=dates, point=point, holidays=holidays)
    except UnreadableHoursError as error:
        return Hours(timezone, (), (), osm=text, known=False, notes=(str(error),))
    left_out = tuple(f'"{rule.left_out}" is left out: nobody knows these days.' for rule in rules if rule.left_out)
    is_ever_open = any(not rule.is_off and rule.weekdays != frozenset() for rule in rules)
    is_always_off = EVERY_DAY.issubset(chain.from_iterable(rule.weekdays or () for rule in rules))
    if not (is_ever_open or is_always_off):
        return Hours(
            timezone, (), (), osm=text, known=False, notes=("It never says when the place is open.", *left_out)
        )
    return Hours(
        timezone,
        periods=tuple(_period(day, span) for day, spans in enumerate(week) for span in spans),
        special_days=special_days,
        osm=text,
        notes=left_out,
    )


def _weekly(rules: Sequence[Rule], day: int) -> list[Span]:
    """What the rules for weekdays alone say about one."""
    return _combined((rule, rule.spans) for rule in rules if not rule.sun and day in (rule.weekdays or ()))


def _special_days(
    rules: Sequence[Rule],
    week: list[list[Span]],
    *,
    timezone: str,
    dates: list[date],
    point: tuple[float, float] | None,
    holidays: Set[date],
) -> tuple[SpecialDay, ...]:
    """The coming dates that differ from the week; all of them when the week says nothing."""
    coming = [day for day in dates if day in holidays]
    kept = [_holidays_of(rule, coming) for rule in rules]
    if all(rule.weekdays is not None and not rule.sun for rule in rules) and not any(kept):
        return ()
    if point is None and any(rule.sun for rule in rules):
        raise UnreadableHoursError("Hours by the sun need a place.")
    chosen = [
        dates_of(rule.selector, dates=dates)
        if rule.weekdays is None
        else {each for each in dates if each.weekday() in rule.weekdays}
        for rule in rules
    ]

    def stated(rule: Rule, day: date) -> tuple[Span, ...]:
        return sun_spans(rule.sun, on=day, timezone=timezone, point=point) if rule.sun and point else rule.spans

    special_days = []
    for day in dates:
        is_spoken_of = any(day in days for days in kept)
        # What is said of holidays outranks what is said of weekdays, in whatever order.
        applying = [
            rule
            for rule, days, of_holidays in zip(rules, chosen, kept, strict=True)
            if day in of_holidays or (day in days and not (is_spoken_of and rule.weekdays is not None))
        ]
        spans = _combined((rule, stated(rule, day)) for rule in applying)
        if spans != week[day.weekday()] or not any(week):
            special_days.append(SpecialDay(day, tuple((span.opens, span.closes) for span in spans)))
    return tuple(special_days)


def _holidays_of(rule: Rule, holidays: list[date]) -> Set[date]:
    """Those of these holidays, in their order, that a rule names as such."""
    if rule.holidays is None or not holidays:
        return frozenset()
    meant = frozenset(day for day in holidays if day.weekday() in rule.holidays.weekdays)
    if not rule.holidays.season:
        return meant
    whole = range((holidays[-1] - holidays[0]).days + 1)
    return meant & dates_of(rule.holidays.season, dates=[holidays[0] + timedelta(days=passed) for passed in whole])


def _combined(applying: Iterable[tuple[Rule, tuple[Span, ...]]]) -> list[Span]:
    """What holds on one day when these rules apply to it, in their order."""
    spans: list[Span] = []
    is_decided = False
    for rule, stated in applying:
        if rule.joined == "||" and is_decided:
            continue
        spans = [*spans, *stated] if rule.joined == "," and not rule.is_off else list(stated)
        is_decided = True
    return _merged(spans)


def _merged(spans: list[Span]) -> list[Span]:
    """Sorted, with what overlaps or touches made one while it stays within 24 hours."""
    merged: list[Span] = []
    for span in sorted(spans):
        last = merged[-1] if merged else None
        if last and span.opens <= last.closes and span.closes <= last.opens + DAY:
            latest = max(last, span, key=lambda either: (either.closes, not either.is_open_end))
            merged[-1] = Span(last.opens, latest.closes, latest.is_open_end)
        else:
            merged.append(span)
    return merged


def _period(day: int, span: Span) -> Period:
    return Period(
        opens=Moment(day, span.opens),
        closes=Moment((day + span.closes // DAY) % 7, span.closes % DAY),
        kind="open_end" if span.is_open_end else "regular",
    )

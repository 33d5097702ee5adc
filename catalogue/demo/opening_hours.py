"""Weekly opening hours of generated restaurants."""

import random
from functools import lru_cache

import orjson

from catalogue.hours import ALWAYS, Hours, Moment, Period, SpecialDay
from catalogue.hours.periods import DAY, WEEK

MONDAY, FRIDAY, SATURDAY, SUNDAY = 0, 4, 5, 6
# Opening and closing time in minutes from midnight. Closing times after midnight are above 1440.
Span = tuple[int, int]
# The spans of each day, from Monday on.
Week = tuple[tuple[Span, ...], ...]
ALWAYS_OPEN: Week = (((0, DAY),),) * 7


def _parse_span(text: str) -> Span:
    opens, closes = (int(hour) * 60 + int(minute) for hour, minute in (part.split(":") for part in text.split("-")))
    return opens, closes


# The names are those in words/cuisines.toml.
TEMPLATES = {
    name: [_parse_span(text) for text in texts.split()]
    for name, texts in {
        "two_services": "12:00-14:30 18:30-22:30",
        "all_day": "11:30-22:00",
        "dinner": "18:00-23:00",
        "dinner_closed_mondays": "18:00-23:30",
        "late": "17:00-25:00",
        "bar": "17:30-26:00",
        "pub": "12:00-23:30",
        "morning": "7:30-16:00",
        "daytime": "8:30-18:00",
        "daytime_late": "11:00-22:30",
        "lunch_only": "11:00-15:30",
        "breakfast_to_dinner": "8:00-23:00",
    }.items()
}
LATER_AT_WEEKENDS = {"dinner", "dinner_closed_mondays", "late", "bar", "pub"}
CLOSED_DAYS: dict[str, tuple[tuple[int, ...], ...]] = {
    "dinner_closed_mondays": ((MONDAY,), (MONDAY, SUNDAY), (MONDAY,)),
    "morning": ((), (), (SUNDAY,)),
}
DEFAULT_CLOSED_DAYS: tuple[tuple[int, ...], ...] = ((), (), (), (), (), (SUNDAY,), (MONDAY,))


def generate_week(template: str, rng: random.Random) -> Week:
    """Vary a template by half an hour, later closing on Friday and Saturday, and closed days."""
    if template == "always":
        return ALWAYS_OPEN
    shift = rng.choice((-30, 0, 0, 0, 30))
    spans = [(opens + shift, closes + shift) for opens, closes in TEMPLATES[template]]
    weekend_extension = rng.choice((0, 60, 60, 120)) if template in LATER_AT_WEEKENDS else 0
    closed_days = rng.choice(CLOSED_DAYS.get(template, DEFAULT_CLOSED_DAYS))
    opens, closes = spans[-1]
    weekend = (*spans[:-1], (opens, closes + weekend_extension))
    return tuple(
        () if day in closed_days else weekend if day in (FRIDAY, SATURDAY) else tuple(spans) for day in range(7)
    )


@lru_cache(maxsize=4096)
def hours_json(week: Week, timezone: str, special_days: tuple[SpecialDay, ...]) -> str:
    """Serialize a week and its special days as catalogue.hours.Hours."""
    periods = ALWAYS
    if week != ALWAYS_OPEN:
        periods = tuple(
            Period(_moment(day * DAY + opens), _moment(day * DAY + closes))
            for day, spans in enumerate(week)
            for opens, closes in spans
        )
    return orjson.dumps(Hours(timezone=timezone, periods=periods, special_days=special_days).to_json()).decode()


def _moment(minute: int) -> Moment:
    return Moment(*divmod(minute % WEEK, DAY))

"""Opening hours of generated restaurants: a few dozen believable weeks."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import orjson

from catalogue.hours import ALWAYS, Hours, Moment, Period, SpecialDay
from catalogue.hours.periods import DAY, WEEK

MONDAY, FRIDAY, SATURDAY, SUNDAY = 0, 4, 5, 6
Span = tuple[int, int]


@dataclass(frozen=True)
class Week:
    """Opening times as (opens, closes) in minutes from midnight, for each day from Monday on; closes may pass 1440."""

    days: tuple[tuple[Span, ...], ...]

    @property
    def always(self) -> bool:
        """Whether it never closes."""
        return all(day == ((0, DAY),) for day in self.days)

    def opening(self, day: int) -> int | None:
        """The minute at which the last period of a day begins, or None where the day is closed."""
        return self.days[day][-1][0] if self.days[day] else None


def week(kind: str, rng: random.Random) -> Week:
    """A week of a kind that cuisines.toml names, shifted by what one place differs from the next."""
    if kind == "always":
        return Week((((0, DAY),),) * 7)
    shift = rng.choice((-30, 0, 0, 0, 30))
    spans = [(opens + shift, closes + shift) for opens, closes in _SPANS[kind]]
    late = rng.choice((0, 60, 60, 120)) if kind in _LATER_AT_WEEKENDS else 0
    closed = rng.choice(_CLOSED[kind]) if kind in _CLOSED else rng.choice(_SOMETIMES_CLOSED)
    days = [list(spans) for _ in range(7)]
    for day in (FRIDAY, SATURDAY):
        opens, closes = days[day][-1]
        days[day][-1] = opens, closes + late
    for day in closed:
        days[day] = []
    return Week(tuple(tuple(day) for day in days))


@lru_cache(maxsize=4096)
def to_json(kept: Week, timezone: str, special_days: tuple[SpecialDay, ...]) -> str:
    """The week and its special days as the JSON text of catalogue.hours.Hours."""
    weekly = tuple(chain.from_iterable(_periods(day, spans) for day, spans in enumerate(kept.days)))
    hours = Hours(timezone=timezone, periods=ALWAYS if kept.always else weekly, special_days=special_days)
    return orjson.dumps(hours.to_json()).decode()


def _periods(day: int, spans: Sequence[Span]) -> list[Period]:
    return [Period(_moment(day * DAY + opens), _moment(day * DAY + closes)) for opens, closes in spans]


def _moment(minute: int) -> Moment:
    day, minute = divmod(minute % WEEK, DAY)
    return Moment(day, minute)


def _clock(text: str) -> Span:
    opens, closes = (int(hour) * 60 + int(minute) for hour, minute in (part.split(":") for part in text.split("-")))
    return opens, closes


_SPANS = {
    kind: [_clock(text) for text in texts.split()]
    for kind, texts in {
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
_LATER_AT_WEEKENDS = {"dinner", "dinner_closed_mondays", "late", "bar", "pub"}
_CLOSED: dict[str, tuple[tuple[int, ...], ...]] = {
    "dinner_closed_mondays": ((MONDAY,), (MONDAY, SUNDAY), (MONDAY,)),
    "morning": ((), (), (SUNDAY,)),
}
_SOMETIMES_CLOSED: tuple[tuple[int, ...], ...] = ((), (), (), (), (), (SUNDAY,), (MONDAY,))

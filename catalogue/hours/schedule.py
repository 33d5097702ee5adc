"""Opening hours of a place: open intervals, the state at a moment and its next change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from catalogue.hours import serialization
from catalogue.hours.local_time import to_instant
from catalogue.hours.periods import DAY, InvalidHoursError, Period, SpecialDay
from catalogue.hours.serialization import format_time

NEXT_CHANGE_WITHIN = timedelta(days=14)
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True)
class OpenState:
    """The state at a moment; `next_change` is in the place's time zone, None without one within 14 days."""

    state: Literal["open", "closed", "unknown"]
    open_now: bool | None
    next_change: datetime | None


def state_in(interval: tuple[datetime, datetime] | None, *, at: datetime, zone: ZoneInfo) -> OpenState:
    """Return the state by the current or next open interval, if there is one."""
    if interval is None:
        return OpenState("closed", open_now=False, next_change=None)
    opens, closes = interval
    is_open = opens <= at
    change = closes if is_open else opens
    return OpenState(
        "open" if is_open else "closed",
        open_now=is_open,
        next_change=change.astimezone(zone) if change < at + NEXT_CHANGE_WITHIN else None,
    )


@dataclass(frozen=True)
class Hours:
    """The opening hours of a place, in the local time of its `timezone`.

    `osm` is the string that they were read from, `notes` what was ignored in it. `known` is False if the hours are
    unknown, which is not the same as closed. Raises InvalidHoursError for an unknown zone or a date that is special
    twice.
    """

    timezone: str
    periods: tuple[Period, ...]
    special_days: tuple[SpecialDay, ...]
    osm: str | None = None
    known: bool = True
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        try:
            ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise InvalidHoursError(f'"{self.timezone}" is not a time zone.') from error
        if len({special.date for special in self.special_days}) < len(self.special_days):
            raise InvalidHoursError("special_days: a date is given twice.")

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read the `hours` of a record, without its computed members (display, state).

        Without `known`, hours without periods and special days are unknown. Raises InvalidHoursError.
        """
        periods = serialization.read_periods(value.get("periods"))
        special_days = serialization.read_special_days(value.get("special_days"))
        return cls(
            timezone=serialization.read_text("timezone", value.get("timezone")),
            periods=periods,
            special_days=special_days,
            osm=None if value.get("osm") is None else serialization.read_text("osm", value["osm"]),
            known=serialization.read_flag("known", value.get("known", bool(periods or special_days))),
            notes=serialization.read_texts("notes", value.get("notes")),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the `hours` of a record, without the members that depend on the time (state, open_now,
        next_change).
        """
        return {
            "timezone": self.timezone,
            "known": self.known,
            "periods": serialization.write_periods(self.periods),
            "special_days": serialization.write_special_days(self.special_days),
            "display": self.display,
            "osm": self.osm,
            **({"notes": list(self.notes)} if self.notes else {}),
        }

    @property
    def display(self) -> list[str]:
        """Lines such as "Mon-Thu 12:00-22:00"; none if the hours are unknown."""
        if not self.known:
            return []
        if self.special_days and not self.periods:
            return ["Varies by date"]
        return format_hours(self.periods)

    def spans(self, *, start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
        """Return the open intervals from `start` to `end`, merged, sorted and half-open, in UTC; none if unknown.

        They begin and end at the first instant at which the local time is reached: when clocks change, 18:00-02:00
        ends at the first 02:00, or at the moment of the skip.
        """
        start, end = _utc(start), _utc(end)
        return [(max(opens, start), min(closes, end)) for opens, closes in self._intervals(start, end)]

    def state(self, at: datetime) -> OpenState:
        """Return the state at a moment, and its next change within 14 days.

        Hours that consist of special days only (a season of OSM) are unknown after the last one.
        """
        at = _utc(at)
        zone = ZoneInfo(self.timezone)
        if not self.covers_date(at.astimezone(zone)):
            return OpenState("unknown", open_now=None, next_change=None)
        return state_in(next(self._intervals(at, at + NEXT_CHANGE_WITHIN), None), at=at, zone=zone)

    def covers_date(self, day: date) -> bool:
        """Whether the hours of a day are known: not after the last special day of hours without weekly periods."""
        return self.known and day.toordinal() <= self._horizon

    def _intervals(self, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
        """Return the merged intervals that overlap [start, end), not cut to it, in order."""
        if not self.known or start >= end:
            return
        zone = ZoneInfo(self.timezone)
        current: tuple[datetime, datetime] | None = None
        # From the day before, whose last interval may not be over.
        days = range(start.astimezone(zone).toordinal() - 1, end.astimezone(zone).toordinal() + 1)
        for day in days:
            for opens_minute, closes_minute in self._special.get(day, self._week[(day - 1) % 7]):
                opens, closes = to_instant(zone, day, opens_minute), to_instant(zone, day, closes_minute)
                if closes <= start or opens >= end or opens == closes:
                    continue
                if current is None:
                    current = opens, closes
                elif opens <= current[1]:
                    current = current[0], max(current[1], closes)
                else:
                    yield current
                    current = opens, closes
        if current is not None:
            yield current

    @cached_property
    def _week(self) -> list[list[tuple[int, int]]]:
        """The sorted (opens, closes) of each weekday, in minutes from midnight."""
        week: list[list[tuple[int, int]]] = [[] for _ in range(7)]
        for period in self.periods:
            for day, opens, closes in period.split_by_day():
                week[day].append((opens, closes))
        for spans in week:
            spans.sort()
        return week

    @cached_property
    def _special(self) -> dict[int, list[tuple[int, int]]]:
        return {special.date.toordinal(): sorted(special.periods) for special in self.special_days}

    @cached_property
    def _horizon(self) -> float:
        """The ordinal of the last day whose hours are known."""
        return max(self._special) if self._special and not self.periods else float("inf")


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    return moment.astimezone(UTC)


def format_hours(periods: tuple[Period, ...]) -> list[str]:
    """Return a line for each run of equal days, from Monday: "Mon-Thu 12:00-22:00", "Fri 12:00-02:00", "Sun
    closed".
    """
    week: list[list[tuple[int, int, str]]] = [[] for _ in range(7)]
    for period in periods:
        for day, opens, closes in period.split_by_day():
            week[day].append((opens, closes, " or later" if period.kind == "open_end" else ""))
    texts = [", ".join(_format_interval(*interval) for interval in sorted(day)) or "closed" for day in week]
    lines = []
    for text, run in groupby(range(7), key=lambda day: texts[day]):
        days = list(run)
        name = WEEKDAYS[days[0]] if len(days) == 1 else f"{WEEKDAYS[days[0]]}-{WEEKDAYS[days[-1]]}"
        lines.append(f"{'Every day' if len(days) == 7 else name} {text}")
    return lines


def _format_interval(opens: int, closes: int, ending: str) -> str:
    if (opens, closes) == (0, DAY):
        return "open 24 hours"
    until = "24:00" if closes == DAY else format_time(closes)
    return f"{format_time(opens)}-{until}{ending}"

"""When a place is open: spans of time, the state at a moment and its next change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from catalogue.hours import formatting, serialization
from catalogue.hours.local_time import instant
from catalogue.hours.periods import InvalidHoursError, Period, SpecialDay

LOOK_AHEAD = timedelta(days=14)


@dataclass(frozen=True)
class State:
    """Open or not at a moment; `next_change` is in the place's zone, None when none is in sight."""

    state: Literal["open", "closed", "unknown"]
    open_now: bool | None
    next_change: datetime | None


@dataclass(frozen=True)
class Hours:
    """The opening hours of one place, on the wall clock of its `timezone`.

    `osm` keeps the string they were read from, `notes` what could not be read of it. `known` is False when nobody
    could say: not the same as closed. Raises InvalidHoursError for an unknown zone or a date that is special twice.
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
        """Read the `hours` of a record; what is computed in it (display, state) is ignored.

        Without `known`, hours that state nothing are unknown. Raises InvalidHoursError naming the wrong part.
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
        """Write the `hours` of a record, without what depends on the moment (state, open_now, next_change)."""
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
        """Lines for people, equal days together: "Mon-Thu 12:00-22:00"; none when the hours are unknown."""
        if not self.known:
            return []
        if self.special_days and not self.periods:
            return ["Varies by date"]
        return formatting.lines(self.periods)

    def spans(self, *, start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
        """The open time from `start` to `end` as merged, sorted, half-open spans in UTC; none when unknown.

        Opening and closing are the first instants at which the local clock reads their time or later: across a
        clock change, 18:00-02:00 ends at the first 02:00, or at the moment of the skip that swallowed it.
        """
        start, end = _utc(start), _utc(end)
        return [(max(opens, start), min(closes, end)) for opens, closes in self._openings(start, end)]

    def state(self, at: datetime) -> State:
        """Open, closed or unknown at `at`, and when that changes within the 14 days that follow.

        Hours made of special days alone (a season read from OSM) are unknown after the last of them.
        """
        at = _utc(at)
        zone = ZoneInfo(self.timezone)
        if not self.speaks_of(at.astimezone(zone)):
            return State("unknown", open_now=None, next_change=None)
        end = at + LOOK_AHEAD
        opens, closes = next(self._openings(at, end), (end, end))
        is_open = opens <= at
        change = closes if is_open else opens
        return State(
            "open" if is_open else "closed",
            open_now=is_open,
            next_change=change.astimezone(zone) if change < end else None,
        )

    def speaks_of(self, day: date) -> bool:
        """Whether it can be told when the place is open on a day: not after the last of special days alone."""
        return self.known and day.toordinal() <= self._horizon

    def _openings(self, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
        """Merged spans that touch [start, end), not cut to it, in order."""
        if not self.known or start >= end:
            return
        zone = ZoneInfo(self.timezone)
        held: tuple[datetime, datetime] | None = None
        # From the day before, whose tail may still run.
        days = range(start.astimezone(zone).toordinal() - 1, end.astimezone(zone).toordinal() + 1)
        for day in days:
            for opens_minute, closes_minute in self._special.get(day, self._week[(day - 1) % 7]):
                opens, closes = instant(zone, day, opens_minute), instant(zone, day, closes_minute)
                if closes <= start or opens >= end or opens == closes:
                    continue
                if held is None:
                    held = opens, closes
                elif opens <= held[1]:
                    held = held[0], max(held[1], closes)
                else:
                    yield held
                    held = opens, closes
        if held is not None:
            yield held

    @cached_property
    def _week(self) -> list[list[tuple[int, int]]]:
        """Per weekday the sorted (opens, closes) in minutes from its midnight."""
        week: list[list[tuple[int, int]]] = [[] for _ in range(7)]
        for period in self.periods:
            for day, opens, closes in period.by_day():
                week[day].append((opens, closes))
        for spans in week:
            spans.sort()
        return week

    @cached_property
    def _special(self) -> dict[int, list[tuple[int, int]]]:
        return {special.date.toordinal(): sorted(special.periods) for special in self.special_days}

    @cached_property
    def _horizon(self) -> float:
        """The last ordinal that these hours speak of."""
        return max(self._special) if self._special and not self.periods else float("inf")


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("A moment needs its zone.")
    return moment.astimezone(UTC)

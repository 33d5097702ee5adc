"""The parts of opening hours: a moment of the week, a weekly period, a dated exception."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

DAY = 1440
WEEK = 7 * DAY

KINDS = ("regular", "open_end")


class InvalidHoursError(ValueError):
    """The given hours contradict themselves; the message says where."""


@dataclass(frozen=True)
class Moment:
    """A minute of the week: `day` 0 (Monday) to 6, `minute` 0 to 1439 of the local wall clock."""

    day: int
    minute: int

    def __post_init__(self) -> None:
        if not (0 <= self.day <= 6 and 0 <= self.minute < DAY):
            raise InvalidHoursError(f"day {self.day}, minute {self.minute} is not a moment of the week.")

    @property
    def of_week(self) -> int:
        """Minutes since Monday 00:00."""
        return self.day * DAY + self.minute


@dataclass(frozen=True)
class Period:
    """A weekly opening, which belongs with its tail after midnight to the day that opened.

    Friday 18:00-02:00 closes at day 5, minute 120. A period that closes at the very moment it opens lasts the
    whole week; one longer than 24 hours belongs to each day it runs through. `kind` is "regular", or
    "open_end" where only the opening is promised ("18:00+") and the closing is an estimate; both count as open.
    """

    opens: Moment
    closes: Moment
    kind: str = "regular"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidHoursError(f'kind: "{self.kind}" is not one of {", ".join(KINDS)}.')

    @property
    def length(self) -> int:
        """Minutes on the wall clock, 1 to 10080."""
        return (self.closes.of_week - self.opens.of_week) % WEEK or WEEK

    def by_day(self) -> Iterator[tuple[int, int, int]]:
        """The (weekday, opens, closes) it consists of, in minutes from that day's midnight, each at most 24 hours."""
        day, opens, closes = self.opens.day, self.opens.minute, self.opens.minute + self.length
        if self.length <= DAY:
            yield day, opens, closes
            return
        while closes > 0:
            yield day, opens, min(closes, DAY)
            day, opens, closes = (day + 1) % 7, 0, closes - DAY


@dataclass(frozen=True)
class SpecialDay:
    """What replaces the regular periods that open on `date`; no periods means closed.

    Periods are (opens, closes) in minutes from that date's local midnight; `closes` may pass 1440, at most
    24 hours after `opens`. The tail of the evening before is that day's and stays.
    """

    date: date
    periods: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        for opens, closes in self.periods:
            if not (0 <= opens < DAY and opens < closes <= opens + DAY):
                raise InvalidHoursError(f"{self.date}: minutes {opens} to {closes} are not a period of one day.")


ALWAYS = tuple(Period(Moment(day, 0), Moment((day + 1) % 7, 0)) for day in range(7))
"""Round the clock: one period a day, so that a special day can replace its own."""

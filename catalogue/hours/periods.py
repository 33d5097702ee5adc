"""The parts of opening hours: moments of the week, weekly periods and dated exceptions."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

DAY = 1440
WEEK = 7 * DAY

KINDS = ("regular", "open_end")


class InvalidHoursError(ValueError):
    """The hours are invalid; the message names the part."""


@dataclass(frozen=True)
class Moment:
    """A minute of the week in local time: `day` 0 (Monday) to 6, `minute` 0 to 1439."""

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
    """A weekly period, which belongs to the day on which it opens, even after midnight.

    Friday 18:00-02:00 closes at day 5, minute 120. A period that closes at the moment at which it opens lasts the
    whole week, and one longer than 24 hours belongs to each of its days. `kind` is "regular", or "open_end" if the
    closing time is an estimate ("18:00+").
    """

    opens: Moment
    closes: Moment
    kind: str = "regular"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidHoursError(f'kind: "{self.kind}" is not one of {", ".join(KINDS)}.')

    @property
    def length(self) -> int:
        """The length in minutes of local time, 1 to 10080."""
        return (self.closes.of_week - self.opens.of_week) % WEEK or WEEK

    def split_by_day(self) -> Iterator[tuple[int, int, int]]:
        """Split into (weekday, opens, closes) of at most 24 hours, in minutes from the midnight of the weekday."""
        day, opens, closes = self.opens.day, self.opens.minute, self.opens.minute + self.length
        if self.length <= DAY:
            yield day, opens, closes
            return
        while closes > 0:
            yield day, opens, min(closes, DAY)
            day, opens, closes = (day + 1) % 7, 0, closes - DAY


@dataclass(frozen=True)
class SpecialDay:
    """Periods that replace the weekly ones that open on `date`; no periods means closed.

    Periods are (opens, closes) in minutes from local midnight; `closes` may exceed 1440, up to 24 hours after `opens`.
    A period of the day before that ends after midnight is not replaced.
    """

    date: date
    periods: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        for opens, closes in self.periods:
            if not (0 <= opens < DAY and opens < closes <= opens + DAY):
                raise InvalidHoursError(f"{self.date}: minutes {opens} to {closes} are not a period of one day.")


ALWAYS = tuple(Period(Moment(day, 0), Moment((day + 1) % 7, 0)) for day in range(7))
"""Open 24/7: one period a day, so that a special day can replace it."""

"""The days of a generated world, counted back from its today."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from catalogue.hours import SpecialDay

YEARS = 3 * 365


@dataclass(frozen=True)
class Calendar:
    """Three years and some weeks that end with yesterday, as the text of their dates; the index 0 is the oldest."""

    today: date

    @cached_property
    def dates(self) -> tuple[str, ...]:
        return tuple(str(self.today - timedelta(days=ago)) for ago in range(YEARS + 30, 0, -1))

    @cached_property
    def first(self) -> int:
        """The first day on which anything is written down; visits may lie before."""
        return len(self.dates) - YEARS

    @cached_property
    def last(self) -> int:
        return len(self.dates) - 1

    @cached_property
    def holidays(self) -> tuple[tuple[SpecialDay, ...], ...]:
        """On which days of the coming year places stay closed: none for most, one or two for some."""
        christmas, new_year = self._next(12, 25), self._next(1, 1)
        return (
            (),
            (),
            (),
            (SpecialDay(christmas, ()),),
            tuple(SpecialDay(day, ()) for day in sorted((christmas, new_year))),
        )

    def _next(self, month: int, day: int) -> date:
        this_year = date(self.today.year, month, day)
        return this_year if this_year >= self.today else date(self.today.year + 1, month, day)

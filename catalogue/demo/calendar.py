"""The dates that generated rows use, counted back from a given today."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from catalogue.hours import SpecialDay

THREE_YEARS = 3 * 365


@dataclass(frozen=True)
class Calendar:
    """About three years of days. Rows refer to a day by its index in `dates`."""

    today: date

    @cached_property
    def dates(self) -> tuple[str, ...]:
        """ISO dates, oldest first, up to yesterday."""
        return tuple(str(self.today - timedelta(days=ago)) for ago in range(THREE_YEARS + 30, 0, -1))

    @cached_property
    def first(self) -> int:
        """Index of the first day on which rows are created. Visits may lie up to 30 days before."""
        return len(self.dates) - THREE_YEARS

    @cached_property
    def last(self) -> int:
        """Index of yesterday."""
        return len(self.dates) - 1

    @cached_property
    def holiday_choices(self) -> tuple[tuple[SpecialDay, ...], ...]:
        """Closed days in the coming year, to choose from for a restaurant: none, Christmas, or also New Year."""

        def next_date(month: int, day: int) -> date:
            this_year = self.today.replace(month=month, day=day)
            return this_year if this_year >= self.today else this_year.replace(year=self.today.year + 1)

        christmas, new_year = SpecialDay(next_date(12, 25), ()), SpecialDay(next_date(1, 1), ())
        both = sorted((christmas, new_year), key=lambda special: special.date)
        return (), (), (), (christmas,), tuple(both)

"""Charts of the overview that compare days and hours with those of a week before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from framework.charts import Column, Layout, bar_chart

WEEK = timedelta(days=7)
CHART = Layout(width=400, height=170, left=12, right=14, top=10, bottom=24, max_labels=24)
DIGIT_WIDTH = 8
Value = Decimal | int


@dataclass(frozen=True, slots=True)
class Compared:
    """A day or an hour: its name, its label on the axis, its value, and the value a week before."""

    name: str
    label: str
    value: Value
    before: Value
    is_unfinished: bool = False


def last_seven_days(today: date) -> list[date]:
    return [today - timedelta(days=back) for back in range(6, -1, -1)]


def compare_days(today: date, values: Callable[[date], Value]) -> list[Compared]:
    """Compare the last seven days with the seven before."""
    return [
        Compared(date_format(day, "l j M"), date_format(day, "D"), values(day), values(day - WEEK), day == today)
        for day in last_seven_days(today)
    ]


def compare_hours(now: Callable[[int], Value], before: Callable[[int], Value]) -> list[Compared]:
    """Compare the hours of a day with those a week before, from the first to the last with a value."""
    busy = [hour for hour in range(24) if now(hour) or before(hour)]
    hours = range(min(busy, default=0), max(busy, default=-1) + 1)
    # More labels would run into each other.
    labelled_every = 4 if len(hours) > 8 else 2 if len(hours) > 4 else 1
    return [
        Compared(f"{hour:02}:00", "" if hour % labelled_every else f"{hour:02}:00", now(hour), before(hour))
        for hour in hours
    ]


def build_chart(title: str, rows: Sequence[Compared], *, format_value: Callable[[Value], str]) -> dict[str, Any]:
    """Return the context of accounts/week_chart.html: the chart, its sums, and the rows of its table."""
    columns = [
        Column(
            _("%(name)s: %(value)s, a week before %(before)s")
            % {"name": row.name, "value": format_value(row.value), "before": format_value(row.before)},
            row.label,
            [("a unfinished" if row.is_unfinished else "a", row.value)],
            row.before or None,
        )
        for row in rows
    ]
    highest = max([Decimal(0), *(Decimal(value) for row in rows for value in (row.value, row.before))])
    layout = replace(CHART, left=CHART.left + DIGIT_WIDTH * len(f"{highest:.0f}0"))
    return {
        "title": title,
        "chart": bar_chart(columns, layout, whole_numbers=True) if highest else None,
        "value": format_value(sum(row.value for row in rows)),
        "before": format_value(sum(row.before for row in rows)),
        "rows": [(row.name, format_value(row.value), format_value(row.before)) for row in rows],
    }

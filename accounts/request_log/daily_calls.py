"""The calls of the management API by day, of all venues: for the status page and the back office."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from accounts.models import ApiCallCount
from framework.cache import CachedValue
from framework.charts import BarChart, Column, Layout, bar_chart

HISTORY_DAYS, HISTORY_TTL_S = 30, 600.0
# From this share of calls on, server errors make a day bad.
BAD_SHARE = 0.01
CHART = Layout(width=620, height=190, left=44, top=10, bottom=24, max_labels=6)


@dataclass(frozen=True, slots=True)
class Day:
    """The calls of a day in UTC, and how many were answered with 5xx."""

    date: date
    calls: int = 0
    server_errors: int = 0

    @property
    def state(self) -> str:
        """The style of its bar on the status page."""
        if not self.calls:
            return "none"
        if not self.server_errors:
            return "good"
        return "bad" if self.server_errors >= self.calls * BAD_SHARE else "warn"

    @property
    def percent(self) -> str:
        return format_answered([self])


def format_answered(days: Sequence[Day]) -> str:
    """Return the percentage of calls without a server error, rounded down: 100 only if there was none."""
    calls, failed = sum(day.calls for day in days), sum(day.server_errors for day in days)
    return f"{math.floor((calls - failed) / calls * 10_000) / 100:g}" if calls else ""


def load_history() -> list[Day]:
    """Return the last 30 days, the oldest first, as the request log counted their calls. One query."""
    today = timezone.now().astimezone(UTC).date()
    first = today - timedelta(days=HISTORY_DAYS - 1)
    rows = (
        ApiCallCount.objects.filter(hour__gte=datetime.combine(first, time(), UTC))
        .values_list(TruncDate("hour", tzinfo=UTC))
        .annotate(calls=Sum("calls"), failed=Sum("server_errors"))
    )
    counts = {day: (calls, failed) for day, calls, failed in rows}
    days = (first + timedelta(days=number) for number in range(HISTORY_DAYS))
    return [Day(day, *counts.get(day, (0, 0))) for day in days]


cached_history = CachedValue(load_history)


def draw_history(days: Sequence[Day]) -> BarChart:
    """Draw the calls of each day; server errors stand on top."""
    columns = [
        Column(
            f"{day.date:%-d %b}: {day.calls:,} calls, {day.server_errors:,} server errors",
            f"{day.date:%-d %b}",
            [("a", day.calls - day.server_errors), ("b", day.server_errors)],
        )
        for day in days
    ]
    return bar_chart(columns, CHART, whole_numbers=True)

"""The status page: what /readyz tells programs, for people, and the answers of the last 30 days."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import ApiCallCount
from framework.cache import CachedValue
from framework.observability.health import component_states, overall_status

# Of this web process.
STARTED_AT = timezone.now()


HISTORY_DAYS, HISTORY_TTL_S = 30, 600.0
# From this share of calls on, the day of the history is red.
BAD_SHARE = 0.01

# What needs the database, for people who know the product by its pages; the web process that answers here serves all.
PRODUCTS = (
    ("APIs", "Management API, data API and agents"),
    ("Dashboard", "Order board, reservations and settings"),
    ("Booking and ordering pages", "What guests use"),
)


def describe_services(states: Mapping[str, str]) -> list[dict[str, str | bool]]:
    """Return the name and the description of each product and of each service behind it, and whether it is up."""
    has_database, has_counters = states["database"] == "ok", states["counters"] == "ok"
    rows = [(name, line, has_database) for name, line in PRODUCTS]
    rows.append(("Database", "Orders, reservations and restaurant data", has_database))
    rows.append(("Rate limits", "Counters of calls, and sessions", has_counters))
    return [{"name": name, "line": line, "is_up": is_up} for name, line, is_up in rows]


@dataclass(frozen=True, slots=True)
class Day:
    """The calls of the management API on a day in UTC, and how many were answered with 5xx."""

    date: date
    calls: int = 0
    server_errors: int = 0

    @property
    def state(self) -> str:
        """The style of its bar."""
        if not self.calls:
            return "none"
        if not self.server_errors:
            return "good"
        return "bad" if self.server_errors >= self.calls * BAD_SHARE else "warn"

    @property
    def percent(self) -> str:
        return format_answered([self])


def format_answered(days: Sequence[Day]) -> str:
    """Return the percentage of calls without a server error: 100 only if there was none."""
    calls, failed = sum(day.calls for day in days), sum(day.server_errors for day in days)
    # Rounded down.
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


@never_cache
@require_safe
def show_status(request: HttpRequest) -> HttpResponse:
    """The state of each service; 503 without the database, as /readyz."""
    states = component_states()
    status = overall_status(states)
    has_database = states["database"] == "ok"
    history = (cached_history.get_or_stale(max_age_s=HISTORY_TTL_S) if has_database else None) or []
    context = {
        "history": history if any(day.calls for day in history) else [],
        "answered": format_answered(history),
        "errors": [day for day in reversed(history) if day.server_errors],
        "status": status,
        "services": describe_services(states),
        "checked_at": timezone.now(),
        "started_at": STARTED_AT,
    }
    return render(request, "landing/status.html", context, status=503 if status == "away" else 200)

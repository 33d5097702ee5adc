"""The status page: what /readyz tells programs, for people, and the answers of the last 30 days."""

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.request_log.daily_calls import HISTORY_TTL_S, cached_history, format_answered
from framework.observability.health import component_states, overall_status

# Of this web process.
STARTED_AT = timezone.now()


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
    rows.append(("Rate limits", "Limits of calls, and new sign-ins", has_counters))
    return [{"name": name, "line": line, "is_up": is_up} for name, line, is_up in rows]


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

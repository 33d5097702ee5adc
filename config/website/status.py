"""The status page: what /readyz tells programs, for people."""

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from framework.observability.health import component_states, overall_status

# Of this web process.
STARTED_AT = timezone.now()


# What needs the database, for people who know the product by its pages; the web process that answers here serves all.
PRODUCTS = (
    ("APIs", "Management API, data API and agents"),
    ("Dashboard", "Order board, reservations and settings"),
    ("Booking and ordering pages", "What guests use"),
)


def describe_services(states: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the name, the description and the state of each product and of each service behind it."""
    has_database, has_counters = states["database"] == "ok", states["counters"] == "ok"
    state = "Operational" if has_database else "Unavailable"
    rows = [(name, line, state) for name, line in PRODUCTS]
    rows.append(("Database", "Orders, reservations and restaurant data", state))
    rows.append(("Rate limits", "Counters of calls, and sessions", "Operational" if has_counters else "Unavailable"))
    return [{"name": name, "line": line, "state": state} for name, line, state in rows]


@never_cache
@require_safe
def show_status(request: HttpRequest) -> HttpResponse:
    """The state of each service; 503 without the database, as /readyz."""
    states = component_states()
    status = overall_status(states)
    context = {
        "status": status,
        "services": describe_services(states),
        "checked_at": timezone.now(),
        "started_at": STARTED_AT,
    }
    return render(request, "landing/status.html", context, status=503 if status == "away" else 200)

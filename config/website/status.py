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


def describe_services(states: Mapping[str, str]) -> list[dict[str, str | bool]]:
    """Return the name and the description of each product and of each service behind it, and whether it is up."""
    has_database, has_counters = states["database"] == "ok", states["counters"] == "ok"
    rows = [(name, line, has_database) for name, line in PRODUCTS]
    rows.append(("Database", "Orders, reservations and restaurant data", has_database))
    rows.append(("Rate limits", "Counters of calls, and sessions", has_counters))
    return [{"name": name, "line": line, "is_up": is_up} for name, line, is_up in rows]


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

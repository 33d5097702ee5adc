"""The status page: what /readyz tells programs, for people."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from framework.observability.health import component_states, overall_status

# Of this web process.
STARTED_AT = timezone.now()


@never_cache
@require_safe
def show_status(request: HttpRequest) -> HttpResponse:
    """The state of each service; 503 without the database, as /readyz."""
    states = component_states()
    status = overall_status(states)
    context = {"status": status, "states": states, "checked_at": timezone.now(), "started_at": STARTED_AT}
    return render(request, "landing/status.html", context, status=503 if status == "away" else 200)

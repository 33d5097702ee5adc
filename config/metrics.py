"""/metrics, for Prometheus: who may read it."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from framework.local_client import is_local_client
from payments.observability import counters, ledger_collector


@never_cache
@require_safe
def serve(request: HttpRequest) -> HttpResponse:
    """The series, for a client with METRICS_TOKEN; where that is unset, for clients on this machine only."""
    if settings.METRICS_TOKEN:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not constant_time_compare(token.strip(), settings.METRICS_TOKEN):
            refused = HttpResponse("Show METRICS_TOKEN as Authorization: Bearer.\n", "text/plain", 401)
            refused["WWW-Authenticate"] = "Bearer"
            return refused
    elif not is_local_client(request):
        return HttpResponse("Only this machine may read this. Set METRICS_TOKEN.\n", "text/plain", 403)
    return HttpResponse(counters.render() + ledger_collector.render(), CONTENT_TYPE_PLAIN_0_0_4)

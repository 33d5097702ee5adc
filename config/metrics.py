"""/metrics, for Prometheus: who may read it."""

import hmac
import ipaddress
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from payments.observability import counters, ledger_collector

# By any of these a request says that somebody has passed it on.
PASSED_ON = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA", "HTTP_X_FORWARDED_HOST")


@never_cache
@require_safe
def serve(request: HttpRequest) -> HttpResponse:
    """The series, to who shows the token; where there is none, to who asks from this machine itself."""
    if settings.METRICS_TOKEN:
        if not shows_token(request):
            refused = HttpResponse("Show METRICS_TOKEN as Authorization: Bearer.\n", "text/plain", 401)
            refused["WWW-Authenticate"] = "Bearer"
            return refused
    elif not is_from_here(request):
        return HttpResponse("Only this machine may read this. Set METRICS_TOKEN.\n", "text/plain", 403)
    return HttpResponse(counters.render() + ledger_collector.render(), CONTENT_TYPE_PLAIN_0_0_4)


def shows_token(request: HttpRequest) -> bool:
    """Whether the request comes with our token, compared in the same time whatever it is."""
    scheme, _, shown = request.headers.get("Authorization", "").partition(" ")
    is_it = hmac.compare_digest(shown.strip().encode(), settings.METRICS_TOKEN.encode())
    return scheme.lower() == "bearer" and is_it


def is_from_here(request: HttpRequest) -> bool:
    """Whether somebody on this machine asks, and no proxy on it for somebody else.

    Some proxies say nothing of whom they ask for: an installation that is reached by another address than loopback is
    taken to have one.
    """
    if any(name in request.META for name in PASSED_ON):
        return False
    public = urlsplit(settings.PUBLIC_BASE_URL).hostname or ""
    return all(is_loopback(address) for address in (request.META.get("REMOTE_ADDR", ""), public))


def is_loopback(host: str) -> bool:
    """Whether the name or address is of this machine itself."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host == "localhost"
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address.is_loopback

"""Whether a request comes from this machine itself."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from framework.http_client import is_loopback

# Headers that a proxy adds to a request that it forwards.
PROXY_HEADERS = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA", "HTTP_X_FORWARDED_HOST")


def is_local_client(request: HttpRequest) -> bool:
    """Whether the client is on this machine, and is no proxy for somebody else.

    Some proxies add no header: an installation whose public URL is not loopback is taken to have one.
    """
    if any(name in request.META for name in PROXY_HEADERS):
        return False
    public = urlsplit(settings.PUBLIC_BASE_URL).hostname or ""
    return is_loopback(request.META.get("REMOTE_ADDR", "")) and is_loopback(public)

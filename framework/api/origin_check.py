"""The Origin check of the MCP endpoint: pages of other sites must not use a client that runs on the user's machine."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host


def is_allowed_origin(origin: str | None) -> bool:
    """Whether a page with this Origin may call. Programs send none; our own pages come from ALLOWED_HOSTS, any port.

    `*` in ALLOWED_HOSTS matches no origin: then only MCP_ALLOWED_ORIGINS may call.
    """
    if origin is None or origin in settings.MCP_ALLOWED_ORIGINS:
        return True
    try:
        url = urlsplit(origin)
        host, port = url.hostname or "", url.port
    except ValueError:
        return False
    name = f"[{host}]" if ":" in host else host
    # Exactly what a browser writes: no user name, no path.
    is_plain = origin.lower() == f"{url.scheme}://{name}{'' if port is None else f':{port}'}"
    hosts = [allowed for allowed in settings.ALLOWED_HOSTS if allowed != "*"]
    return is_plain and url.scheme in ("http", "https") and bool(host) and validate_host(name, hosts)

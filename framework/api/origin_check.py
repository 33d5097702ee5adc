"""Pages that may call an address meant for programs that somebody runs themselves: ours, and those that are named."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host


def is_allowed_origin(origin: str | None) -> bool:
    """Whether a page with this Origin may call; programs send none, and our own pages come from one of our hosts.

    Of our hosts any port is ours. Where ALLOWED_HOSTS is `*` none is known, and only what is named may call.
    """
    if origin is None or origin in settings.MCP_ALLOWED_ORIGINS:
        return True
    try:
        told = urlsplit(origin)
        host, port = told.hostname or "", told.port
    except ValueError:
        return False
    name = f"[{host}]" if ":" in host else host
    # Just what a browser writes: without a name, a path or anything else.
    is_plain = origin.lower() == f"{told.scheme}://{name}{'' if port is None else f':{port}'}"
    ours = [one for one in settings.ALLOWED_HOSTS if one != "*"]
    return is_plain and told.scheme in ("http", "https") and bool(host) and validate_host(name, ours)

"""Redirect URIs: which may be registered, and which equal a registered one."""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from framework.errors import InvalidRequest

MAX_URIS = 10
MAX_LENGTH = 500
# Browsers execute or display these, or send them to a host without TLS.
FORBIDDEN_SCHEMES = frozenset(
    (
        *("about", "blob", "chrome", "data", "file", "filesystem", "ftp", "javascript", "mailto", "vbscript"),
        *("view-source", "ws", "wss", "intent", "search-ms", "tel", "sms"),
    )
)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
LOOPBACK_HOSTS = ("127.0.0.1", "::1", "localhost")


def is_forbidden(scheme: str) -> bool:
    """Whether browsers execute the scheme, or hand it to a program of the system, as those of Windows: `ms-word:`."""
    return scheme in FORBIDDEN_SCHEMES or scheme.startswith("ms-")


class InvalidRedirectUri(InvalidRequest):
    """The URI cannot be registered."""


def check_uri(uri: str) -> None:
    """Raise InvalidRedirectUri unless the URI is https, http to this machine, or of a scheme that an app owns."""
    if len(uri) > MAX_LENGTH or not re.fullmatch(r"[!-~]+", uri) or re.search(r'[\\"<>#*]', uri):
        raise InvalidRedirectUri(
            _("A redirect URI has at most %(number)s ASCII characters, and no fragment.") % {"number": MAX_LENGTH}
        )
    try:
        parts = urlsplit(uri)
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidRedirectUri(_("This is not a valid URI.")) from error
    if "@" in parts.netloc or not SCHEME.fullmatch(uri.partition(":")[0]) or is_forbidden(parts.scheme):
        raise InvalidRedirectUri(_("A redirect URI is https, http on this machine, or has a scheme of the app's own."))
    if parts.scheme in ("http", "https") and not host:
        raise InvalidRedirectUri(_("A redirect URI has a host."))
    if parts.scheme == "http" and host not in LOOPBACK_HOSTS:
        raise InvalidRedirectUri(_("A redirect URI with http leads to this machine: http://127.0.0.1/callback."))


def check_uris(uris: Iterable[str]) -> list[str]:
    """Return the different URIs. Raises InvalidRedirectUri."""
    found = list(dict.fromkeys(uris))
    if len(found) > MAX_URIS:
        raise InvalidRedirectUri(_("An app has at most %(number)s redirect URIs.") % {"number": MAX_URIS})
    for uri in found:
        check_uri(uri)
    return found


def is_registered(uri: str, registered: Iterable[str]) -> bool:
    """Whether the URI equals a registered one, character by character; on this machine with any port (RFC 8252)."""
    return any(uri == other or _differ_by_port(uri, other) for other in registered)


def _differ_by_port(uri: str, registered: str) -> bool:
    try:
        asked, known = urlsplit(uri), urlsplit(registered)
        port = asked.port
    except ValueError:
        return False
    if known.scheme != "http" or known.hostname not in LOOPBACK_HOSTS or port == 0:
        return False
    host = f"[{known.hostname}]" if ":" in known.hostname and ip_address(known.hostname) else known.hostname
    authority = host if port is None else f"{host}:{port}"
    # Put together again: whatever the parser has ignored makes the difference.
    return uri == f"http://{authority}{registered.removeprefix(f'http://{known.netloc}')}"

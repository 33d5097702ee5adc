"""The domain of this installation, by which agents name its server and its payment handlers."""

import ipaddress
import re
from urllib.parse import urlsplit

from django.conf import settings

INVALID_HOST_CHARACTERS = re.compile(r"[^a-z0-9.-]")


def host() -> str:
    """The public host name, with the characters that server names may have."""
    name = (urlsplit(settings.PUBLIC_BASE_URL).hostname or "localhost").encode("idna").decode()
    return INVALID_HOST_CHARACTERS.sub("-", name)


def namespace(domain: str) -> str:
    """A domain in reverse order: `com.example.api`. IP addresses are unchanged."""
    try:
        ipaddress.ip_address(domain)
    except ValueError:
        return ".".join(reversed(domain.split(".")))
    return domain

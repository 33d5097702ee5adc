"""Whether an installation is public."""

import ipaddress
from urllib.parse import urlsplit

from django.conf import settings

# Suffixes of host names that public DNS does not have.
PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


def is_public() -> bool:
    """Whether PUBLIC_BASE_URL is https, or its host is a public domain name or address."""
    address = urlsplit(settings.PUBLIC_BASE_URL)
    host = address.hostname or ""
    try:
        ip = ipaddress.ip_address(host)
        is_private = ip.is_private or ip.is_loopback
    except ValueError:
        is_private = "." not in host or host.endswith(PRIVATE_SUFFIXES)
    return address.scheme == "https" or not is_private

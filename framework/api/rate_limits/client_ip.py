"""The caller's IP address behind trusted proxies, and the rate-limit bucket of an address."""

import ipaddress
import re
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest

from framework.api.rate_limits.counter import hash_bucket

# Some proxies write the caller's port too: 192.0.2.1:5000, [2001:db8::1]:5000.
WITH_PORT = re.compile(r"^(?:\[(.+)\]|([^:]+))(?::[0-9]+)?$")


def peer_address(request: HttpRequest) -> str:
    """The caller's address as the peer, or the trusted proxies, wrote it."""
    address: str = request.META.get("REMOTE_ADDR") or "0.0.0.0"  # noqa: S104  # no peer: one bucket for all of them
    hops = settings.TRUSTED_PROXIES
    if hops:
        forwarded = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if hop.strip()]
        if len(forwarded) >= hops:
            address = WITH_PORT.sub(r"\1\2", forwarded[-hops])
    return address


def client_ip(request: HttpRequest) -> str | None:
    """The caller's IP address, without a zone; None if a proxy wrote something else."""
    return _parse_ip(peer_address(request))


@lru_cache(maxsize=4096)
def _parse_ip(address: str) -> str | None:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(parsed)


def client_network(request: HttpRequest) -> str:
    """What anonymous callers are counted by: the address; for IPv6 the /64, which one customer holds whole."""
    address = client_ip(request)
    if address is None:
        return peer_address(request)
    if ":" in address:
        return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    return address


def address_bucket(request: HttpRequest) -> str:
    """The bucket of callers that have no credential."""
    return _hash_address(client_network(request))


@lru_cache(maxsize=4096)
def _hash_address(address: str) -> str:
    return hash_bucket(address)

"""The address on which the web server listens, and the host names by which clients may reach it."""

import ipaddress
import socket
from contextlib import suppress

from framework.state_directory import StackError

# The wildcard addresses, and the addresses by which this machine reaches a server on them.
LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound
# Addresses reserved for documentation: connecting a datagram socket to one finds the route and sends nothing.
DOCUMENTATION_ADDRESSES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


def resolve(host: str) -> str:
    """The IP address of a name or an address, IPv4 before IPv6. Raises StackError for an unknown name."""
    try:
        found = _addresses(host)
    except (OSError, UnicodeError):
        raise StackError(f"The host {host!r} is unknown: --host takes an address or a name of this machine.") from None
    return min(found, key=lambda address: (":" in address, address))


def allowed_hosts(*, host: str, address: str) -> set[str]:
    """The entries of ALLOWED_HOSTS for a server on `address`, which was given as `host`.

    On a wildcard address these are the names of this machine, their addresses, and those of its outgoing interfaces.
    """
    found = {host, address}
    if address in LOOPBACK:
        found |= {socket.gethostname(), socket.getfqdn()}
        for name in tuple(found):
            with suppress(OSError, UnicodeError):
                found |= _addresses(name)
        for family, remote in DOCUMENTATION_ADDRESSES:
            with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((remote, 9))
                found.add(probe.getsockname()[0])
    # Browsers omit the interface of a link-local address (fe80::1%eth0).
    return {url_host(name.partition("%")[0]) for name in found}


def url_host(host: str) -> str:
    """A host as it is written in a URL: IPv6 in brackets."""
    try:
        return f"[{host}]" if ipaddress.ip_address(host).version == 6 else host
    except ValueError:
        return host


def _addresses(name: str) -> set[str]:
    return {str(entry[4][0]) for entry in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)}

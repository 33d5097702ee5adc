"""Where the web server listens, and by which names it is then asked."""

import ipaddress
import socket
from contextlib import suppress

from config.dev_stack import StackError

# The addresses that stand for all of the machine's, and where the machine itself reaches them.
LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound
# Addresses for documentation, which nobody has: asking for the way there sends nothing.
FAR_AWAY = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


def resolve(host: str) -> str:
    """The IP address of a name, IPv4 before IPv6; an address stays as it is. Raises StackError for an unknown name."""
    try:
        found = _addresses(host)
    except (OSError, UnicodeError):
        raise StackError(f"The host {host!r} is unknown: --host takes an address or a name of this machine.") from None
    return min(found, key=lambda address: (":" in address, address))


def names(*, host: str, address: str) -> set[str]:
    """The entries of ALLOWED_HOSTS by which a server on `address`, given as `host`, is asked.

    On all addresses it answers to the names of this machine and to the addresses that they, and the way out, show.
    """
    found = {host, address}
    if address in LOOPBACK:
        found |= {socket.gethostname(), socket.getfqdn()}
        for name in tuple(found):
            with suppress(OSError, UnicodeError):
                found |= _addresses(name)
        for family, far in FAR_AWAY:
            with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((far, 9))
                found.add(probe.getsockname()[0])
    # A browser leaves out the interface that follows a link's own address (fe80::1%eth0).
    return {in_url(name.partition("%")[0]) for name in found}


def in_url(host: str) -> str:
    """A host as it stands in an address: IPv6 in brackets."""
    try:
        return f"[{host}]" if ipaddress.ip_address(host).version == 6 else host
    except ValueError:
        return host


def _addresses(name: str) -> set[str]:
    return {str(entry[4][0]) for entry in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)}

"""Where a webhook may go: which addresses are taken, and the only way by which a connection is opened.

A customer names the address, and our workers stand inside a network of ours. So the name is looked up once, all that
it leads to is judged, and the connection goes to an address that was judged: a name that answers differently a moment
later changes nothing.
"""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import httpcore
from django.conf import settings

from framework.errors import InvalidRequest

LONGEST_URL = 500
PORTS = {"http": 80, "https": 443}
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")

# IANA's registries of special-purpose addresses, and Azure's channel to its machines, which is outside of them.
NEVER_V4 = [
    IPv4Network(block)
    for block in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",
    )
]
# Of IPv6 only what is given out to networks: so the mapped, translated (NAT64) and local forms are out, and the two
# tunnels (Teredo is in 2001::/23, 6to4 is 2002::/16) and the blocks for examples are named.
UNICAST_V6 = IPv6Network("2000::/3")
NEVER_V6 = [
    IPv6Network(block) for block in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
]

Address = IPv4Address | IPv6Address
# What a name leads to: may raise OSError, and is given up when time is over.
Resolver = Callable[[str, int], Iterable[str]]


class BadDestination(InvalidRequest):
    """An address that no webhook may have."""


class Forbidden(Exception):
    """A name leads to where no webhook may go. The message is for the customer: it tells nothing of our network."""


@dataclass(frozen=True, slots=True)
class Destination:
    """The parts of an address that was judged by its looks. `host` is as it stands in the Host header."""

    scheme: str
    host: str
    port: int
    target: str


def read(url: str) -> Destination:
    """Take an address apart. Raises BadDestination for what no webhook may go to; asks no network.

    What is read here is what is connected to: the parts are handed on, and no other reader of addresses has a say.
    """
    if len(url) > LONGEST_URL or not re.fullmatch(r"[!-~]+", url) or "\\" in url:
        raise BadDestination(
            f"An address has at most {LONGEST_URL} characters, all of ASCII: write other letters of a host as xn--…,"
            " those of a path with %.",
            param="url",
        )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise BadDestination("This cannot be read as an address.", param="url") from error
    if parts.scheme not in PORTS:
        raise BadDestination("An address begins with https:// or http://.", param="url")
    if "[" in parts.netloc and not re.fullmatch(r"\[[^\]]*\](:[0-9]*)?", parts.netloc):
        raise BadDestination("Around an IPv6 address in brackets there is a port at most.", param="url")
    if "@" in parts.netloc:
        raise BadDestination("An address has no user and no password: the signature says who we are.", param="url")
    port = PORTS[parts.scheme] if port is None else port
    if port not in PORTS.values() and port < 1024:
        raise BadDestination("The port is 80, 443 or above 1023.", param="url")
    judge_host(host, bracketed="[" in parts.netloc)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Destination(parts.scheme, f"[{host}]" if ":" in host else host, port, target)


def judge_host(host: str, *, bracketed: bool) -> None:
    """Judge a host by its looks. Raises BadDestination."""
    labels = host.split(".")
    # Numbers in other forms (octal, hexadecimal, fewer than four) are an address to some readers and a name to others.
    if bracketed or re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):
        try:
            address = ip_address(host)
        except ValueError as error:
            raise BadDestination("A host is a name, or an IP address in its usual form.", param="url") from error
        if not is_allowed(address):
            raise BadDestination("This IP address is not on the public internet.", param="url")
        return
    if len(host) > 253 or not all(LABEL.fullmatch(label) for label in labels):
        raise BadDestination(
            "The host is no name that could be looked up; write it without a dot at its end.", param="url"
        )
    if host == "localhost" and settings.WEBHOOKS_TO_LOOPBACK:
        return
    if len(labels) == 1 or labels[-1] in ("localhost", "localdomain", "local", "internal"):
        raise BadDestination("The host is a name of the public internet: hooks.example.com.", param="url")


def is_allowed(address: Address) -> bool:
    """Whether a webhook may go there: it is given out on the public internet, or loopback in development."""
    if isinstance(address, IPv6Address):
        if address == IPv6Address("::1"):
            return bool(settings.WEBHOOKS_TO_LOOPBACK)
        # A zone names an interface of our machine.
        return address.scope_id is None and address in UNICAST_V6 and not any(address in block for block in NEVER_V6)
    if address.is_loopback:
        return bool(settings.WEBHOOKS_TO_LOOPBACK)
    return not any(address in block for block in NEVER_V4)


def look_up(host: str, port: int) -> list[str]:
    """What the system's resolver says. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(where[0]) for *_, where in found))


def judged(host: str, port: int, *, resolver: Resolver, timeout_s: float) -> list[Address]:
    """The addresses that a host leads to, all of which are allowed. Raises Forbidden, OSError and TimeoutError.

    One that is not allowed spoils them all: a name of the public internet has no reason to lead to one.
    """
    answers: SimpleQueue[list[str] | OSError] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(list(resolver(host, port)))
        except OSError as error:
            answers.put(error)
        except UnicodeError:
            answers.put(OSError("this is no name"))

    # The resolver of the system knows no timeout: who waits goes on, and the thread ends when it has its answer.
    threading.Thread(target=ask, daemon=True).start()
    try:
        found = answers.get(timeout=max(0.0, timeout_s))
    except Empty:
        raise TimeoutError from None
    if isinstance(found, OSError):
        raise found
    addresses = [ip_address(one) for one in found]
    if not addresses:
        raise OSError("the name leads nowhere")
    if not all(is_allowed(address) for address in addresses):
        raise Forbidden(f"{host} leads to an address that is not on the public internet")
    return addresses


class Stream(httpcore.NetworkStream):
    """A connection that ends at its deadline, however few bytes come at a time."""

    def __init__(self, connection: socket.socket, *, deadline: float) -> None:
        self.connection = connection
        self.deadline = deadline

    def wait_at_most(self) -> None:
        """Let the next step have what is left. Raises TimeoutError when nothing is."""
        self.connection.settimeout(left(self.deadline))

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Some bytes, or none at the end."""
        self.wait_at_most()
        return self.connection.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """All of them."""
        try:
            while buffer:
                self.wait_at_most()
                buffer = buffer[self.connection.send(buffer) :]
        except TimeoutError:
            raise
        except OSError as error:
            # So httpcore still reads what was answered by a server that did not want the rest.
            raise httpcore.WriteError(str(error)) from error

    def close(self) -> None:
        """End it."""
        self.connection.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Speak TLS from here on, with the name that was asked for."""
        self.wait_at_most()
        return Stream(
            ssl_context.wrap_socket(self.connection, server_hostname=(server_hostname or "").strip("[]")),
            deadline=self.deadline,
        )

    def get_extra_info(self, info: str) -> Any:
        """httpcore asks whether HTTP/2 was agreed on: never."""
        return None


class Guard(httpcore.NetworkBackend):
    """Opens the connections of webhooks: looks a name up, judges what it leads to, and goes there and nowhere else."""

    def __init__(self, *, deadline: float, resolver: Resolver = look_up) -> None:
        self.deadline = deadline
        self.resolver = resolver

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to the first of the addresses that takes it. Raises Forbidden and OSError."""
        host = host.strip("[]")
        addresses = judged(host, port, resolver=self.resolver, timeout_s=left(self.deadline))
        for position, address in enumerate(addresses):
            share = left(self.deadline) / (len(addresses) - position)
            try:
                connection = socket.create_connection((str(address), port), timeout=share)
            except OSError:
                if position == len(addresses) - 1:
                    raise
            else:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return Stream(connection, deadline=self.deadline)
        raise OSError("the name leads nowhere")

    def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Nothing of ours is reached by a path."""
        raise Forbidden("no webhook goes to a socket of the machine")


def left(deadline: float) -> float:
    """Seconds until the deadline, on the monotonic clock. Raises TimeoutError when there are none."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds

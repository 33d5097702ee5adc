"""SSRF protection of webhooks: validates URLs, and opens connections to public addresses only.

Customers choose the URLs, and our workers run inside our network. So a host is resolved once, all of its addresses
are checked, and the connection goes to one of the checked addresses. A later DNS answer (DNS rebinding) has no effect.
"""

import re
import socket
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import urlsplit

import httpcore
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from accounts.webhooks import address_limit
from framework.errors import InvalidRequest
from framework.resilience.deadline import Deadline

MAX_URL_LENGTH = 500
PORTS = {"http": 80, "https": 443}
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")

# IANA's registries of special-purpose addresses, and the platform address of Azure, which is not in them.
FORBIDDEN_V4 = [
    IPv4Network(block)
    for block in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",
    )
]
# Of IPv6 only global unicast: this excludes the mapped, translated (NAT64) and local forms. The two tunnels (Teredo is
# in 2001::/23, 6to4 is 2002::/16) and the documentation blocks are listed.
UNICAST_V6 = IPv6Network("2000::/3")
FORBIDDEN_V6 = [
    IPv6Network(block) for block in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
]

Address = IPv4Address | IPv6Address
# Returns the addresses of a host and port. May raise OSError; it is abandoned at the timeout.
Resolver = Callable[[str, int], Iterable[str]]


class InvalidWebhookUrl(InvalidRequest):
    """The URL is malformed or not allowed."""


class AddressForbidden(Exception):
    """A host resolves to a forbidden address. The message is for the customer and reveals nothing of our network."""


def parse_url(url: str, *, max_length: int = MAX_URL_LENGTH) -> httpcore.URL:
    """Parse and validate a URL, without the network. Raises InvalidWebhookUrl.

    The connection uses these parts: no second URL parser could read the URL differently.
    """
    if len(url) > max_length or not re.fullmatch(r"[!-~]+", url) or "\\" in url:
        raise InvalidWebhookUrl(
            _(
                "A URL has at most %(number)s ASCII characters: write other characters of a host as xn--…, those of a"
                " path with %%."
            )
            % {"number": max_length},
            param="url",
        )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise InvalidWebhookUrl(_("This is not a valid URL."), param="url") from error
    if parts.scheme not in PORTS:
        raise InvalidWebhookUrl(_("A URL starts with https:// or http://."), param="url")
    if "[" in parts.netloc and not re.fullmatch(r"\[[^\]]*\](:[0-9]*)?", parts.netloc):
        raise InvalidWebhookUrl(_("Only a port may follow an IPv6 address in brackets."), param="url")
    if "@" in parts.netloc:
        raise InvalidWebhookUrl(
            _("A URL must not contain a user or password: verify the signature instead."), param="url"
        )
    port = PORTS[parts.scheme] if port is None else port
    if port not in PORTS.values() and port < 1024:
        raise InvalidWebhookUrl(_("The port must be 80, 443 or above 1023."), param="url")
    check_host(host, bracketed="[" in parts.netloc)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = f"[{host}]" if ":" in host else host
    return httpcore.URL(scheme=parts.scheme, host=host, port=port, target=target)


def validate_url(url: str) -> None:
    """Raise ValidationError for a URL that `parse_url` rejects: the validator of form fields."""
    try:
        parse_url(url)
    except InvalidWebhookUrl as error:
        raise ValidationError(error.message) from error


def check_host(host: str, *, bracketed: bool) -> None:
    """Check the syntax of a host, and a literal address. Raises InvalidWebhookUrl."""
    labels = host.split(".")
    # Some parsers read other number forms (octal, hexadecimal, fewer than four parts) as an address, others as a name.
    if bracketed or re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):
        try:
            address = ip_address(host)
        except ValueError as error:
            raise InvalidWebhookUrl(_("A host is a name, or an IP address in its usual form."), param="url") from error
        if not is_allowed(address):
            raise InvalidWebhookUrl(_("This IP address is not on the public internet."), param="url")
        return
    if len(host) > 253 or not all(LABEL.fullmatch(label) for label in labels):
        raise InvalidWebhookUrl(_("The host is not a valid DNS name; write it without a trailing dot."), param="url")
    if host == "localhost" and settings.WEBHOOKS_TO_LOOPBACK:
        return
    if len(labels) == 1 or labels[-1] in ("localhost", "localdomain", "local", "internal"):
        raise InvalidWebhookUrl(_("The host must be a public DNS name, such as hooks.example.com."), param="url")


def is_allowed(address: Address) -> bool:
    """Whether the address is public, or loopback in development."""
    if isinstance(address, IPv6Address):
        if address == IPv6Address("::1"):
            return bool(settings.WEBHOOKS_TO_LOOPBACK)
        # A zone id names an interface of this machine.
        return (
            address.scope_id is None and address in UNICAST_V6 and not any(address in block for block in FORBIDDEN_V6)
        )
    if address.is_loopback:
        return bool(settings.WEBHOOKS_TO_LOOPBACK)
    return not any(address in block for block in FORBIDDEN_V4)


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses from the system's resolver. Raises OSError."""
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in infos))


def resolve_allowed(host: str, port: int, *, resolver: Resolver, timeout_s: float) -> list[Address]:
    """Return the addresses of a host, all of them allowed. Raises AddressForbidden, OSError and TimeoutError.

    One forbidden address rejects the host: a public name has no reason to resolve to one.
    """
    answer: Future[list[str]] = Future()

    def resolve_name() -> None:
        try:
            answer.set_result(list(resolver(host, port)))
        except (OSError, UnicodeError) as error:
            answer.set_exception(error)

    # The system's resolver has no timeout. The caller stops waiting, and the thread ends with the answer.
    threading.Thread(target=resolve_name, daemon=True).start()
    try:
        addresses = [ip_address(text) for text in answer.result(timeout=max(0.0, timeout_s))]
    except UnicodeError as error:
        raise OSError("this is not a valid name") from error
    if not addresses:
        raise OSError("the name has no address")
    if not all(is_allowed(address) for address in addresses):
        raise AddressForbidden(f"{host} resolves to an address that is not on the public internet")
    return addresses


class DeadlineStream(httpcore.NetworkStream):
    """A connection that ends at its deadline, even if single bytes keep arriving."""

    def __init__(self, connection: socket.socket, *, deadline: Deadline) -> None:
        self.connection = connection
        self.deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.connection.settimeout(self.deadline.timeout_s())
        return self.connection.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            while buffer:
                self.connection.settimeout(self.deadline.timeout_s())
                buffer = buffer[self.connection.send(buffer) :]
        except TimeoutError:
            raise
        except OSError as error:
            # With this error httpcore still reads the response of a server that closed the connection early.
            raise httpcore.WriteError(str(error)) from error

    def close(self) -> None:
        self.connection.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        self.connection.settimeout(self.deadline.timeout_s())
        return DeadlineStream(
            ssl_context.wrap_socket(self.connection, server_hostname=(server_hostname or "").strip("[]")),
            deadline=self.deadline,
        )

    def get_extra_info(self, info: str) -> Any:
        return None  # httpcore asks for the protocol: never HTTP/2


class GuardedBackend(httpcore.NetworkBackend):
    """Opens connections to checked addresses only."""

    def __init__(self, *, deadline: Deadline, resolver: Resolver = resolve, policy: str = "webhooks") -> None:
        self.deadline = deadline
        self.policy = policy
        self.resolver = resolver

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that accepts. Raises AddressForbidden, AddressBusy and OSError."""
        host = host.strip("[]")
        addresses = resolve_allowed(host, port, resolver=self.resolver, timeout_s=self.deadline.timeout_s())
        for position, address in enumerate(addresses):
            address_limit.check(str(address), policy=self.policy)
            share = self.deadline.timeout_s() / (len(addresses) - position)
            try:
                connection = socket.create_connection((str(address), port), timeout=share)
            except OSError:
                if position == len(addresses) - 1:
                    raise
            else:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return DeadlineStream(connection, deadline=self.deadline)
        raise OSError("the name has no address")

    def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.NetworkStream:
        raise AddressForbidden("webhooks do not use Unix sockets")

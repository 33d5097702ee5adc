"""Calls of other servers: which hosts are this machine, and an httpx client that threads and forks can share."""

import ipaddress
import os
import threading
from typing import Any

import httpx

# httpx mounts: services on this machine are not called through a proxy of the environment.
NO_PROXY_TO_LOOPBACK = dict.fromkeys(("all://127.0.0.1", "all://localhost", "all://[::1]"))


def is_loopback(host: str) -> bool:
    """Whether the host name or address is of this machine itself; also an IPv4 address within IPv6."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host == "localhost"
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


class SharedClient:
    """One httpx client with these options per process, created at the first call.

    A forked child creates its own: two processes cannot share a connection.
    """

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.reset()
        os.register_at_fork(after_in_child=self.reset)

    def reset(self) -> None:
        """Drop the client without closing its connections, which may belong to the parent process."""
        self._lock = threading.Lock()
        self.client: httpx.Client | None = None

    def get(self) -> httpx.Client:
        """Return the client of this process."""
        with self._lock:
            if self.client is None:
                self.client = self.new()
            return self.client

    def new(self) -> httpx.Client:
        """Return a client with the same options and no open connection."""
        return httpx.Client(mounts=NO_PROXY_TO_LOOPBACK, **self.options)

"""An httpx client whose connections stay open between calls, safe across threads and forks."""

import os
import threading
from typing import Any

import httpx

# httpx mounts: services on this machine are not called through a proxy of the environment.
NO_PROXY_TO_LOOPBACK = dict.fromkeys(("all://127.0.0.1", "all://localhost", "all://[::1]"))


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

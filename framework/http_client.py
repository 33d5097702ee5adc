"""The connections that a process keeps alive between its calls of one service."""

import os
import threading
from typing import Any

import httpx

# What is on this machine is not asked through a proxy of the environment.
DIRECT = dict.fromkeys(("all://127.0.0.1", "all://localhost", "all://[::1]"))


class Connections:
    """An httpx client with these options, made at the first call, shared by the threads of a process and no other."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Begin anew: what two processes share, neither understands."""
        self.lock = threading.Lock()
        self.client: httpx.Client | None = None

    def open(self) -> httpx.Client:
        """The client."""
        with self.lock:
            if self.client is None:
                self.client = self.new()
            return self.client

    def new(self) -> httpx.Client:
        """A client that has no connections yet."""
        return httpx.Client(mounts=DIRECT, **self.options)

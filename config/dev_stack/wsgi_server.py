"""Servers of the stack that are WSGI applications, each in its own granian process."""

import http.client
import sys
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from config.dev_stack.processes import Child
from config.dev_stack.servers import HOST, Server

ROOT = Path(__file__).resolve().parents[2]


class WsgiServer(Server):
    """A WSGI application that the function `factory` returns, with `threads` for requests; it answers GET /livez."""

    factory: ClassVar[str]
    threads: ClassVar[int]

    @abstractmethod
    def variables(self) -> dict[str, str]:
        """The application's environment variables, which may be secret: other users cannot read them."""

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://{HOST}:{self.port}"

    def make_child(self) -> Child:
        """The granian process."""
        command = [
            *(sys.executable, "-m", "granian", self.factory, "--factory", "--interface", "wsgi"),
            *("--http", "1", "--no-ws", "--host", HOST, "--port", str(self.port), "--runtime-mode", "st"),
            *("--workers", "1", "--blocking-threads", str(self.threads), "--workers-kill-timeout", "5"),
        ]
        return Child(name=self.name, command=command, env=self.env() | self.variables(), cwd=ROOT, log=self.log)

    def is_ready(self) -> bool:
        """Whether it answers GET /livez."""
        return is_alive(self.port)


def is_alive(port: int, *, timeout_s: float = 1) -> bool:
    """Whether a web server on this port of 127.0.0.1 answers GET /livez."""
    connection = http.client.HTTPConnection(HOST, port, timeout=timeout_s)
    try:
        connection.request("GET", "/livez")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()

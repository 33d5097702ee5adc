"""Applications of ours that run as servers of the stack, each behind a granian of its own."""

import http.client
import sys
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from config.dev_stack.processes import Child
from config.dev_stack.servers import HOST, Server

ROOT = Path(__file__).resolve().parents[2]


class WsgiServer(Server):
    """A WSGI application that the function `factory` makes, with `threads` for requests; GET /livez finds it alive."""

    factory: ClassVar[str]
    threads: ClassVar[int]

    @abstractmethod
    def variables(self) -> dict[str, str]:
        """What the application finds in its environment; like a file of rights 0600, only its owner reads that."""

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://{HOST}:{self.port}"

    def make_child(self) -> Child:
        """The server."""
        command = [
            *(sys.executable, "-m", "granian", self.factory, "--factory", "--interface", "wsgi"),
            *("--http", "1", "--no-ws", "--host", HOST, "--port", str(self.port), "--runtime-mode", "st"),
            *("--workers", "1", "--blocking-threads", str(self.threads), "--workers-kill-timeout", "5"),
        ]
        return Child(name=self.name, command=command, env=self.env() | self.variables(), cwd=ROOT, log=self.log)

    def is_ready(self) -> bool:
        """Whether it answers."""
        return is_alive(self.port)


def is_alive(port: int, *, timeout_s: float = 1) -> bool:
    """Whether a web server of this machine answers GET /livez."""
    connection = http.client.HTTPConnection(HOST, port, timeout=timeout_s)
    try:
        connection.request("GET", "/livez")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()

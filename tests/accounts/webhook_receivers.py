"""Receivers of webhooks: real servers on loopback that remember what they were sent and answer by a script."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook


@dataclass(frozen=True)
class Received:
    """One request, as it came."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    def verified(self, secret: str) -> Any:
        """The content, after the official library has verified it; it raises where it does not."""
        return Webhook(secret).verify(self.body, dict(self.headers))


@dataclass(frozen=True)
class Answer:
    """What is answered."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


# What is answered to a request, by how many came before it.
Script = Callable[[Received, int], Answer]


def says(status: int, body: bytes = b"", **headers: str) -> Script:
    """Answers this, whatever comes."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return lambda _received, _before: Answer(status, body, named)


class Receiver(ThreadingHTTPServer):
    """Remembers what it was sent."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, script: Script, *, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.script = script
        self.received: list[Received] = []
        self.lock = threading.Lock()

    def handle_error(self, *_: Any) -> None:
        """A sender has hung up, or was killed."""

    @property
    def url(self) -> str:
        """Where webhooks are sent."""
        return f"http://127.0.0.1:{self.server_port}/hooks?from=tablewire"


class Handler(BaseHTTPRequestHandler):
    """Follows the script."""

    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:
        """One delivery."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(self.path, headers, self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            before = len(self.server.received)
            self.server.received.append(received)
        answer = self.server.script(received, before)
        with suppress(OSError):
            self.send_response(answer.status)
            for name, value in (*answer.headers, ("Content-Length", str(len(answer.body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

    def do_GET(self) -> None:
        """Whoever follows a redirect asks by GET: seen as well."""
        with self.server.lock:
            self.server.received.append(Received(self.path, {}, b"GET"))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def receiving(script: Script | None = None, *, tls: ssl.SSLContext | None = None, port: int = 0) -> Iterator[Receiver]:
    """The receiver, while it is needed; it answers 200 unless told otherwise. Port 0 is a free one."""
    with Receiver(script or says(200), port=port) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def hear(connection: socket.socket) -> None:
    """Read a request to its end."""
    with connection.makefile("rb") as lines:
        length = 0
        for line in iter(lines.readline, b"\r\n"):
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        lines.read(length)


@contextmanager
def listening(talk: Callable[[socket.socket], None] | None = None) -> Iterator[tuple[int, list[socket.socket]]]:
    """A port of 127.0.0.1 with all connections that came to it; `talk` is what is done with each."""
    came: list[socket.socket] = []
    server = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            came.append(connection)
            if talk is not None:
                threading.Thread(target=quietly, args=(talk, connection), daemon=True).start()

    def quietly(what: Callable[[socket.socket], None], connection: socket.socket) -> None:
        with suppress(OSError):
            what(connection)

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield server.getsockname()[1], came
    finally:
        # Wakes the thread that accepts; closing alone would not.
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()
        for connection in came:
            connection.close()

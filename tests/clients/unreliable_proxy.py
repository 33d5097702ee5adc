"""A proxy in front of the product that refuses requests and loses answers."""

import http.client
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Literal

# "refuse": 503 with a Retry-After of one second, before the product sees the request.
# "lose": the product processes the request, and the connection closes without the answer.
Fault = Literal["refuse", "lose"]
REFUSAL = (
    b'{"error": {"code": "unavailable", "message": "Later.", "param": null, "request_id": "req_x", "details": []}}'
)


@dataclass(frozen=True)
class Sent:
    """A request as it reached the proxy."""

    method: str
    path: str
    idempotency_key: str | None
    at_s: float


class UnreliableProxy(ThreadingHTTPServer):
    """Does the faults, one for each request, and forwards all later requests."""

    daemon_threads = True

    def __init__(self, target: str, faults: list[Fault]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.target, self.faults = target.removeprefix("http://"), list(faults)
        self.sent: list[Sent] = []

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: UnreliableProxy

    def log_message(self, *args: object) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        fault = self.server.faults.pop(0) if self.server.faults else None
        self.server.sent.append(Sent(self.command, self.path, self.headers["Idempotency-Key"], time.monotonic()))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if fault == "refuse":
            self.respond(503, [("Retry-After", "1"), ("Content-Type", "application/json")], REFUSAL)
            return
        upstream = http.client.HTTPConnection(self.server.target, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        upstream.request(self.command, self.path, body=body, headers=headers)
        response = upstream.getresponse()
        content = response.read()
        upstream.close()
        if fault != "lose":
            skipped = ("content-length", "connection", "transfer-encoding", "date", "server")
            kept = [(name, value) for name, value in response.getheaders() if name.lower() not in skipped]
            self.respond(response.status, kept, content)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815  # as http.server calls them

    def respond(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        """Send an answer."""
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def unreliable_proxy(target: str, *faults: Fault) -> Iterator[UnreliableProxy]:
    """The proxy, while the block lasts."""
    with UnreliableProxy(target, list(faults)) as proxy:
        thread = Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()

"""Facilitators and nodes that fail: a real HTTP server whose responses are scripted."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from django.conf import settings

# What is done with one settlement: gets the request's body, returns status and body, None to hang up.
Script = Callable[[bytes], tuple[int, bytes] | None]


class Server(ThreadingHTTPServer):
    """Records the request bodies and their Authorization headers."""

    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.asked: list[bytes] = []
        self.shown: list[str | None] = []

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Follows the script."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        """One settlement."""
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(content)
        self.server.shown.append(self.headers["Authorization"])
        answer = self.server.script(content)
        self.close_connection = True
        if answer is not None:
            status, body = answer
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def serving(script: Script) -> Iterator[Server]:
    """The server, while it is needed."""
    with Server(script) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def says(status: int, content: Any) -> Script:
    """Answers this, whatever it is asked."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return lambda _: (status, body)


def hangs_up(_: bytes) -> None:
    """Ends the connection without an answer."""


def cuts_short(_: bytes) -> tuple[int, bytes] | None:
    """Answers half of a settlement."""
    return 200, b'{"success": true, "transaction": "0x'


def refuses(reason: str, transaction: str = "") -> Script:
    """Answers that it has not settled."""
    return says(200, {"success": False, "errorReason": reason, "transaction": transaction, "network": "eip155:84532"})


def settles_and(then: Script) -> Script:
    """Has the payment settled, and then does as the other script says."""
    real = settings.FACILITATOR_URL

    def script(content: bytes) -> tuple[int, bytes] | None:
        response = httpx.post(f"{real}/settle", content=content, timeout=30)
        assert response.json()["success"], response.text
        return then(content)

    return script


def never_answers(over: threading.Event) -> Script:
    """Says nothing until all is over."""

    def script(_: bytes) -> None:
        over.wait()

    return script


def node_answering(results: Mapping[str, Any]) -> Script:
    """A node of the real chain, but for some methods, to which it answers this."""
    real = settings.RPC_URL

    def script(content: bytes) -> tuple[int, bytes]:
        asked = json.loads(content)
        several = asked if isinstance(asked, list) else [asked]
        if not any(one["method"] in results for one in several):
            return 200, httpx.post(real, content=content, headers={"Content-Type": "application/json"}).content
        answers = [
            {"jsonrpc": "2.0", "id": one["id"], "result": results[one["method"]]}
            if one["method"] in results
            else httpx.post(real, json=one).json()
            for one in several
        ]
        return 200, json.dumps(answers if isinstance(asked, list) else answers[0]).encode()

    return script

"""A real HTTP server on this machine that answers as models do, or as they should not."""

import gzip
import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

KEY = "sk-test-4f1c9a7e2b"
MODEL = "test-model-1"


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was sent; names of headers in small letters."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What it sends: after so many seconds, in whole, in half, or a byte at a time with so many seconds between."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    after_s: float = 0
    half: bool = False
    every_s: float | None = None
    chunks: Iterable[bytes] = ()


@dataclass(frozen=True, slots=True)
class Protocol:
    """How one of the two says that a model said something."""

    name: str
    path: str
    base: str
    wrap: Callable[..., dict[str, Any]]

    def says(self, text: str, **values: Any) -> Response:
        """A good answer of the protocol, whatever the text is."""
        return Response(body=json.dumps(self.wrap(text, **values)).encode())


def _openai(text: str, *, ended: str = "stop", used: Any = (900, 120), **message: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": used[0], "completion_tokens": used[1]} if isinstance(used, tuple) else used
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": ended,
            }
        ],
        "usage": usage,
    }


def _anthropic(text: str, *, ended: str = "end_turn", used: Any = (900, 120), **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": used[0], "output_tokens": used[1]} if isinstance(used, tuple) else used
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": ended,
        "stop_sequence": None,
        "usage": usage,
        **more,
    }


OPENAI = Protocol("openai", "/v1/chat/completions", "/v1", _openai)
ANTHROPIC = Protocol("anthropic", "/v1/messages", "", _anthropic)


class InsightServer(ThreadingHTTPServer):
    """Answers by `responses`, one after the other, the last one again and again; keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[Request] = []
        self.responses: deque[Response] = deque()
        self.ended = Event()
        self.sent = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who is asked hangs up here all the time."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: InsightServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing on the terminal."""

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        server = self.server
        server.requests.append(Request(self.path, headers, body))
        response = server.responses.popleft() if len(server.responses) > 1 else server.responses[0]
        if response.after_s and server.ended.wait(response.after_s):
            return
        self.close_connection = True
        self.send_response(response.status)
        if not response.chunks:
            self.send_header("Content-Length", str(len(response.body)))
        for name, value in {"Content-Type": "application/json", "Connection": "close", **response.headers}.items():
            self.send_header(name, value)
        if response.every_s is None:
            self.end_headers()
        for part in self._parts(response):
            self.wfile.write(part)
            server.sent += len(part)
            if response.every_s is not None and server.ended.wait(response.every_s):
                return

    def _parts(self, response: Response) -> Iterator[bytes]:
        if response.chunks:
            yield from response.chunks
        elif response.half:
            yield response.body[: len(response.body) // 2]
        elif response.every_s is not None:
            # Not even the headers end.
            self.flush_headers()
            yield from (b"X-More: %d\r\n" % number for number in range(1_000))
        else:
            yield response.body


@contextmanager
def insight_server() -> Iterator[InsightServer]:
    """One that runs until the end."""
    server = InsightServer()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


def bomb() -> bytes:
    """50 MB in 50 kB."""
    return gzip.compress(b" " * 50_000_000)


def endless(until: float) -> Iterator[bytes]:
    """Megabytes until this moment of time.monotonic(), 50 at most."""
    for _ in range(50):
        if time.monotonic() > until:
            return
        yield b" " * 1_000_000

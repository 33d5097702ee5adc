"""A web server that echoes its request headers and fails on demand."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import TracebackType

PIECE = bytes(1024 * 1024)


class FailingServer:
    """Serves on `port` while the block lasts. `asked` are the requests that reached it, in their order."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_ready = True
        self.go_on = Event()
        mine = self

        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                mine.answer(self)

            do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815  # as http.server calls them

            def log_message(self, *args: object) -> None:
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.server.daemon_threads = True
        self.port = self.server.server_port

    def __enter__(self) -> "FailingServer":
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.go_on.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer readiness probes, echo the headers, close the connection, or pause in the middle of a response."""
        self.asked.append(f"{request.command} {request.path}")
        request.rfile.read(int(request.headers.get("Content-Length") or 0))
        if request.path == "/v1/dies":
            request.close_connection = True
            return
        flows = request.path == "/v1/flows"
        echo = json.dumps([[name.lower(), value] for name, value in request.headers.items()]).encode()
        content = b"first" if flows else echo
        request.send_response(503 if request.path == "/readyz" and not self.is_ready else 200)
        request.send_header("Content-Type", "application/octet-stream" if flows else "application/json")
        request.send_header("Content-Length", str(len(content) + (20 * len(PIECE) if flows else 0)))
        request.end_headers()
        request.wfile.write(content)
        request.wfile.flush()
        if flows:
            self.go_on.wait(20)
            for _ in range(20):
                request.wfile.write(PIECE)

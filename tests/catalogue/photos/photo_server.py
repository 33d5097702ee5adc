"""A real server of photos on loopback."""

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image


def picture(width: int = 40, height: int = 30, kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, kind)
    return file.getvalue()


class PhotoServer(ThreadingHTTPServer):
    """Answers by path with a status and a body, and remembers the paths."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, tuple[int, bytes]] = {
            "/a.png": (200, picture()),
            "/b.jpg": (200, picture(kind="JPEG")),
        }
        self.asked: list[str] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: PhotoServer

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        status, body = self.server.answers.get(self.path, (404, b""))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/a.png")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[PhotoServer]:
    with PhotoServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()

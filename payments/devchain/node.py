"""The node of a development chain as a WSGI application: JSON-RPC over HTTP, for this machine only."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

from payments.devchain.chain import Chain
from payments.devchain.rpc import JsonRpc

MAX_BYTES = 1 << 20


class Node:
    """Serves one chain, one request at a time."""

    def __init__(self, chain: Chain, *, clock: Callable[[], float] = time.time) -> None:
        self._rpc = JsonRpc(chain, clock=clock)
        self._lock = threading.Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a POST with JSON-RPC, and any other request with a health status."""
        if environ["REQUEST_METHOD"] != "POST":
            return _json_response(start_response, "200 OK", {"status": "ok"})
        content = environ["wsgi.input"].read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            return _json_response(start_response, "413 Content Too Large", {"error": "more than a MiB"})
        try:
            request = json.loads(content)
        except (ValueError, RecursionError):
            error = {"code": -32700, "message": "this is not JSON"}
            return _json_response(start_response, "200 OK", {"jsonrpc": "2.0", "id": None, "error": error})
        with self._lock:
            response = self._rpc.respond(request)
        return _json_response(start_response, "200 OK", response)


def application() -> Node:
    """Return the node of the chain whose directory and secret the environment names (config/dev_stack)."""
    return Node(Chain(Path(os.environ["DEVCHAIN_HOME"]), secret=os.environ["DEVCHAIN_SECRET"]))


def _json_response(start_response: StartResponse, status: str, body: Any) -> list[bytes]:
    content = b"" if body is None else json.dumps(body).encode()
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
    return [content]

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
from payments.devchain.rpc import Rpc

MOST_BYTES = 1 << 20


class Node:
    """Serves one chain, one question at a time."""

    def __init__(self, chain: Chain, *, clock: Callable[[], float] = time.time) -> None:
        self._rpc = Rpc(chain, clock=clock)
        self._turn = threading.Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a POST with JSON-RPC, anything else with nothing but a sign of life."""
        if environ["REQUEST_METHOD"] != "POST":
            return _reply(start_response, "200 OK", {"status": "ok"})
        content = environ["wsgi.input"].read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            return _reply(start_response, "413 Content Too Large", {"error": "more than a MiB"})
        return _reply(start_response, "200 OK", self._answer(content))

    def _answer(self, content: bytes) -> Any:
        try:
            asked = json.loads(content)
        except (ValueError, RecursionError):
            return {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "this is not JSON"}}
        with self._turn:
            return self._rpc.answer(asked)


def application() -> Node:
    """The node of the chain whose directory and secret the environment names (config/dev_stack/chain.py)."""
    return Node(Chain(Path(os.environ["DEVCHAIN_HOME"]), secret=os.environ["DEVCHAIN_SECRET"]))


def _reply(start_response: StartResponse, status: str, body: Any) -> list[bytes]:
    content = b"" if body is None else json.dumps(body).encode()
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
    return [content]

"""Load that is no GET: requests that are made before, and orders, of which each has an Idempotency-Key of its own."""

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from benchmarks.load import Load, LoadResult, generate, round_robin, run_wrk

THREADS = """
local threads = 0
function setup(thread) thread:set("offset", threads) threads = threads + 1 end
"""
DONE = """
function done(summary, latency, _)
  local wrong = summary.errors
  io.stderr:write(string.format(
    '{"requests": %d, "seconds": %.6f, "p50_ms": %.4f, "p99_ms": %.4f, "wrong": %d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    wrong.connect + wrong.read + wrong.write + wrong.status + wrong.timeout))
end
"""
# Each request by its length and its bytes.
AGAIN = """
local requests, at = {}, 0
function init(args)
  local file = io.open(%(file)s, "rb")
  local length = file:read("*n")
  while length do
    file:read(1)
    requests[#requests + 1] = file:read(length)
    length = file:read("*n")
  end
  at = math.floor(offset * #requests / %(threads)d)
end
function request() at = at %% #requests + 1 return requests[at] end
"""
# Of three pieces put together by hand: wrk's own formatting would take more of the machine than the answer does.
FRESH = """
local heads, tail, at = {}, %(tail)s, 0
function init(args)
  for line in io.lines(%(file)s) do
    heads[#heads + 1] = %(start)s .. line .. "\\r\\nIdempotency-Key: %(run)s-" .. offset .. "-"
  end
end
function request() at = at + 1 return heads[at %% #heads + 1] .. at .. tail end
"""


def request_of(base_url: str, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """A request as it is sent."""
    payload = {"Host": urlsplit(base_url).netloc, **headers, "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in payload.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def repeat_requests(load: Load, base_url: str, requests: Sequence[bytes]) -> LoadResult:
    """Send these in turn; each is to be answered with 200."""
    if not load.uses_wrk:
        turns = round_robin(requests, connections=load.connections)
        return asyncio.run(generate(base_url, turns, connections=load.connections, seconds=load.seconds))
    listed = b"".join(b"%d\n%b\n" % (len(request), request) for request in requests)
    return _by_wrk(load, base_url, AGAIN, listed, {})


def place_orders(load: Load, base_url: str, *, path: str, body: bytes, keys: Sequence[str]) -> LoadResult:
    """POST this for the holders of these keys in turn, which is to be answered with 201. The body is ASCII."""
    run = uuid4().hex
    start = f"POST {path} HTTP/1.1\r\nHost: {urlsplit(base_url).netloc}\r\nAuthorization: Bearer "
    rest = f"\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    tail = f"{rest}\r\n\r\n{body.decode('ascii')}"
    if not load.uses_wrk:

        def one(number: int, at: int) -> bytes:
            return f"{start}{keys[(number + at) % len(keys)]}\r\nIdempotency-Key: {run}-{number}-{at}{tail}".encode()

        return asyncio.run(generate(base_url, one, status=201, connections=load.connections, seconds=load.seconds))
    # Texts of JSON without \u are texts of Lua too.
    words = {"start": json.dumps(start), "tail": json.dumps(tail), "run": run}
    return _by_wrk(load, base_url, FRESH, "\n".join(keys).encode() + b"\n", words)


def _by_wrk(load: Load, base_url: str, script: str, listed: bytes, words: Mapping[str, str]) -> LoadResult:
    threads = min(load.threads, load.connections)
    with tempfile.TemporaryDirectory() as place:
        file, payload = Path(place) / "listed", Path(place) / "load.lua"
        file.write_bytes(listed)
        filled = script % {**words, "file": json.dumps(str(file)), "threads": threads}
        payload.write_text(THREADS + filled + DONE)
        return run_wrk(payload, base_url, threads=threads, connections=load.connections, seconds=load.seconds)

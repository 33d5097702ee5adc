"""Load that writes: the same body again and again, under a new Idempotency-Key each time, for several venues."""

import asyncio
import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit
from uuid import uuid4

from benchmarks.figures import WrongAnswer
from benchmarks.load import Load, Loaded, answer, parse

# A request is made of three pieces by hand: wrk's own formatting would take more of the machine than the answer.
SCRIPT = """
local threads = 0
function setup(thread) thread:set("offset", threads) threads = threads + 1 end
local heads, tail, at = {}, %(tail)s, 0
function init(args)
  for line in io.lines(%(keys)s) do
    heads[#heads + 1] = %(start)s .. line .. "\\r\\nIdempotency-Key: %(run)s-" .. offset .. "-"
  end
end
function request() at = at + 1 return heads[at %% #heads + 1] .. at .. tail end
function done(summary, latency, _)
  local wrong = summary.errors
  io.stderr:write(string.format(
    '{"requests": %%d, "seconds": %%.6f, "p50_ms": %%.4f, "p99_ms": %%.4f, "wrong": %%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    wrong.connect + wrong.read + wrong.write + wrong.status + wrong.timeout))
end
"""


def pieces(base_url: str, path: str, body: bytes) -> tuple[str, str]:
    """A request before the text of a key, and after the Idempotency-Key."""
    start = f"POST {path} HTTP/1.1\r\nHost: {urlsplit(base_url).netloc}\r\nAuthorization: Bearer "
    kind = "Content-Type: application/json"
    return start, f"\r\n{kind}\r\nContent-Length: {len(body)}\r\n\r\n{body.decode('ascii')}"


def post(
    load: Load, base_url: str, *, path: str, body: bytes, keys: Sequence[str], seconds: float | None = None
) -> Loaded:
    """Send it for these keys in turn. The body is ASCII. Raises WrongAnswer when wrk says nothing of use."""
    lasting, run = seconds or load.seconds, uuid4().hex
    start, tail = pieces(base_url, path, body)
    if not load.uses_wrk:
        requests = (start, tail, run)
        return asyncio.run(generate(base_url, requests, keys, connections=load.connections, seconds=lasting))
    threads = min(load.threads, load.connections)
    with tempfile.TemporaryDirectory() as place:
        listed, script = Path(place) / "keys", Path(place) / "post.lua"
        listed.write_text("\n".join(keys) + "\n")
        # Texts of JSON without \u are texts of Lua too.
        words = {"keys": str(listed), "start": start, "tail": tail}
        script.write_text(SCRIPT % {**{name: json.dumps(text) for name, text in words.items()}, "run": run})
        command = ["wrk", f"-t{threads}", f"-c{load.connections}", f"-d{max(1, round(lasting))}s", "--timeout", "30s"]
        done = subprocess.run(  # noqa: S603  # a list of our own words
            [*command, "-s", str(script), base_url], capture_output=True, text=True, check=False
        )
    return parse(done.stderr, done.stdout)


async def generate(
    base_url: str, requests: tuple[str, str, str], keys: Sequence[str], *, connections: int, seconds: float
) -> Loaded:
    """The same by plain sockets of this process: what is not 201 is wrong."""
    start, tail, run = requests
    where = urlsplit(base_url)
    waits: list[float] = []
    wrong = 0
    began = time.perf_counter()
    until = began + seconds

    async def caller(number: int) -> None:
        nonlocal wrong
        at = 0
        try:
            reader, writer = await asyncio.open_connection(where.hostname, where.port)
        except OSError:
            wrong += 1
            return
        try:
            while (asked := time.perf_counter()) < until:
                at += 1
                key = keys[(number + at) % len(keys)]
                writer.write(f"{start}{key}\r\nIdempotency-Key: {run}-{number}-{at}{tail}".encode())
                status = await answer(reader)
                waits.append(time.perf_counter() - asked)
                wrong += status != 201
        except (OSError, EOFError, ValueError):
            wrong += 1
        finally:
            writer.close()

    await asyncio.gather(*(caller(number) for number in range(connections)))
    if not waits:
        raise WrongAnswer("Nothing was answered.")
    cuts = quantiles(waits, n=100, method="inclusive") if len(waits) > 1 else [1000 * waits[0]] * 99
    return Loaded(
        requests=len(waits),
        seconds=time.perf_counter() - began,
        p50_ms=1000 * cuts[49],
        p99_ms=1000 * cuts[98],
        wrong=wrong,
    )

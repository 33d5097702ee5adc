"""Load: so many connections that ask one thing after another, by wrk where it is installed, else from here."""

import asyncio
import json
import math
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

from benchmarks.figures import WrongAnswer

# Each thread begins at another place of the list. wrk parses what it is told to format, so requests are made before.
SCRIPT = """
local threads = 0
function setup(thread) thread:set("offset", threads) threads = threads + 1 end
local requests, at = {}, 0
function init(args)
  for path in io.lines(%(paths)s) do requests[#requests + 1] = wrk.format("GET", path, {%(headers)s}) end
  at = math.floor(offset * #requests / %(threads)d)
end
function request() at = at %% #requests + 1 return requests[at] end
function done(summary, latency, _)
  local wrong = summary.errors
  io.stderr:write(string.format(
    '{"requests": %%d, "seconds": %%.6f, "p50_ms": %%.4f, "p99_ms": %%.4f, "wrong": %%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    wrong.connect + wrong.read + wrong.write + wrong.status + wrong.timeout))
end
"""


# The request of a connection, by the numbers of both.
Request = Callable[[int, int], bytes]


@dataclass(frozen=True, kw_only=True)
class LoadResult:
    """What came of it: answers, of them the wrong ones, and how long callers waited."""

    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float
    wrong: int

    @property
    def per_second(self) -> float:
        """Answers a second."""
        return self.requests / self.seconds

    def check(self, what: str) -> "LoadResult":
        """Itself. Raises WrongAnswer when an answer was wrong, or there was none at all."""
        if self.wrong or not self.requests:
            raise WrongAnswer(f"{what}: {self.wrong} of {self.requests} answers were not 200.")
        return self


@dataclass(frozen=True, kw_only=True)
class Load:
    """How much is asked: `connections` at once, for `seconds`. Without wrk one process of Python asks."""

    connections: int
    seconds: float
    threads: int = 1
    with_wrk: bool = True

    @property
    def tool(self) -> str:
        """What asks, for the settings beside the table."""
        if self.uses_wrk:
            return f"wrk, {min(self.threads, self.connections)} thread, {self.connections} connections"
        return f"one process of asyncio, {self.connections} connections"

    @property
    def uses_wrk(self) -> bool:
        """Whether it is wanted and there."""
        return self.with_wrk and shutil.which("wrk") is not None

    @property
    def warm_up_load(self) -> "Load":
        """What comes before it, so that what is remembered is: a quarter as long, of which nothing is told."""
        return replace(self, seconds=self.seconds / 4, with_wrk=False)

    def run(self, base_url: str, paths: Sequence[str], headers: Mapping[str, str]) -> LoadResult:
        """Ask for these paths in turn. What wrk counts as wrong is any status from 400 on, and no answer at all."""
        if self.uses_wrk:
            return self._by_wrk(base_url, paths, headers)
        turns = get_requests(base_url, paths, headers, connections=self.connections)
        return asyncio.run(generate(base_url, turns, connections=self.connections, seconds=self.seconds))

    def _by_wrk(self, base_url: str, paths: Sequence[str], headers: Mapping[str, str]) -> LoadResult:
        threads = min(self.threads, self.connections)
        with tempfile.TemporaryDirectory() as place:
            listed, script = Path(place) / "paths", Path(place) / "load.lua"
            listed.write_text("\n".join(paths) + "\n")
            output = ", ".join(f"[{json.dumps(name)}] = {json.dumps(value)}" for name, value in headers.items())
            script.write_text(SCRIPT % {"paths": json.dumps(str(listed)), "headers": output, "threads": threads})
            return run_wrk(script, base_url, threads=threads, connections=self.connections, seconds=self.seconds)


def run_wrk(script: Path, base_url: str, *, threads: int, connections: int, seconds: float) -> LoadResult:
    """Have wrk load by a script that tells what came of it in one line of JSON. Raises WrongAnswer.

    It knows whole seconds: of others it is interrupted, and tells what came until then.
    """
    whole = math.ceil(seconds)
    words = [f"-t{threads}", f"-c{connections}", f"-d{whole}s", "--timeout", "30s", "-s", str(script), base_url]
    with subprocess.Popen(  # noqa: S603  # a list of our own words
        ["wrk", *words],  # noqa: S607  # wherever it is installed
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=None if whole == seconds else seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate()
    return parse_wrk_output(stderr, stdout)


def parse_wrk_output(stderr: str, stdout: str = "") -> LoadResult:
    """What our script made wrk say. Raises WrongAnswer where it said something else."""
    for line in reversed(stderr.splitlines()):
        if line.startswith("{"):
            return LoadResult(**json.loads(line))
    raise WrongAnswer(f"wrk said: {(stderr or stdout).strip()[-300:]}")


def get_requests(base_url: str, paths: Sequence[str], headers: Mapping[str, str], *, connections: int) -> Request:
    """GET of each of these paths in turn; each connection begins elsewhere."""
    fixed = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    host = urlsplit(base_url).netloc
    requests = [f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{fixed}\r\n".encode() for path in paths]
    return round_robin(requests, connections=connections)


def round_robin(requests: Sequence[bytes], *, connections: int) -> Request:
    """Each of these requests in turn; each connection begins elsewhere."""
    return lambda number, at: requests[(number * len(requests) // connections + at) % len(requests)]


async def generate(
    base_url: str, request: Request, *, status: int = 200, connections: int, seconds: float
) -> LoadResult:
    """The same by plain sockets of this process: what has another status is wrong."""
    where = urlsplit(base_url)
    host, port = where.hostname or "127.0.0.1", where.port or 80
    waits: list[float] = []
    wrong = 0
    started = time.perf_counter()
    until = started + seconds

    async def caller(number: int) -> None:
        nonlocal wrong
        at = 0
        try:
            reader, writer = await asyncio.open_connection(host, port)
        except OSError:
            wrong += 1
            return
        try:
            # Once at least, however long it takes to be let in.
            while (asked := time.perf_counter()) < until or not at:
                writer.write(request(number, at))
                at += 1
                found = await read_response(reader)
                waits.append(time.perf_counter() - asked)
                wrong += found != status
        except (OSError, EOFError, ValueError):
            wrong += 1
        finally:
            writer.close()

    await asyncio.gather(*(caller(number) for number in range(connections)))
    cuts = quantiles(waits, n=100, method="inclusive") if len(waits) > 1 else [0.0] * 99
    return LoadResult(
        requests=len(waits),
        seconds=time.perf_counter() - started,
        p50_ms=1000 * cuts[49],
        p99_ms=1000 * cuts[98],
        wrong=wrong,
    )


async def read_response(reader: asyncio.StreamReader) -> int:
    """Read one answer whole and return its status. Raises ValueError for one whose length is not said."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    for line in lines:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            await reader.readexactly(int(value))
            return int(first.split()[1])
    raise ValueError("an answer without Content-Length")

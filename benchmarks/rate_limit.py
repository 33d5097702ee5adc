"""The row of the rate limit: how often a request goes to Valkey for it, and how long that takes."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from statistics import quantiles
from typing import Any
from uuid import uuid4

import redis

from benchmarks.contenders import our_server
from benchmarks.figures import OURS, Figure, Row, Verdict, WrongAnswer
from benchmarks.reads import READS, paths_of
from benchmarks.suites import Run

REQUESTS = 200
COUNTS = 2_000
CALLS = re.compile(r"^cmdstat_([^:]+):calls=(\d+)", re.MULTILINE)
# What others do there meanwhile: the worker waits for work, and whoever asks for these figures.
OTHER_COMMANDS = ("info", "ping", "client", "hello", "auth", "select", "brpop", "subscribe", "psubscribe", "publish")


class RateLimit:
    """Round trips of whole requests, and the wall time of one count."""

    name = "limit"
    rows: tuple[str, ...] = ("limit",)
    is_by_connections = False

    def steps(self, run: Run, wanted: frozenset[str]) -> int:
        """What the progress bar counts."""
        return 2 + run.rounds

    def measure(self, run: Run, wanted: frozenset[str]) -> Iterator[Row]:
        """The row. Raises WrongAnswer when a request was not answered, or not counted once."""
        run.step("limit: counting round trips")
        trips = count_round_trips(run)
        run.step("limit: counting commands")
        commands = count_commands(run)
        figures = run.run_in_turns("limit", {OURS: time_count})
        run.settings["limit"] = {
            "round trips": f"every sending to Valkey of {REQUESTS} record requests, whole, in this process",
            "commands a request": commands,
            "wall": f"the median of {COUNTS} times Doorway.count in this process, on a kept connection",
        }
        wall = figures[OURS].p50_ms
        verdicts = (
            Verdict(row="limit", of="round trips", value=trips, gate=1, goal=1, is_maximum=True, unit=""),
            Verdict(
                row="limit",
                of="wall of a count",
                value=None if wall is None else 1000 * wall,
                goal=60,
                is_maximum=True,
                unit="µs",
            ),
        )
        yield Row(name="limit", what="of a record request", figures=figures, verdicts=verdicts)


def count_round_trips(run: Run) -> float:
    """How often a request sends something to Valkey. Raises WrongAnswer."""
    from django.test import Client

    client = Client(headers={"authorization": f"Bearer {run.product.key}", "host": "127.0.0.1"})
    paths = paths_of(READS[0], run.product)
    client.get(paths[0])
    with record_sends() as sent:
        for number in range(REQUESTS):
            answer = client.get(paths[number % len(paths)])
            if answer.status_code != 200:
                raise WrongAnswer(f"limit: {answer.status_code} for {paths[number % len(paths)]} in this process")
    return len(sent) / REQUESTS


@contextmanager
def record_sends() -> Iterator[list[int]]:
    """Each time this process sends something to Valkey within the block, by whatever way of the client: its bytes."""
    kind: Any = redis.connection.AbstractConnection
    plain = kind.send_packed_command
    sent: list[int] = []

    def send(self: Any, command: Any, **options: Any) -> Any:
        sent.append(sum(map(len, command)) if isinstance(command, list) else len(command))
        return plain(self, command, **options)

    kind.send_packed_command = send
    try:
        yield sent
    finally:
        kind.send_packed_command = plain


def count_commands(run: Run) -> dict[str, float]:
    """What Valkey was told for a request of the running server. Raises WrongAnswer when that does not count once."""
    server, paths = our_server(run.product), paths_of(READS[0], run.product)
    with redis.Redis.from_url(run.product.redis_url) as store:
        before = parse_commandstats(store.execute_command("INFO", "commandstats"))
        for number in range(REQUESTS):
            server.get(paths[number % len(paths)])
        after = parse_commandstats(store.execute_command("INFO", "commandstats"))
    # Of what others do now and then there is less than one in ten requests.
    found = {
        name: round(more, 2) for name, more in commands_per_request(before, after, REQUESTS).items() if more >= 0.1
    }
    if not 0.99 <= found.get("incrby", 0) <= 1.5:
        raise WrongAnswer(f"limit: a request should count once, and does {found}")
    return found


def parse_commandstats(payload: Any) -> dict[str, int]:
    """How often each command was called, of what INFO commandstats says, read or not."""
    if isinstance(payload, Mapping):
        return {str(name).removeprefix("cmdstat_"): int(value["calls"]) for name, value in payload.items()}
    text = payload.decode() if isinstance(payload, bytes) else str(payload)
    return {name: int(count) for name, count in CALLS.findall(text)}


def commands_per_request(before: Mapping[str, int], after: Mapping[str, int], requests: int) -> dict[str, float]:
    """How often a request has called each command; what others call is left out."""
    return {
        name: (count - before.get(name, 0)) / requests
        for name, count in after.items()
        if count > before.get(name, 0) and name.partition("|")[0] not in OTHER_COMMANDS
    }


def time_count() -> Figure:
    """What one count takes. Raises WrongAnswer when the store has not counted it."""
    from django.test import RequestFactory

    from framework.api.rate_limits.middleware import Allowance
    from payments.rate_limits import DataApiMiddleware

    middleware = DataApiMiddleware(lambda request: None)  # type: ignore[arg-type,return-value]  # no view is called
    request, allowance = RequestFactory().get("/v1/restaurants"), Allowance(uuid4().hex, 1_000_000, 60)
    middleware.count_call(request, allowance)
    waits, spent = [], time.process_time()
    for _ in range(COUNTS):
        began = time.perf_counter()
        usage = middleware.count_call(request, allowance)
        waits.append(time.perf_counter() - began)
    spent = time.process_time() - spent
    # A minute may have ended in between.
    if usage.cache_key is None or usage.count > COUNTS + 1:
        raise WrongAnswer(f"limit: the store counts {usage.count} of {COUNTS + 1} calls")
    cuts = quantiles(waits, n=100, method="inclusive")
    return Figure(p50_ms=1000 * cuts[49], p99_ms=1000 * cuts[98], cpu_ms=1000 * spent / COUNTS)

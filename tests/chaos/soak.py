"""A soak: the product at half of what it can, for as long as you say, and how its memory and its answers do.

`uv run --group dev python -m tests.chaos.soak --minutes 60` starts a product of its own, finds out how many calls a
second it can answer, asks half as many, and prints a line a minute. It ends with 1 where an answer was a 5xx or a
process grew by more than 1 MB an hour after the first quarter. The slope of a run of fewer than thirty minutes is
printed only, because processes grow while they warm up.
"""

import argparse
import itertools
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

CALLERS = 8
TRIED_S = 10.0
# A new product writes its first insights for a minute or two: what it can answer meanwhile is not what it can.
SETTLES_WITHIN_S = 300.0
RESTING_PERCENT = 10.0
# What is kept of calls fills for a quarter of an hour, and then stands: web processes went from 133 to 135 MB in
# twenty minutes, and stayed so for forty.
WARMING_SHARE = 0.25
LOOKS_EVERY_S = 5.0
JUDGED_FROM_MIN = 30
MAX_MB_PER_HOUR = 1.0


@dataclass
class Seen:
    """What callers were answered, and the memory of each process over time, in (seconds, MB)."""

    statuses: Counter[int] = field(default_factory=Counter)
    took_s: list[float] = field(default_factory=list)
    memory: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


def asked(api: httpx.Client, key: str, number: int, slugs: Sequence[str]) -> httpx.Response:
    """One call: of ten four searches, three records, two lists and an order. Each from an address of its own."""
    headers = {"X-Forwarded-For": f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"}
    mine = headers | {"Authorization": f"Bearer {key}"}
    match number % 10:
        case 0 | 1 | 2 | 3:
            return api.get("/v1/restaurants?near=tivoli&limit=10", headers=headers)
        case 4 | 5 | 6:
            return api.get(f"/v1/restaurants/{slugs[number % len(slugs)]}", headers=headers)
        case 7 | 8:
            return api.get("/api/v1/orders?limit=20", headers=mine)
    body = {
        "customer_id": "soak",
        "items": [{"menu_item_id": "margherita", "quantity": 1}],
        "payment_method": "card",
    }
    return api.post("/api/v1/orders", json=body, headers=mine | {"Idempotency-Key": f"soak-{number}"})


def load(base_url: str, key: str, slugs: Sequence[str], *, seen: Seen, until: float, rate: float | None) -> None:
    """Ask until then, as fast as it goes, or so many calls a second."""
    numbers, lock = itertools.count(), threading.Lock()
    began_at = time.monotonic()

    def call() -> None:
        with httpx.Client(base_url=base_url, timeout=30) as api:
            while time.monotonic() < until:
                with lock:
                    number = next(numbers)
                if rate is not None:
                    time.sleep(max(0.0, began_at + number / rate - time.monotonic()))
                at = time.perf_counter()
                answer = asked(api, key, number, slugs)
                took_s = time.perf_counter() - at
                with lock:
                    seen.statuses[answer.status_code] += 1
                    seen.took_s.append(took_s)

    with ThreadPoolExecutor(CALLERS) as threads:
        for one in [threads.submit(call) for _ in range(CALLERS)]:
            one.result()


def processes(pids: dict[str, int | None]) -> Iterator[tuple[str, psutil.Process]]:
    """Those of the product that are ours, with what is below them: web server and worker.

    Each keeps its name, and one that takes the place of another has its own.
    """
    for name in ("web", "worker"):
        pid = pids.get(name)
        if pid is not None and psutil.pid_exists(pid):
            for one in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
                yield f"{name} {one.pid}", one


def settle(pids: dict[str, int | None]) -> None:
    """Wait until the worker and the web server have nothing more to do by themselves."""
    began_at, before = time.monotonic(), used_s(pids)
    while time.monotonic() < began_at + SETTLES_WITHIN_S:
        time.sleep(LOOKS_EVERY_S)
        now = used_s(pids)
        if now - before < RESTING_PERCENT / 100 * LOOKS_EVERY_S:
            break
        before = now
    say(f"at rest after {time.monotonic() - began_at:.0f} s")


def used_s(pids: dict[str, int | None]) -> float:
    """The processor time that they have used, in seconds."""
    return sum(one.cpu_times().user + one.cpu_times().system for _, one in processes(pids))


def look(pids: dict[str, int | None], seen: Seen, *, at_s: float) -> None:
    """Note the memory of each process, resident: of what forks share each has less alone whenever another writes."""
    for name, one in processes(pids):
        try:
            seen.memory.setdefault(name, []).append((at_s, one.memory_info().rss / 1e6))
        except psutil.Error:
            continue


def slope(points: Sequence[tuple[float, float]]) -> float:
    """MB an hour, by least squares."""
    count = len(points)
    mean_s, mean_mb = sum(at for at, _ in points) / count, sum(mb for _, mb in points) / count
    spread = sum((at - mean_s) ** 2 for at, _ in points)
    return 3600 * sum((at - mean_s) * (mb - mean_mb) for at, mb in points) / spread if spread else 0.0


def soak(minutes: float, *, restaurants: int) -> dict[str, Any]:
    """Start a product, load it, and return what was seen."""
    from tests.support.live_stack import running  # it reads the settings, which are this process's own

    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="tablewire-soak-")))
        up = held.enter_context(running(folder / "state", "--restaurants", str(restaurants)))
        base_url, key = up.record["base_url"], up.record["management"]["wide_api_key"]
        found = httpx.get(f"{base_url}/v1/restaurants?market=copenhagen&limit=50", timeout=30).json()
        slugs = [one["slug"] for one in found["data"]]
        settle(up.record["pids"])
        tried = Seen()
        load(base_url, key, slugs, seen=tried, until=time.monotonic() + TRIED_S, rate=None)
        rate = sum(tried.statuses.values()) / TRIED_S / 2
        say(f"capacity {rate * 2:.0f} calls a second of {CALLERS} callers: asking {rate:.0f}")
        seen = Seen()
        began_at = time.monotonic()
        until = began_at + minutes * 60
        with ThreadPoolExecutor(1) as threads:
            loading = threads.submit(load, base_url, key, slugs, seen=seen, until=until, rate=rate)
            reported_min = 0
            while not loading.done():
                at_s = time.monotonic() - began_at
                look(up.record["pids"], seen, at_s=at_s)
                if int(at_s // 60) > reported_min:
                    reported_min = int(at_s // 60)
                    memory = ", ".join(f"{name} {points[-1][1]:.0f}" for name, points in seen.memory.items())
                    say(
                        f"{reported_min} min: {sum(seen.statuses.values())} calls, {dict(seen.statuses)}, MB: {memory}"
                    )
                time.sleep(LOOKS_EVERY_S)
            loading.result()
    took = sorted(seen.took_s)
    warm_s = minutes * 60 * WARMING_SHARE
    warm = {name: [one for one in points if one[0] >= points[0][0] + warm_s] for name, points in seen.memory.items()}
    # Of one that came late there is too little to tell a slope.
    warm = {name: points for name, points in warm.items() if points and points[-1][0] - points[0][0] >= warm_s}
    return {
        "minutes": minutes,
        "calls": len(took),
        "rate": round(rate, 1),
        "statuses": {str(status): count for status, count in sorted(seen.statuses.items())},
        "p50_ms": round(took[len(took) // 2] * 1000, 1),
        "p99_ms": round(took[len(took) * 99 // 100] * 1000, 1),
        "mb_an_hour": {name: round(slope(points), 1) for name, points in warm.items()},
        "mb": {name: [round(points[0][1], 1), round(points[-1][1], 1)] for name, points in warm.items()},
    }


def say(words: str) -> None:
    """To people, beside the figures."""
    print(words, file=sys.stderr, flush=True)  # noqa: T201  # a command


def main() -> int:
    """Soak, print the figures as JSON, and judge them."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="for how long (default 60)")
    parser.add_argument("--restaurants", type=int, default=2000, help="of the generated catalogue (default 2000)")
    options = parser.parse_args()
    payload = soak(options.minutes, restaurants=options.restaurants)
    print(json.dumps(payload, indent=2))  # noqa: T201  # a command
    is_broken = any(status >= "500" for status in payload["statuses"])
    grows = [name for name, its in payload["mb_an_hour"].items() if its > MAX_MB_PER_HOUR]
    return int(is_broken or (options.minutes >= JUDGED_FROM_MIN and bool(grows)))


if __name__ == "__main__":
    # Of the settings only the place of the tree is read.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(main())

"""The row of growth: what the key reads ask of the database at three sizes, of which each is ten times the one before.

    uv run --group benchmarks python -m benchmarks --growth [35000,354000,3500000] --only growth

Each size is a product of its own, one after the other, with its data in .state/benchmarks/growth-N: about 10 kB of
disk a restaurant, so 35 GB for the largest, which also takes long to make. This module run by itself measures one size
and prints it as JSON; as a process may know one product, the row runs it once for each.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import psutil
import psycopg
from rich.console import Console

from benchmarks.contenders import our_server
from benchmarks.figures import Figure, Row, Verdict, WrongAnswer
from benchmarks.geography import hits, nearest_by_sql, sample_points
from benchmarks.product import ROOT, Product, ProductNotReady, running
from benchmarks.reads import PLACES, SLUGS
from benchmarks.suites import Run
from framework.cli.arguments import count
from framework.state_directory import StackError

GATE, GOAL = 1.6, 1.35
# Few, so that the disk holds the largest; as many for each restaurant at every size.
REVIEWS_EACH = 2
SAMPLES, QUICK_SAMPLES = 400, 60
# The first reads from the disk what later ones find in memory, and a busy machine spoils some.
PASSES = 12
CHECKED_COUNT = 5
REVIEWED = """
SELECT slug FROM catalogue_restaurant WHERE review_count > 0 AND status = 'open' AND merged_into_id IS NULL
ORDER BY hashtext(id::text) LIMIT %s
"""
SIMILAR_NAMES = """
SELECT round(place.latitude::numeric + 0.0003, 6) || ',' || round(place.longitude::numeric + 0.0002, 6)
    || '&cuisine=' || one.cuisine_id || '&price=' || one.price_level
FROM catalogue_searchrow AS place JOIN catalogue_restaurant AS one ON one.id = place.restaurant_id
WHERE place.latitude IS NOT NULL AND place.open_intervals @> now()
    AND one.cuisine_id IS NOT NULL AND one.price_level IS NOT NULL
ORDER BY hashtext(place.restaurant_id::text) LIMIT %s
"""
PAGE = 20
# Few full pages say nothing of their middle.
MIN_SAMPLES = 20


class Read(NamedTuple):
    """A read: what is asked for, and of how many rows its answer is. A page that is not full is less work."""

    sample: str
    path: str
    rows: int | None = None


READS: Mapping[str, Read] = {
    "slug": Read(SLUGS, "/v1/restaurants/{}"),
    "near and open": Read(PLACES, "/v1/restaurants?ll={}&open=now", PAGE),
    "cuisine, price and open": Read(SIMILAR_NAMES, "/v1/restaurants?ll={}&open=now&radius=3000", PAGE),
    "newest reviews": Read(REVIEWED, "/v1/restaurants/{}/reviews?sort=newest"),
}
FLOOR = "SELECT 1"
DISK = "SELECT pg_database_size(current_database()) / 1e6"


class Growth:
    """The sizes one after the other; asked for by --growth alone, as they take very long the first time."""

    name = "growth"
    rows: tuple[str, ...] = ("growth",)
    is_by_connections = False

    def steps(self, run: Run, wanted: frozenset[str]) -> int:
        """What the progress bar counts."""
        return len(run.arguments.growth or ())

    def measure(self, run: Run, wanted: frozenset[str]) -> Iterator[Row]:
        """A row for each read. Raises WrongAnswer when a size could not be measured."""
        sizes: tuple[int, ...] = run.arguments.growth or ()
        if not sizes:
            return
        payload = {}
        for size in sizes:
            run.step(f"growth: {size:,} restaurants")
            payload[size] = measure_in_subprocess(size, is_quick=run.arguments.quick)
        run.settings["growth"] = {
            "reviews": f"{REVIEWS_EACH} a restaurant",
            "time": "of a request's statements, prepared, in one process on one connection",
            "shared_buffers": shared_buffers(),
            "pages": f"full ones alone; a size with fewer than {MIN_SAMPLES} of them is left out",
            "p50": f"of a pass over {QUICK_SAMPLES if run.arguments.quick else SAMPLES} samples; the best of {PASSES}",
            FLOOR: {f"{size:,}": round(found[FLOOR], 4) for size, found in payload.items()},
            "MB on disk": {f"{size:,}": round(found["disk_mb"]) for size, found in payload.items()},
        }
        for read, its in READS.items():
            taken = {size: found[read] for size, found in payload.items() if read in found}
            if not taken:
                continue
            figures = {f"{size:,} restaurants": Figure(p50_ms=ms) for size, ms in taken.items()}
            smallest, largest = min(taken), max(taken)
            ratio = taken[largest] / taken[smallest] if largest > smallest else None
            of = f"{smallest:,} to {largest:,}"
            verdict = Verdict(row=f"growth, {read}", of=of, value=ratio, gate=GATE, goal=GOAL, is_maximum=True)
            yield Row(name=f"growth, {read}", what=its.path, figures=figures, verdicts=(verdict,))


def measure_in_subprocess(size: int, *, is_quick: bool) -> dict[str, float]:
    """What a process of its own finds. Raises WrongAnswer when it fails."""
    state = ROOT / ".state" / "benchmarks" / f"growth-{size}"
    words = ["-m", "benchmarks.growth", "--restaurants", str(size), "--state-dir", str(state)]
    words += ["--samples", str(QUICK_SAMPLES if is_quick else SAMPLES)]
    done = subprocess.run(  # noqa: S603  # our own words
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "POSTGRES_SHARED_BUFFERS": shared_buffers()},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise WrongAnswer(f"growth: {size:,} restaurants could not be measured.")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def shared_buffers() -> str:
    """A quarter of this machine's memory, as whoever has so many restaurants gives it to PostgreSQL."""
    return f"{psutil.virtual_memory().total // 4 // 2**20}MB"


# One size
@dataclass
class Clock:
    """How long the statements of this process took."""

    ms: float = 0.0


@contextmanager
def time_statements() -> Iterator[Clock]:
    """The time of everything that this process asks PostgreSQL within the block, from asking to having the rows."""
    clock, plain = Clock(), psycopg.Cursor.execute

    def execute(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
        began = time.perf_counter()
        answer = plain(self, query, params, **options)
        clock.ms += 1000 * (time.perf_counter() - began)
        return answer

    psycopg.Cursor.execute = execute  # type: ignore[method-assign]
    try:
        yield clock
    finally:
        psycopg.Cursor.execute = plain  # type: ignore[method-assign]


def p50s(product: Product, samples: int) -> dict[str, float]:
    """The median milliseconds of each read, and of a statement that asks for nothing. Raises WrongAnswer."""
    from django.test import Client

    client = Client(headers={"authorization": f"Bearer {product.key}", "host": "127.0.0.1"})
    found = {}
    for read, its in READS.items():
        with psycopg.connect(product.database_url) as connection:
            paths = [its.path.format(value) for (value,) in connection.execute(its.sample.encode(), [samples])]
        if not paths:
            raise WrongAnswer(f"growth: there is nothing to ask for by {read}.")
        if its.rows is not None:
            paths = [path for path in paths if len(client.get(path).json()["data"]) == its.rows]
        if its.rows is None or len(paths) >= MIN_SAMPLES:
            found[read] = min(median(run_pass(client, paths)) for _ in range(PASSES))
    with psycopg.connect(product.database_url, autocommit=True) as connection:
        found[FLOOR] = median(
            [time_ms(lambda: connection.execute(FLOOR, prepare=True).fetchone()) for _ in range(samples)]
        )
        found["disk_mb"] = (
            connection.execute("SELECT pg_database_size(current_database()) / 1e6").fetchone() or (0,)
        )[0]
    return {name: float(value) for name, value in found.items()}


def run_pass(client: Any, paths: Sequence[str]) -> list[float]:
    """How many milliseconds the statements of each took. Raises WrongAnswer."""
    taken = []
    for path in paths:
        with time_statements() as clock:
            answer = client.get(path)
        if answer.status_code != 200:
            raise WrongAnswer(f"growth: {answer.status_code} for {path}: {answer.content[:300]!r}")
        taken.append(clock.ms)
    return taken


def time_ms(work: Callable[[], object]) -> float:
    """How long it takes once."""
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def check_results(product: Product) -> None:
    """Compare a few searches with brute force. Raises WrongAnswer."""
    server = our_server(product)
    for latitude, longitude in sample_points(product, CHECKED_COUNT):
        payload = hits(server, latitude, longitude)
        if payload.slugs != nearest_by_sql(product, latitude, longitude, at=payload.at):
            raise WrongAnswer(f"growth: the search at {latitude},{longitude} does not find the nearest.")


def main() -> int:
    """Measure one size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--restaurants", type=count, required=True)
    parser.add_argument("--state-dir", type=Path, required=True)
    parser.add_argument("--samples", type=count, default=SAMPLES)
    words = parser.parse_args()
    notes = Console(stderr=True)
    reviews = REVIEWS_EACH * words.restaurants
    try:
        with running(
            words.state_dir.resolve(),
            restaurants=words.restaurants,
            reviews=reviews,
            base_url=None,
            say=notes.print,
        ) as product:
            check_results(product)
            payload = p50s(product, words.samples)
    except (ProductNotReady, StackError, WrongAnswer) as error:
        notes.print(str(error), style="red", markup=False)
        return 2
    sys.stdout.write(json.dumps(payload) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How fast exports are written by the workers of a running `manage.py up`, beside COPY of the same rows to nowhere.

    uv run --group benchmarks python -m benchmarks.exports --state-dir .state

Each export is ordered as staff order one, and its seconds count from the order to the end, with the split, every
file on the disk and the manifest. The reference is one client of the same PostgreSQL that copies the same columns of
the same rows, in no order, and throws them away; it has a core and PostgreSQL another, as the two workers have.
Memory is that of the largest process of the worker (PSS), looked at ten times a second.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self

import django
import psutil
from rich.console import Console
from rich.table import Table

from framework.state_directory import read_up_record

if TYPE_CHECKING:
    from catalogue.models import Export

DATASETS = ("restaurants", "reviews")
FORMATS = ("parquet", "jsonl.gz", "csv.gz")
POLL_S = 0.1


class BenchmarkFailed(Exception):
    """An export that did not succeed: nothing is measured."""


@dataclass
class Memory:
    """Watches the processes of a worker: the most memory that one had, in MB."""

    worker: int
    peak: float = 0.0
    count: int = 0
    over: Event = field(default_factory=Event)

    def __enter__(self) -> Self:
        self.thread = Thread(target=self._watch)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.over.wait(POLL_S):
            found = []
            for process in psutil.Process(self.worker).children(recursive=True):
                try:
                    found.append(process.memory_full_info().pss / 2**20)
                except (psutil.NoSuchProcess, psutil.AccessDenied):
                    continue
            self.count = len(found)
            self.peak = max([self.peak, *found])


def run_export(dataset: str, format_: str, *, max_s: float) -> "tuple[Export, float]":
    """An export that was ordered and has succeeded, and in how many seconds."""
    from django.utils import timezone

    from catalogue.models import Export
    from catalogue.tasks import enqueue_export_step

    started = time.monotonic()
    export = Export.objects.create(
        dataset=dataset, format=format_, fingerprint="benchmark", queue="standard", created_at=timezone.now()
    )
    enqueue_export_step(export)
    while export.status in ("queued", "running"):
        if time.monotonic() - started > max_s:
            raise BenchmarkFailed(f"{export}: {export.status} after {max_s:.0f} s. {export.error}")
        time.sleep(POLL_S)
        export.refresh_from_db()
    if export.status != "succeeded":
        raise BenchmarkFailed(f"{export}: {export.error}")
    return export, time.monotonic() - started


def time_copy(export: "Export") -> float:
    """In how many seconds one client reads the same rows and throws them away."""
    from django.db import connection

    from catalogue.exports import datasets
    from catalogue.exports.datasets.base import query_parameters
    from catalogue.exports.formats.part_reader import PartReader
    from catalogue.exports.formats.text import CSV, RAW

    asked: dict[str, Any] = {
        "dataset": datasets.get_dataset(export),
        "parameters": query_parameters(export),
        "connection": connection.connection,
        "snapshot": "",
        "heartbeat": lambda: None,
    }
    reading = PartReader(**asked)
    ways: dict[str, tuple[Callable[[], str], str]] = {
        "parquet": (lambda: reading.typed_select, "(FORMAT binary)"),
        "jsonl.gz": (lambda: reading.json_select, RAW),
        "csv.gz": (lambda: reading.csv_select, CSV),
    }
    select, how = ways[export.format]
    plain = select().rpartition(" ORDER BY ")[0]
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        started = time.monotonic()
        with cursor.copy(f"COPY ({plain}) TO STDOUT {how}", reading.parameters) as copy:
            while copy.read():
                pass
    return time.monotonic() - started


def format_row(export: "Export", seconds: float, reference: float, memory: Memory) -> Sequence[str]:
    """A line of the table."""
    size = sum(part.bytes or 0 for part in export.parts.all()) / 1e6
    return (
        f"{export.dataset} {export.format}",
        f"{export.rows:,}",
        f"{seconds:.1f}",
        f"{(export.rows or 0) / seconds:,.0f}",
        f"{size:.0f}",
        f"{reference:.1f}",
        f"{reference / seconds:.2f}",
        str(export.generation),
        f"{memory.count} x {memory.peak:.0f}",
    )


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--state-dir", type=Path, default=Path(".state"), help="that of the running `manage.py up`")
    parser.add_argument("--dataset", action="append", help="restaurants, reviews; given twice: both (default: both)")
    parser.add_argument("--format", action="append", choices=FORMATS, help="default: all")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds after which an export counts as hung")
    words = parser.parse_args()
    up = read_up_record(words.state_dir)
    if up is None:
        parser.error(f"nothing runs in {words.state_dir}: `manage.py up --state-dir {words.state_dir}` first")
    os.environ |= {"TABLEWIRE_STATE_DIR": str(words.state_dir), "DJANGO_SETTINGS_MODULE": "config.settings"}
    django.setup()
    from django.utils import timezone

    from catalogue.exports.requests import commands

    table = Table("export", "rows", "s", "rows/s", "MB", "COPY s", "COPY / export", "snapshots", "memory MB")
    for dataset in words.dataset or DATASETS:
        for format_ in words.format or FORMATS:
            with Memory(worker=up["pids"]["worker"]) as memory:
                export, seconds = run_export(dataset, format_, max_s=words.timeout)
            table.add_row(*format_row(export, seconds, time_copy(export), memory))
            commands.cancel_export(export, actor="system", now=timezone.now())
    Console(width=140).print(table)


if __name__ == "__main__":
    main()

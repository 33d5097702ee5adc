"""The row of memory: what the processes of a web server and of a worker hold, at rest and while they export."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Self

import psutil

from benchmarks.exports import run_export
from benchmarks.figures import Figure, Row, Verdict
from benchmarks.process_stats import Meter
from benchmarks.suites import Run

POLL_S = 0.1
START_TIMEOUT_S = 1.0
MAX_S = 600.0
NOTE = (
    "proportional (PSS, smaps_rollup): pages that several processes share count once in their sum. Resident (RSS)"
    " counts them in each, so a sum of it is more than the machine holds: it is told beside"
)


@dataclass(frozen=True)
class MemoryUse:
    """Megabytes of a process or of several: with its share of what is shared, and with all of that."""

    proportional: float = 0.0
    resident: float = 0.0

    def __add__(self, other: "MemoryUse") -> "MemoryUse":
        return MemoryUse(self.proportional + other.proportional, self.resident + other.resident)

    def __str__(self) -> str:
        return f"PSS {self.proportional:.0f}, RSS {self.resident:.0f}"


def parse_smaps(text: str) -> MemoryUse:
    """What a smaps_rollup says; nothing where it says nothing, of a process that is ending."""
    kilobytes = {
        name: int(words[0])
        for name, _, rest in (line.partition(":") for line in text.splitlines())
        if (words := rest.split()) and words[-1] == "kB"
    }
    return MemoryUse(1.024e-3 * kilobytes.get("Pss", 0), 1.024e-3 * kilobytes.get("Rss", 0))


def memory_use(pid: int) -> MemoryUse:
    """What a process holds; nothing where it has ended."""
    try:
        return parse_smaps(Path(f"/proc/{pid}/smaps_rollup").read_text())
    except OSError:
        return MemoryUse()


def process_tree(pid: int) -> list[MemoryUse]:
    """What a process and all below it hold, each of them."""
    try:
        top = psutil.Process(pid)
        return [memory_use(one.pid) for one in (top, *top.children(recursive=True))]
    except psutil.NoSuchProcess:
        return []


@dataclass
class MemoryMonitor:
    """Looks at a worker ten times a second: the most that all its processes held together, and the most of one."""

    worker: int
    maximum: MemoryUse = MemoryUse()
    largest: MemoryUse = MemoryUse()
    over: Event = field(default_factory=Event)

    def look(self) -> None:
        """Look once."""
        every = process_tree(self.worker)
        together = sum(every, MemoryUse())
        self.maximum = max(self.maximum, together, key=lambda one: one.proportional)
        self.largest = max(self.largest, *every, key=lambda one: one.proportional)

    def __enter__(self) -> Self:
        self.thread = Thread(target=self._watch)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.over.wait(POLL_S):
            self.look()


class Memory:
    """After the load of other rows, so that the web server has done what it does, and before the exports of theirs."""

    name = "memory"
    rows: tuple[str, ...] = ("memory",)
    is_by_connections = False

    def steps(self, run: Run, wanted: frozenset[str]) -> int:
        """What the progress bar counts."""
        return 2

    def measure(self, run: Run, wanted: frozenset[str]) -> Iterator[Row]:
        """The row."""
        from django.utils import timezone

        from catalogue.exports.requests import commands

        product = run.product
        run.step("memory: at rest")
        time.sleep(START_TIMEOUT_S)
        web = max((memory_use(pid) for pid in Meter(product.port, product.database_url).processes()), key=resident_mb)
        worker = product.up["pids"]["worker"]
        idle = MemoryMonitor(worker)
        idle.look()
        run.step("memory: exporting reviews")
        with MemoryMonitor(worker) as busy:
            export, _ = run_export("reviews", "parquet", max_s=MAX_S)
        commands.cancel_export(export, actor="system", now=timezone.now())
        run.settings["memory"] = {
            "judged": NOTE,
            "web worker": f"the largest process that serves: {web}",
            "Celery worker": f"with beat and pool, at rest, {format_peak(idle)}",
            "exporting": f"{format_peak(busy)}; of {export.rows:,} reviews to parquet",
        }
        payload = {
            "web worker": (web.proportional, 140.0),
            "Celery worker at rest": (idle.maximum.proportional, 250.0),
            "Celery worker exporting": (busy.maximum.proportional, 400.0),
        }
        yield Row(
            name="memory",
            what="MB, proportional",
            figures={
                "web worker": Figure(memory_mb=web.proportional, note=str(web)),
                "Celery worker at rest": Figure(memory_mb=idle.maximum.proportional, note=str(idle.maximum)),
                "Celery worker exporting": Figure(memory_mb=busy.maximum.proportional, note=str(busy.maximum)),
            },
            verdicts=tuple(
                Verdict(row="memory", of=name, value=value, goal=goal, is_maximum=True, unit="MB")
                for name, (value, goal) in payload.items()
            ),
        )


def format_peak(watch: MemoryMonitor) -> str:
    """What was seen, in words."""
    return f"all of it: {watch.maximum}; its largest process: {watch.largest}"


def resident_mb(one: MemoryUse) -> float:
    """By which processes are compared."""
    return one.resident

"""Exports written by processes of their own, which tests freeze and kill, while others change what is exported."""

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from threading import Event, Thread
from typing import Any
from uuid import UUID, uuid4

from django.db import connection
from django.utils import timezone

from catalogue.exports.jobs import partitioning, shared_snapshot, worker
from catalogue.models import Export, ExportPart, Restaurant, Review
from catalogue.models.exports import UNFINISHED
from tests.catalogue import builders

FAR = builders.NOW.replace(year=2099)


def create_queued(dataset: str = "reviews", **fields: Any) -> Export:
    """A queued export that staff ordered."""
    wanted = {
        "format": "jsonl.gz",
        "fingerprint": uuid4().hex,
        "queue": "standard",
        "created_at": timezone.now(),
    } | fields
    return Export.objects.create(dataset=dataset, **wanted)


def create_running(*, rows_per_part: int, **fields: Any) -> Export:
    """One that is split."""
    export = create_queued(**fields)
    partitioning.start_export(export, now=timezone.now(), rows_per_part=rows_per_part)
    export.refresh_from_db()
    return export


def restaurant_with_reviews(count: int, **fields: object) -> Restaurant:
    """A restaurant with so many reviews."""
    place = builders.restaurant(**fields)
    add_reviews(place, count)
    return place


def add_reviews(place: Restaurant, count: int) -> None:
    """So many more."""
    first = builders.review(place, "Number 1")
    (row,) = Review.objects.filter(pk=first.pk).values()
    same: dict[str, Any] = {name: value for name, value in row.items() if name != "id"}
    Review.objects.bulk_create([Review(**same | {"text": f"Number {number}"}) for number in range(2, count + 1)])


def run_worker(key: UUID, *, max_step_s: float = 0.1, keep_snapshot_s: float = 5) -> None:
    """What a process of a worker does until the export has ended."""
    while True:
        export = Export.objects.get(pk=key)
        if export.status not in UNFINISHED:
            return
        worker.run_step(export, max_step_s=max_step_s, keep_snapshot_s=keep_snapshot_s)
        time.sleep(0.005)


class Workers:
    """Two processes at work on an export."""

    def __init__(self, export: Export, *, count: int = 2, keep_snapshot_s: float = 5) -> None:
        self.export, self.count, self.keep_snapshot_s = export, count, keep_snapshot_s
        self.processes: list[BaseProcess] = []

    def start(self) -> None:
        """Start them; call it where no other thread is at the database."""
        # A child may not use its parent's.
        connection.close()
        context = multiprocessing.get_context("fork")
        for _ in range(self.count):
            process = context.Process(
                target=run_worker,
                args=(self.export.pk,),
                kwargs={"keep_snapshot_s": self.keep_snapshot_s},
                daemon=True,
            )
            process.start()
            self.processes.append(process)

    def signal(self, number: signal.Signals) -> None:
        """Send them a signal."""
        for process in self.processes:
            assert process.pid is not None
            os.kill(process.pid, number)

    def kill(self) -> None:
        """Kill them at once; the leases of the dead are over, as they are in a minute."""
        self.signal(signal.SIGKILL)
        self.join()
        ExportPart.objects.filter(export=self.export, state="claimed").update(
            lease_until=builders.NOW.replace(year=2020)
        )

    def join(self) -> None:
        """Wait until they have ended."""
        for process in self.processes:
            process.join(30)
            assert process.exitcode is not None
        self.processes.clear()


@contextmanager
def change_reviews(place: Restaurant, *, seed: int) -> Iterator[list[str]]:
    """Meanwhile reviews are changed, written and deleted, a few in each transaction. Gives what was done."""
    done: list[str] = []
    over = Event()
    thread = Thread(target=_change, args=(place, over, done, random.Random(seed)))
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()


def _change(place: Restaurant, over: Event, done: list[str], dice: random.Random) -> None:
    keys = list(Review.objects.order_by("pk").values_list("pk", flat=True))
    changes: dict[str, Callable[[], object]] = {
        "update": lambda: Review.objects.filter(pk__in=dice.sample(keys, 3)).update(text=f"Changed {len(done)}"),
        "delete": lambda: Review.objects.filter(pk=dice.choice(keys)).delete(),
        "insert": lambda: builders.review(place, f"New {len(done)}"),
    }
    try:
        while not over.wait(0.003):
            name = dice.choice(list(changes))
            changes[name]()
            done.append(name)
    finally:
        connection.close()


def count_transactions() -> int:
    """How many transactions of exports are open."""
    with connection.cursor() as cursor:
        ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND datname = current_database()"
        cursor.execute(ours, [shared_snapshot.READER])
        count: int = cursor.fetchone()[0]
    return count


def are_all_closed() -> bool:
    """Whether none is open: PostgreSQL notices a moment later that nobody is there any more."""
    return count_transactions() == 0


def wait_until(holds: Callable[[], bool], *, within_s: float = 20) -> None:
    """Wait until it holds."""
    until = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < until, "It never came."
        time.sleep(0.01)

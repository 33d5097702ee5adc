"""Exports while the workers, the broker and the database are killed: the files are those of an undisturbed one.

Two manifests are the same but for `id`, `snapshot_at` and `changes_from`; all their other bytes are compared, and so
are those of the files.
"""

import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
import redis

from framework.public_ids import decode, encode, new_id
from framework.state_directory import read_up_record
from tests.support.live_stack import Up, eventually, running

pytestmark = pytest.mark.chaos

SIZE = ("--restaurants", "15000")
OWN = ("id", "snapshot_at", "changes_from")
WITHIN_S = 400.0
DICE = random.Random(8)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """15,000 restaurants and 300,000 reviews."""
    with running(tmp_path_factory.mktemp("exports") / "state", *SIZE) as up:
        yield up


class Exports:
    """The exports of a running product, ordered as staff do, on its rows."""

    def __init__(self, up: Up) -> None:
        self.up = up

    def row(self, statement: str, *parameters: Any) -> Any:
        """The first row, however long the database takes to come back."""
        found: list[Any] = []

        def asked() -> bool:
            with suppress(psycopg.OperationalError), psycopg.connect(self.up.record["database_url"]) as database:
                found[:] = [database.execute(statement, parameters).fetchone()]
            return bool(found)

        assert eventually(asked, within_s=60)
        return found[0]

    def order(self, format_: str) -> str:
        """The public id of a new one, of which the beat tells the workers."""
        key = new_id()
        self.row(
            "INSERT INTO catalogue_export (id, dataset, format, filter, fields, fingerprint, queue, status,"
            " manifest_sha256, error, generation, snapshots, created_at)"
            " VALUES (%s, 'reviews', %s, '{}', '{}', %s, 'standard', 'queued', '', '', 0, '{}', now()) RETURNING id",
            *(key, format_, key.hex),
        )
        return encode("ex", key)

    def status(self, *names: str) -> set[str]:
        """Those of some exports."""
        keys = [decode("ex", name) for name in names]
        (found,) = self.row("SELECT array_agg(status) FROM catalogue_export WHERE id = ANY(%s)", keys)
        return set(found)

    def done(self, *names: str) -> int:
        """How many parts are written."""
        keys = [decode("ex", name) for name in names]
        statement = "SELECT count(*) FROM catalogue_exportpart WHERE export_id = ANY(%s) AND state = 'done'"
        (count,) = self.row(statement, keys)
        return int(count)

    def content(self, name: str) -> tuple[dict[str, Any], int, list[bytes]]:
        """The manifest without what is an export's own, its generation, and the files; no other file may be there."""
        folder = self.up.state_dir / "exports" / name
        key = decode("ex", name)
        (digest, generation) = self.row("SELECT manifest_sha256, generation FROM catalogue_export WHERE id = %s", key)
        (files,) = self.row("SELECT array_agg(file ORDER BY seq) FROM catalogue_exportpart WHERE export_id = %s", key)
        named = {*files, f"manifest-{digest}.json"}
        assert eventually(lambda: {path.name for path in folder.iterdir()} == named, within_s=90), listed(folder)
        manifest = json.loads((folder / f"manifest-{digest}.json").read_bytes())
        own = {member: manifest.pop(member) for member in OWN}
        assert own["id"] == name
        return manifest, generation, [(folder / file).read_bytes() for file in files]

    def pid(self, name: str) -> int | None:
        """That of a part of the product by now; `up` starts it again when it ends."""
        up = read_up_record(self.up.state_dir)
        return None if up is None else up["pids"][name]

    def kill(self, name: str) -> None:
        """Kill a part with all its processes, and wait until `up` has started it again."""
        assert eventually(lambda: is_running(self.pid(name)), within_s=60)
        pid = self.pid(name)
        assert pid is not None
        for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                os.kill(process.pid, signal.SIGKILL)
        assert eventually(lambda: self.pid(name) != pid and is_running(self.pid(name)), within_s=90)

    def wipe(self) -> None:
        """The broker loses every message."""

        def wiped() -> bool:
            with suppress(redis.ConnectionError), redis.Redis.from_url(self.up.record["redis_url"]) as broker:
                return bool(broker.flushall())
            return False

        assert eventually(wiped, within_s=60)


def is_running(pid: int | None) -> bool:
    """Whether there is such a process."""
    return pid is not None and psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def listed(folder: Path) -> list[str]:
    """What is there."""
    return sorted(path.name for path in folder.iterdir())


def test_killed_workers_brokers_and_databases_cost_an_export_nothing_but_time(product: Up) -> None:
    exports = Exports(product)
    undisturbed = {format_: exports.order(format_) for format_ in ("parquet", "jsonl.gz")}
    assert eventually(lambda: exports.status(*undisturbed.values()) == {"succeeded"}, within_s=WITHIN_S)
    expected = {format_: exports.content(name) for format_, name in undisturbed.items()}
    assert {generation for _, generation, _ in expected.values()} == {1}

    disturbed = {exports.order(format_): format_ for format_ in ("parquet", "jsonl.gz", "parquet", "jsonl.gz")}
    accidents: list[Callable[[], None]] = [
        lambda: exports.kill("worker"),
        exports.wipe,
        lambda: exports.kill("worker"),
        lambda: exports.kill("valkey"),
        lambda: exports.kill("worker"),
        lambda: exports.kill("postgres"),
        lambda: exports.kill("worker"),
    ]
    for number, accident in enumerate(accidents):
        assert eventually(lambda number=number: exports.done(*disturbed) > number, within_s=WITHIN_S)  # type: ignore[misc]
        time.sleep(DICE.random())
        accident()
    assert eventually(lambda: exports.status(*disturbed) == {"succeeded"}, within_s=WITHIN_S)
    for name, format_ in disturbed.items():
        manifest, _, files = exports.content(name)
        assert json.dumps(manifest) == json.dumps(expected[format_][0])
        assert files == expected[format_][2]

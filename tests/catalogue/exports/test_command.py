"""`manage.py export`: orders, writes, copies, is stopped and goes on, all in processes of its own."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.conf import settings as project
from django.core.management import CommandError, call_command
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import Settings

from catalogue.exports.jobs import finalize
from catalogue.management.commands import export as command
from catalogue.models import Export
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.support.live_server import database_url
from tests.support.live_stack import eventually

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@contextmanager
def begun(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """The command, on the tests' database."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "export", *words],
        cwd=project.BASE_DIR,
        env={**os.environ, "DATABASE_URL": database_url(), "EXPORTS_DIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def export_json(*words: str) -> dict[str, Any]:
    """What it says to a script."""
    out = StringIO()
    call_command("export", *words, "--json", stdout=out)
    message: dict[str, Any] = json.loads(out.getvalue())
    return message


def refused(*words: str) -> CommandError:
    """The word with which it ends."""
    with pytest.raises(CommandError) as refusal:
        call_command("export", *words)
    return refusal.value


def in_parts(number: int) -> Export:
    """A running export of staff with so many parts of one restaurant each."""
    for _ in range(number):
        builders.listed(builders.restaurant())
    export = export_builders.create_running(rows_per_part=1)
    Export.objects.update(wallet=None)
    return export


@pytest.mark.exhaustive
def test_a_dataset_is_written_copied_and_verified_by_one_command(folder: Path, tmp_path: Path) -> None:
    for status in ("open", "open", "moved"):
        builders.listed(builders.restaurant(status=status))
    to = tmp_path / "taken"
    message = export_json(
        "restaurants", "--market", "copenhagen", "--status", "open", "--format", "csv.gz", "--to", str(to)
    )
    export = Export.objects.get()
    assert (message["id"], message["status"], message["rows"], message["format"]) == (
        export.public_id,
        "succeeded",
        2,
        "csv.gz",
    )
    assert (export.wallet, export.filter, export.queue) == (
        None,
        {"market": "copenhagen", "status": "open"},
        "standard",
    )
    taken = json.loads((to / "manifest.json").read_text())
    assert {path.name for path in to.iterdir()} == {"manifest.json", *(file["name"] for file in taken["files"])}
    for file in taken["files"]:
        assert hashlib.sha256((to / file["name"]).read_bytes()).hexdigest() == file["sha256"]
    assert message["paths"] == [str(to / name) for name in ("restaurants-00001.csv.gz", "manifest.json")]


@pytest.mark.stack
def test_several_processes_write_one_export_and_none_is_left(folder: Path) -> None:
    export = in_parts(12)
    with begun(folder, "--resume", export.public_id, "--workers", "2") as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    export.refresh_from_db()
    assert (export.status, export.rows) == ("succeeded", 12)
    assert out.startswith(f"{export.public_id}: 12 files, 12 rows, 0.0 MB in ")
    assert "rows/s" in out
    assert len(export_builders.list_stored(folder)) == 13


@pytest.mark.deep
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_at_a_signal_leaves_no_process_and_goes_on_when_it_is_asked_again(
    folder: Path, number: signal.Signals
) -> None:
    export = in_parts(2)
    # Somebody else holds both, so that it waits.
    export.parts.update(state="claimed", lease_until=Now() + timedelta(minutes=10))
    with begun(folder, "--resume", export.public_id, "--workers", "3") as process:
        children = psutil.Process(process.pid).children
        assert eventually(lambda: len(children()) == 2 and is_working(process.pid), within_s=120)
        beside = children()
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 130
    assert f"`manage.py export --resume {export.public_id}` goes on where it was" in err
    assert not any(each.is_running() for each in beside)
    export.refresh_from_db()
    assert (export.status, export_builders.list_stored(folder)) == ("running", set())
    export.parts.update(state="queued", lease_until=None)
    assert export_json("--resume", export.public_id)["rows"] == 2


def test_who_is_reported_to_stop_while_processes_are_started_starts_no_more(folder: Path) -> None:
    export = in_parts(1)
    answers = iter([False, True])
    before = psutil.Process().children()
    with command.start_processes(export, 3, is_stopped=lambda: next(answers)):
        started = [each for each in psutil.Process().children() if each not in before]
    assert len(started) == 1
    assert not started[0].is_running()


def is_working(pid: int) -> bool:
    """Whether the command has come so far that it looks on: its second thread writes."""
    return psutil.Process(pid).num_threads() > 1


@pytest.mark.exhaustive
def test_the_same_order_again_is_the_same_export_while_it_is_not_finished(folder: Path) -> None:
    export = in_parts(1)
    assert export_json("restaurants")["id"] == export.public_id
    assert export_json("restaurants")["id"] != export.public_id
    assert Export.objects.count() == 2


@pytest.mark.exhaustive
def test_copying_again_leaves_what_is_there_and_mends_what_is_broken(folder: Path, tmp_path: Path) -> None:
    builders.listed(builders.restaurant())
    export = export_builders.create_finished()
    to = tmp_path / "taken"
    words = ("--resume", export.public_id, "--to", str(to))
    export_json(*words)
    saved, broken = to / "manifest.json", to / "restaurants-00001.jsonl.gz"
    moment = saved.stat().st_mtime_ns
    whole = broken.read_bytes()
    broken.write_bytes(whole[:-1])
    export_json(*words)
    assert (saved.stat().st_mtime_ns, broken.read_bytes()) == (moment, whole)


def test_what_cannot_be_copied_in_the_end_is_named_with_the_command_that_copies_it(
    folder: Path, tmp_path: Path
) -> None:
    builders.listed(builders.restaurant())
    export = export_builders.create_finished()
    in_the_way = tmp_path / "taken" / "restaurants-00001.jsonl.gz"
    in_the_way.mkdir(parents=True)
    refusal = refused("--resume", export.public_id, "--to", str(tmp_path / "taken"))
    assert refusal.returncode == 3
    assert str(refusal) == (
        f"{tmp_path / 'taken'}: Is a directory. The export has succeeded:"
        f" `manage.py export --resume {export.public_id} --to DIR` copies its files."
    )


@pytest.mark.exhaustive
def test_a_copy_that_is_not_as_it_was_written_is_refused(folder: Path, tmp_path: Path) -> None:
    builders.listed(builders.restaurant())
    export = export_builders.create_finished()
    (stored,) = folder.glob("*/*.jsonl.gz")
    content = stored.read_bytes()
    stored.chmod(0o600)
    stored.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    refusal = refused("--resume", export.public_id, "--to", str(tmp_path / "taken"))
    assert refusal.returncode == 3
    assert (
        str(refusal)
        == "restaurants-00001.jsonl.gz has another checksum than when it was written: order the export again."
    )
    assert list((tmp_path / "taken").iterdir()) == []


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "Say what is to be exported"),
        (("restaurants", "--market", "copenhagn"), "Did you mean `copenhagen`?"),
        (("restaurants", "--fields", "core,revews"), "Did you mean `reviews`?"),
        (("restaurants", "--fields", ""), "fields: Name at least one field group: core, reviews, "),
        (("restaurants", "--fields", ","), "fields: Name at least one field group: core, reviews, "),
        (("restaurants", "--updated-since", "yesterday"), "2026-11-21T19:30:00Z"),
        (("restaurants", "--since", "ex_1"), "since_export: This must be the id of an export"),
        (("restaurants", "--since", export_builders.UNKNOWN), "since_export: You have no such export."),
        (("landmarks", "--status", "open"), "filter.status: An export of landmarks cannot be filtered by status."),
        (("restaurants", "--to", "/dev/null/taken"), "--to /dev/null/taken: Not a directory."),
        (("restaurants", "--to", "/dev/null"), "--to /dev/null: File exists."),
        (("--resume", export_builders.UNKNOWN), f"There is no export {export_builders.UNKNOWN}."),
        (("restaurants", "--resume", export_builders.UNKNOWN), "leave dataset out"),
        (("--resume", export_builders.UNKNOWN, "--workers", "0"), "argument --workers: must be from 1 to "),
        (("--resume", export_builders.UNKNOWN, "--workers", "99999"), "argument --workers: must be from 1 to "),
        (("--resume", export_builders.UNKNOWN, "--workers", "many"), "argument --workers: must be from 1 to "),
    ],
)
def test_what_is_not_understood_is_refused_by_name_and_orders_nothing(words: tuple[str, ...], complaint: str) -> None:
    builders.market()
    assert complaint in str(refused(*words))
    assert not Export.objects.exists()


@pytest.mark.stack
def test_a_flag_that_is_not_understood_has_an_exit_code_of_its_own(folder: Path) -> None:
    with begun(folder, "restaurants", "--workers", "0") as process:
        _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert f"must be from 1 to {command.MAX_WORKERS}: four for each processor" in err
    assert not Export.objects.exists()


def test_one_that_has_failed_says_why_by_its_exit_code_too(folder: Path) -> None:
    export = in_parts(1)
    finalize.fail_export(export, "The disk was full.", now=timezone.now())
    refusal = refused("--resume", export.public_id)
    assert refusal.returncode == 3
    assert str(refusal) == f"Export {export.public_id} is failed: The disk was full."

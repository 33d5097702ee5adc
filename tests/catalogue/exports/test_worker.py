"""Workers: how they share an export, how they fail, and what is cleared up after them."""

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from threading import Barrier

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from catalogue.exports.jobs import claims, cleanup, finalize, partitioning, parts, shared_snapshot, worker
from catalogue.exports.requests import commands
from catalogue.exports.requests.commands import ExportAlreadyRunning
from catalogue.exports.storage import files
from catalogue.models import Export, ExportPart, Restaurant
from catalogue.tasks import clean_up_exports, enqueue_stalled_exports, write_export
from config.celery import app as celery
from tests.catalogue import builders
from tests.catalogue.exports import export_builders

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = builders.NOW.replace(year=2020)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


def places(count: int) -> None:
    """So many restaurants."""
    Restaurant.objects.bulk_create(builders.unsaved() for _ in range(count))


def write_part(export: Export, part: ExportPart, *, renew_after_s: float = claims.RENEW_AFTER_S) -> None:
    """Write a claimed part in the snapshot of its export."""
    with shared_snapshot.join_snapshot(export) as snapshot:
        parts.write_part(export, part, snapshot, renew_after_s=renew_after_s)


def row(part: ExportPart) -> tuple[str, int, int | None]:
    """What stands on the part's row."""
    return ExportPart.objects.values_list("state", "attempts", "rows").get(pk=part.pk)


@pytest.mark.exhaustive
def test_equal_rows_make_equal_files() -> None:
    places(5)
    first, second = (export_builders.read_manifest(export_builders.create_finished(rows_per_part=2)) for _ in range(2))
    assert first["id"] != second["id"]
    assert export_builders.comparable(first) == export_builders.comparable(second)


@pytest.mark.exhaustive
def test_a_step_returns_how_many_more_to_enqueue() -> None:
    for _ in range(12):
        builders.restaurant(created_at=LONG_AGO)
    assert worker.run_step(export_builders.create_queued(), rows_per_part=2) == 4
    export = export_builders.create_queued(status="open")
    assert worker.run_step(export, rows_per_part=6) == 2
    export.refresh_from_db()
    steps = [worker.run_step(export, max_step_s=0, keep_snapshot_s=30) for _ in range(3)]
    export.refresh_from_db()
    assert (steps, export.status) == ([1, 1, 0], "succeeded")


@pytest.mark.exhaustive
def test_a_task_goes_on_with_parts_for_its_time_and_finishes_the_export() -> None:
    places(12)
    export = export_builders.create_running(rows_per_part=2)
    assert (export_builders.run_step(export), export.status, export.generation) == (0, "succeeded", 1)


@pytest.mark.exhaustive
def test_messages_are_no_more_than_workers_that_may_be_at_it() -> None:
    places(40)
    export = export_builders.create_queued()
    waiting = worker.run_step(export, rows_per_part=1)
    maximum = waiting
    while waiting:
        export.refresh_from_db()
        waiting += worker.run_step(export, max_step_s=0, keep_snapshot_s=30) - 1
        maximum = max(maximum, waiting)
    assert (maximum, export.status, export.parts.count()) == (4, "succeeded", 40)


def test_the_sweep_enqueues_an_export_once_and_for_a_short_while() -> None:
    export = export_builders.create_queued()
    Export.objects.update(queue="without-a-worker")
    enqueue_stalled_exports()
    enqueue_stalled_exports()
    with celery.connection_for_read() as broker:
        messages = broker.SimpleQueue("without-a-worker")
        found = [messages.get(timeout=1) for _ in range(messages.qsize())]
        assert [message.payload[1] for message in found] == [{"export": str(export.pk)}] * 2
        left = [datetime.fromisoformat(message.headers["expires"]) - timezone.now() for message in found]
        assert timedelta() < min(left) <= max(left) <= timedelta(seconds=20)
        messages.clear()
        messages.close()


def test_of_two_workers_one_begins_an_export() -> None:
    places(4)
    export = export_builders.create_queued()
    assert (
        partitioning.start_export(export, now=builders.NOW, rows_per_part=2),
        partitioning.start_export(export, now=builders.NOW),
    ) == (2, 0)
    assert export.parts.count() == 2


@pytest.mark.exhaustive
def test_two_workers_share_an_export_and_write_no_part_twice() -> None:
    places(40)
    export = export_builders.create_running(rows_per_part=2)
    ready = Barrier(2)

    def work() -> int:
        try:
            connection.ensure_connection()
            ready.wait()
            steps = 0
            while worker.run_step(Export.objects.get(pk=export.pk), max_step_s=0, keep_snapshot_s=30):
                steps += 1
            return steps
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        done = [future.result() for future in [threads.submit(work) for _ in range(2)]]
    assert sum(done) == 20
    assert min(done) > 0
    assert set(export.parts.values_list("state", "attempts")) == {("done", 0)}
    export_builders.run_to_end(export)
    assert len(export_builders.read_rows(export)) == 40


def test_a_part_that_another_worker_holds_is_skipped_until_its_lease_is_over() -> None:
    places(1)
    export = export_builders.create_running()
    mine = claims.claim_part(export)
    assert mine is not None
    assert claims.claim_part(export) is None
    ExportPart.objects.update(lease_until=LONG_AGO)
    theirs = claims.claim_part(export)
    assert theirs is not None
    assert (theirs.pk, theirs.attempts) == (mine.pk, 2)


@pytest.mark.exhaustive
def test_who_has_lost_the_lease_writes_nothing(folder: Path) -> None:
    places(1)
    export = export_builders.create_running()
    late = claims.claim_part(export)
    ExportPart.objects.update(lease_until=LONG_AGO)
    winner = claims.claim_part(export)
    assert late is not None
    assert winner is not None
    with pytest.raises(claims.LeaseLostError):
        write_part(export, late)
    assert export_builders.list_stored(folder) == set()
    write_part(export, winner)
    stored, reported = export_builders.list_stored(folder), row(winner)
    with pytest.raises(claims.LeaseLostError):
        write_part(export, late)
    assert (export_builders.list_stored(folder), row(winner)) == (stored, reported)
    assert reported == ("done", 0, 1)


def test_who_loses_the_lease_at_the_last_moment_takes_the_file_away(folder: Path) -> None:
    places(1)
    export = export_builders.create_running()
    part = claims.claim_part(export)
    assert part is not None
    place = f"{export.public_id}/{files.name_file(export, part)}"
    with files.open_draft(place) as draft:
        draft.write(b"late")
        draft.publish(place)
    assert len(export_builders.list_stored(folder)) == 1
    with shared_snapshot.join_snapshot(export) as snapshot:
        commands.cancel_export(export, actor="system", now=timezone.now())
        with pytest.raises(claims.LeaseLostError):
            parts.write_part(export, part, snapshot)
    assert export_builders.list_stored(folder) == set()
    with pytest.raises(shared_snapshot.ExportEndedError), shared_snapshot.join_snapshot(export):
        pass


def test_a_lease_is_renewed_for_a_minute() -> None:
    places(1)
    export = export_builders.create_running()
    part = claims.claim_part(export)
    assert part is not None
    ExportPart.objects.update(lease_until=LONG_AGO)
    claims.renew_lease(part)
    renewed = ExportPart.objects.get().lease_until
    assert renewed is not None
    assert timedelta(seconds=50) < renewed - timezone.now() <= claims.LEASE


@pytest.mark.exhaustive
def test_the_lease_is_checked_while_rows_are_read_and_the_reading_ends_with_it(folder: Path) -> None:
    places(500)
    export = export_builders.create_running()
    part = claims.claim_part(export)
    assert part is not None
    with shared_snapshot.join_snapshot(export) as snapshot, CaptureQueriesContext(connection) as queries:
        parts.write_part(export, part, snapshot, renew_after_s=0)
    # While it reads, when it has read, and when it is done.
    assert len(queries) == 3
    again = export_builders.create_running(status="open")
    part = claims.claim_part(again)
    assert part is not None
    with shared_snapshot.join_snapshot(again) as snapshot:
        commands.cancel_export(again, actor="system", now=timezone.now())
        with CaptureQueriesContext(connection) as queries, pytest.raises(claims.LeaseLostError):
            parts.write_part(again, part, snapshot, renew_after_s=0)
    assert len(queries) == 1
    assert not [name for name in export_builders.list_stored(folder) if name.startswith(again.public_id)]


@pytest.mark.exhaustive
def test_a_broken_storage_is_tried_five_times_and_then_reported(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    places(1)
    (tmp_path / "taken").write_text("a file where the folder should be")
    export_builders.keep_in(settings, tmp_path / "taken")
    export = export_builders.create_running()
    errors = []
    with caplog.at_level(logging.CRITICAL):
        while export.status == "running":
            ExportPart.objects.update(lease_until=None)
            assert export_builders.run_step(export) == 0
            errors.append(export.error)
    assert errors == ["Part 1 could not be written: the storage did not accept it. It will be retried."] * 4 + [
        "Part 1 could not be written: the storage did not accept it. It was tried 5 times."
    ]
    assert (export.status, export.finished_at is not None) == ("failed", True)


def test_a_part_that_broke_rests_before_it_is_tried_again(settings: Settings, tmp_path: Path) -> None:
    places(1)
    export = export_builders.create_running()
    (tmp_path / "exports").write_text("a file where the folder should be")
    export_builders.run_step(export)
    assert claims.claim_part(export) is None
    assert list(cleanup.filter_runnable()) == []
    (tmp_path / "exports").unlink()
    export_builders.run_to_end(export)
    assert (export.status, export.error) == ("succeeded", "")


def test_a_broken_storage_does_not_keep_the_sweeper_from_ringing(folder: Path) -> None:
    export = export_builders.create_queued()
    folder.write_text("a file where the folder should be")
    assert list(cleanup.list_stalled(now=timezone.now())) == [export]
    with pytest.raises(NotADirectoryError):
        cleanup.remove_orphaned_files()


def test_a_worker_that_dies_five_times_over_a_part_has_failed_the_export() -> None:
    places(1)
    export = export_builders.create_running()
    for _ in range(5):
        assert claims.claim_part(export) is not None
        ExportPart.objects.update(lease_until=LONG_AGO)
    assert list(cleanup.filter_runnable()) == [export]
    export_builders.run_step(export)
    assert (export.status, export.error) == ("failed", "Part 1 could not be written: its worker ended 5 times.")


@pytest.mark.stack
def test_a_reading_that_the_database_breaks_off_is_reported_without_its_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    places(1)
    export = export_builders.create_running()
    with transaction.atomic(), connection.cursor() as cursor, ThreadPoolExecutor(1) as thread:
        cursor.execute("LOCK TABLE catalogue_record IN ACCESS EXCLUSIVE MODE")
        thread.submit(run_apart, export).result()
    export.refresh_from_db()
    assert export.error == "Part 1 could not be written: the database query failed. It will be retried."
    assert "lock timeout" in caplog.text


def run_apart(export: Export) -> None:
    """One step on a connection of this thread."""
    try:
        worker.run_step(Export.objects.get(pk=export.pk))
    finally:
        connection.close()


@pytest.mark.exhaustive
def test_a_manifest_that_cannot_be_written_is_tried_for_a_day(folder: Path) -> None:
    places(1)
    export, hopeless = export_builders.create_running(), export_builders.create_running(status="open")
    for each in (export, hopeless):
        assert worker.run_step(each, max_step_s=0) == 1
        (folder / each.public_id).rename(folder / f"{each.public_id} aside")
        (folder / each.public_id).write_text("a file where the folder should be")
        assert list(cleanup.filter_runnable().filter(pk=each.pk)) == [each]
    Export.objects.filter(pk=export.pk).update(snapshot_at=timezone.now() - timedelta(hours=23))
    Export.objects.filter(pk=hopeless.pk).update(snapshot_at=timezone.now() - timedelta(hours=25))
    for each in (export, hopeless):
        each.refresh_from_db()
        export_builders.run_step(each)
    assert (export.status, export.error) == (
        "running",
        "The manifest could not be written: the storage did not accept it. It will be retried.",
    )
    assert (hopeless.status, hopeless.error) == (
        "failed",
        "The manifest could not be written: the storage did not accept it.",
    )
    (folder / export.public_id).unlink()
    (folder / f"{export.public_id} aside").rename(folder / export.public_id)
    export_builders.run_step(export)
    assert (export.status, export.error, len(export_builders.read_rows(export))) == ("succeeded", "", 1)


@pytest.mark.exhaustive
def test_a_failed_export_is_restarted_of_a_new_moment(folder: Path) -> None:
    places(3)
    export = export_builders.create_running(rows_per_part=2)
    late = claims.claim_part(export)
    assert late is not None
    finalize.fail_export(export, "The disk was full.", now=builders.NOW)
    assert not commands.restart_export(export_builders.create_queued(status="open"), now=timezone.now())
    export.refresh_from_db()
    assert commands.restart_export(export, now=timezone.now())
    export.refresh_from_db()
    assert (export.status, export.error, export.snapshot_at, export.parts.count()) == ("queued", "", None, 0)
    export_builders.run_to_end(export)
    assert (export.status, export.rows) == ("succeeded", 3)
    assert not claims.filter_claimed(late).exists()


def test_an_export_that_was_ordered_again_is_not_restarted() -> None:
    export = export_builders.create_running()
    finalize.fail_export(export, "The disk was full.", now=builders.NOW)
    again = export_builders.create_queued()
    with pytest.raises(ExportAlreadyRunning):
        commands.restart_export(export, now=timezone.now())
    export.refresh_from_db()
    assert (export.status, again.status) == ("failed", "queued")


@pytest.mark.exhaustive
def test_the_sweeper_expires_what_is_old_and_removes_its_files(folder: Path) -> None:
    old, young = export_builders.create_finished(), export_builders.create_finished()
    stored = export_builders.list_stored(folder)
    Export.objects.filter(pk=old.pk).update(expires_at=timezone.now())
    clean_up_exports()
    assert dict(Export.objects.values_list("pk", "status")) == {old.pk: "expired", young.pk: "succeeded"}
    assert export_builders.list_stored(folder) == {name for name in stored if name.startswith(young.public_id)}
    assert files.list_folders() == [young.public_id]


def test_the_sweeper_removes_what_no_row_names_and_nothing_else(folder: Path) -> None:
    places(1)
    finished, running = export_builders.create_finished(), export_builders.create_running(status="open")
    part = claims.claim_part(running)
    assert part is not None
    stored = export_builders.list_stored(folder)
    leftovers = [
        "stray",
        "ex_1/1-1.jsonl.gz",
        f"{finished.public_id}/manifest-0.json",
        f"{finished.public_id}/{finished.parts.get().pk}-1.jsonl.gz.part",
        f"{running.public_id}/{part.pk}-0.jsonl.gz.part",
    ]
    growing = [f"{running.public_id}/{part.pk}-1.jsonl.gz.part", f"{running.public_id}/manifest-0.json"]
    for name in leftovers + growing:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    cleanup.remove_orphaned_files()
    assert export_builders.list_stored(folder) == {*stored, *growing, "stray"}
    assert len(export_builders.read_rows(finished)) == 1


def test_of_two_sweepers_one_sweeps() -> None:
    export_builders.create_queued()
    with transaction.atomic(), ThreadPoolExecutor(1) as thread:
        cleanup.CLEANUP_LOCK.acquire()
        assert thread.submit(sweep_apart).result() == 0
    assert sweep_apart() == 1


def sweep_apart() -> int:
    """How many exports a sweep on a connection of this thread would enqueue."""
    try:
        return len(cleanup.list_stalled(now=timezone.now()))
    finally:
        connection.close()


def test_a_task_writes_an_export_and_leaves_one_alone_that_has_ended() -> None:
    places(1)
    export = export_builders.create_running()
    write_export(export=str(export.pk), an_argument_of_tomorrow=1)
    export.refresh_from_db()
    assert (row(export.parts.get()), export.status) == (("done", 0, 1), "succeeded")
    (reported,) = Export.objects.values()
    write_export(export=str(export.pk))
    assert list(Export.objects.values()) == [reported]

"""All files of an export are of one snapshot, whoever writes them, however often they die, whatever is changed."""

import logging
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from catalogue.exports.jobs import claims, cleanup, finalize, parts, shared_snapshot, worker
from catalogue.exports.requests import commands
from catalogue.models import Export, ExportPart, Review
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.worker_processes import (
    FAR,
    Workers,
    are_all_closed,
    change_reviews,
    count_transactions,
    create_running,
    restaurant_with_reviews,
    wait_until,
)
from tests.support.live_server import database_url

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


def texts(export: Export) -> list[tuple[str, str]]:
    """What is in the files."""
    return [(row["id"], row["text"]) for row in export_builders.read_rows(export)]


def seen(snapshot: shared_snapshot.Snapshot) -> list[tuple[str, str]]:
    """What is in the database, seen from within a snapshot."""
    select = "SELECT public_id('rev', id), text FROM catalogue_review ORDER BY id"
    return list(snapshot.connection.execute(select).fetchall())


def names(export: Export) -> list[str]:
    """The files of the parts, in their order."""
    return list(export.parts.order_by("seq").values_list("file", flat=True))


def hold_back_the_last(export: Export) -> Callable[[], object]:
    """Keep the export from being finished, until what is returned is called."""
    last = export.parts.filter(pk=export.parts.latest("seq").pk)
    last.update(lease_until=FAR)
    return lambda: last.update(lease_until=None)


def only_the_last_is_left(export: Export) -> bool:
    generation = Export.objects.get(pk=export.pk).generation
    return export.parts.exclude(state="done", generation=generation).count() == 1


@pytest.mark.stack
def test_an_undisturbed_export_is_of_one_snapshot_that_was_taken_once() -> None:
    place = restaurant_with_reviews(400)
    export = create_running(rows_per_part=10)
    go_on = hold_back_the_last(export)
    workers = Workers(export)
    workers.start()
    with change_reviews(place, seed=1) as done:
        wait_until(lambda: export.parts.filter(state="done").count() > 5)
        with shared_snapshot.join_snapshot(export) as snapshot:
            expected = seen(snapshot)
        wait_until(lambda: only_the_last_is_left(export) and len(done) > 40)
        go_on()
        workers.join()
    export.refresh_from_db()
    assert (export.status, export.generation, set(done)) == ("succeeded", 1, {"update", "delete", "insert"})
    assert texts(export) == expected
    assert {text for _, text in texts(export)} != set(Review.objects.values_list("text", flat=True))
    assert set(export.parts.values_list("token", flat=True)) == {1}
    wait_until(are_all_closed, within_s=3)


@pytest.mark.exhaustive
def test_one_worker_alone_takes_one_snapshot_too_however_many_tasks_it_needs() -> None:
    restaurant_with_reviews(20)
    export = create_running(rows_per_part=2)
    enqueued = []
    while export.status == "running":
        builders.review(builders.restaurant(), "In between")
        enqueued.append(worker.run_step(export, max_step_s=0, keep_snapshot_s=30))
        export.refresh_from_db()
    assert (enqueued, export.status, export.generation, export.rows) == ([1] * 10 + [0], "succeeded", 1, 21)
    wait_until(are_all_closed)


@pytest.mark.stack
def test_files_are_of_one_snapshot_though_all_workers_are_killed_and_rows_change(folder: Path) -> None:
    place = restaurant_with_reviews(300)
    export = create_running(rows_per_part=10)
    go_on = hold_back_the_last(export)
    workers = Workers(export)
    for turn in range(3):
        workers.start()
        with change_reviews(place, seed=turn) as done:
            taken = export.parts.filter(token__gt=turn * 2).count()
            wait_until(lambda taken=taken: export.parts.filter(state="done").count() > 3 + taken // 4)  # type: ignore[misc]
            wait_until(lambda done=done: len(done) > 10)  # type: ignore[misc]
            workers.kill()
            cleanup.remove_orphaned_files()
    wait_until(are_all_closed, within_s=5)
    workers.start()
    wait_until(lambda: only_the_last_is_left(export))
    with shared_snapshot.join_snapshot(export) as snapshot:
        expected = seen(snapshot)
        go_on()
        wait_until(lambda: Export.objects.get(pk=export.pk).status != "running")
    workers.join()
    export.refresh_from_db()
    assert (export.status, texts(export) == expected) == ("succeeded", True), export.error
    assert export.generation > 1
    cleanup.remove_orphaned_files()
    manifest = {f"manifest-{export.manifest_sha256}.json"}
    assert {path.name for path in (folder / export.public_id).iterdir()} == {*names(export), *manifest}


@pytest.mark.stack
def test_nothing_of_a_living_export_is_deleted(folder: Path) -> None:
    restaurant_with_reviews(150)
    export = create_running(rows_per_part=5)
    workers = Workers(export)
    workers.start()
    swept = 0
    while Export.objects.get(pk=export.pk).status == "running":
        cleanup.remove_orphaned_files()
        swept += 1
    workers.join()
    export.refresh_from_db()
    assert (export.status, export.error, len(texts(export))) == ("succeeded", "", 150)
    assert swept > 10
    assert len(list((folder / export.public_id).iterdir())) == 31


@pytest.mark.exhaustive
def test_after_a_loss_what_has_changed_is_rewritten_and_the_rest_is_only_checked(folder: Path) -> None:
    restaurant_with_reviews(8)
    export = create_running(rows_per_part=2)
    go_on = hold_back_the_last(export)
    worker.run_step(export)
    export.refresh_from_db()
    assert (export.generation, export.parts.filter(state="done").count()) == (1, 3)
    before = names(export)
    go_on()
    changed = Review.objects.order_by("pk")[3]
    Review.objects.filter(pk=changed.pk).update(text="Quite another")
    export_builders.run_to_end(export)
    after = names(export)
    assert (export.status, export.generation) == ("succeeded", 2)
    assert [previous == now for previous, now in zip(before, after, strict=True)] == [True, False, True, False]
    assert (before[3], texts(export)[3][1]) == ("", "Quite another")
    assert not (folder / export.public_id / before[1]).exists()


@pytest.mark.exhaustive
def test_workers_that_begin_at_once_are_in_one_snapshot() -> None:
    restaurant_with_reviews(2)
    export = create_running(rows_per_part=2)
    ready = Barrier(6)

    def join() -> tuple[int, Any]:
        try:
            mine = Export.objects.get(pk=export.pk)
            ready.wait()
            with shared_snapshot.join_snapshot(mine) as snapshot:
                found = snapshot.connection.execute("SELECT pg_current_snapshot()::text").fetchone()
                ready.wait()
                return snapshot.generation, found
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        found = {future.result() for future in [threads.submit(join) for _ in range(6)]}
    assert [generation for generation, _ in found] == [1]
    export.refresh_from_db()
    assert export.snapshots == []
    wait_until(are_all_closed)


@pytest.mark.exhaustive
def test_a_part_that_was_read_in_a_snapshot_that_is_over_does_not_count_as_it_is() -> None:
    restaurant_with_reviews(4)
    export = create_running(rows_per_part=2)
    first, second = claims.claim_part(export), claims.claim_part(export)
    assert first is not None
    assert second is not None
    with shared_snapshot.join_snapshot(export) as late:
        # Whoever comes now finds nobody.
        Export.objects.update(snapshots=[])
        Review.objects.filter(pk=Review.objects.order_by("pk")[0].pk).update(text="Changed in between")
        with shared_snapshot.join_snapshot(export) as early:
            assert (late.generation, early.generation) == (1, 2)
            parts.write_part(export, second, early)
            parts.write_part(export, first, late)
    assert list(export.parts.order_by("seq").values_list("state", "generation")) == [("done", 1), ("done", 2)]
    finalize.finalize_export(export, now=timezone.now())
    assert export.status == "running"
    export_builders.run_to_end(export)
    assert (export.status, texts(export)[0][1]) == ("succeeded", "Changed in between")


@pytest.mark.exhaustive
def test_a_name_that_means_another_snapshot_by_now_is_ignored() -> None:
    restaurant_with_reviews(1)
    export, other = create_running(rows_per_part=2), create_running(rows_per_part=2, fingerprint="y")
    with shared_snapshot.join_snapshot(export) as one:
        other_name = f"{one.name} 0123456789abcdef"
        Export.objects.filter(pk=other.pk).update(generation=7, snapshots=[other_name])
        with shared_snapshot.join_snapshot(other) as its_own:
            assert its_own.generation == 8


def in_a_savepoint(place: Any) -> None:
    """One transaction changes a row below two savepoints."""
    with transaction.atomic(), transaction.atomic():
        builders.review(builders.restaurant(), "Of another place, and undone")
        with transaction.atomic():
            Review.objects.filter(pk=Review.objects.order_by("pk")[0].pk).update(text="Below a savepoint")


def replaced(place: Any) -> None:
    """A row is gone, another has come into its place."""
    row = Review.objects.order_by("pk")[0]
    Review.objects.filter(pk=row.pk).delete()
    row.save(force_insert=True)


def deleted(place: Any) -> None:
    """A row is gone."""
    Review.objects.order_by("pk")[0].delete()


def moved_out(place: Any) -> None:
    """The place is no longer one of the filter."""
    type(place).objects.filter(pk=place.pk).update(status="permanently_closed")


def renamed(place: Any) -> None:
    """A row of another table that each line has a word of."""
    type(place).objects.filter(pk=place.pk).update(slug="another-slug")


def as_it_was(place: Any) -> None:
    """A row is written without any change."""
    Review.objects.filter(pk=Review.objects.order_by("pk")[0].pk).update(text="Number 1")


@pytest.mark.exhaustive
@pytest.mark.parametrize("change", [in_a_savepoint, replaced, deleted, moved_out, renamed, as_it_was])
def test_a_part_is_rewritten_when_any_row_of_it_may_differ(change: Callable[[Any], None]) -> None:
    place = restaurant_with_reviews(3, slug="a-slug")
    export = create_running(rows_per_part=5, filter={"status": "open"})
    worker.run_step(export, max_step_s=0)
    (before,) = names(export)
    change(place)
    with shared_snapshot.join_snapshot(export) as snapshot:
        assert ExportPart.objects.update(generation=0) == 1
        part = claims.claim_part(export)
        assert part is not None
        assert not parts.reuse_file(export, part, snapshot)
        parts.write_part(export, part, snapshot)
    assert names(export) != [before]


@pytest.mark.exhaustive
def test_what_was_under_way_when_a_part_was_read_is_seen_later() -> None:
    restaurant_with_reviews(3)
    export = create_running(rows_per_part=5)
    with psycopg.connect(database_url()) as apart:
        apart.execute("UPDATE catalogue_review SET text = 'Committed late'")
        # Later transactions are over before it: they do not move the horizon past it.
        builders.review(builders.restaurant(status="permanently_closed"), "Another")
        worker.run_step(export, max_step_s=0)
        before = names(export)
        apart.commit()
    with shared_snapshot.join_snapshot(export) as snapshot:
        ExportPart.objects.update(generation=0)
        part = claims.claim_part(export)
        assert part is not None
        assert not parts.reuse_file(export, part, snapshot)
    assert before == names(export)


@pytest.mark.exhaustive
def test_what_has_not_changed_stands_also_past_the_end_of_transaction_numbers() -> None:
    restaurant_with_reviews(3)
    export = create_running(rows_per_part=5)
    worker.run_step(export, max_step_s=0)
    part = export.parts.get()
    assert part.horizon is not None
    for horizon, stands in ((part.horizon, True), (part.horizon + 5 * 2**32, True), (3, False)):
        ExportPart.objects.update(generation=0, horizon=horizon, lease_until=None)
        claimed = claims.claim_part(export)
        assert claimed is not None
        with shared_snapshot.join_snapshot(export) as snapshot:
            assert parts.reuse_file(export, claimed, snapshot) is stands, horizon


@pytest.mark.exhaustive
def test_a_worker_that_slept_through_its_lease_changes_nothing_when_it_wakes(folder: Path) -> None:
    restaurant_with_reviews(20)
    export = create_running(rows_per_part=50)
    workers = Workers(export, count=1)
    workers.start()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE catalogue_review IN ACCESS EXCLUSIVE MODE")
        wait_until(lambda: claimed_apart(export) > 0)
        workers.signal(signal.SIGSTOP)
    ExportPart.objects.update(lease_until=builders.NOW.replace(year=2020))
    export_builders.run_to_end(export)
    assert export.status == "succeeded"
    cleanup.remove_orphaned_files()
    reported, stored = list(export.parts.values()), export_builders.list_stored(folder)
    workers.signal(signal.SIGCONT)
    workers.join()
    assert list(export.parts.values()) == reported
    assert export_builders.list_stored(folder) == stored


def claimed_apart(export: Export) -> int:
    """How many parts are taken, asked outside of this transaction."""

    def ask() -> int:
        try:
            return export.parts.filter(state="claimed").count()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(ask).result()


@pytest.mark.exhaustive
def test_a_snapshot_is_stored_for_the_next_task_and_no_longer_than_it_may_be() -> None:
    restaurant_with_reviews(4)
    export = create_running(rows_per_part=2)
    worker.run_step(export, max_step_s=0, keep_snapshot_s=0.3)
    assert count_transactions() == 1
    wait_until(are_all_closed, within_s=3)
    export.refresh_from_db()
    assert export.snapshots == []
    worker.run_step(export, max_step_s=0, keep_snapshot_s=60)
    assert count_transactions() == 1
    export.refresh_from_db()
    commands.cancel_export(export, actor="system", now=timezone.now())
    wait_until(are_all_closed, within_s=3)


@pytest.mark.exhaustive
def test_no_snapshot_is_open_while_no_one_is_at_work() -> None:
    restaurant_with_reviews(4)
    export = create_running(rows_per_part=2)
    worker.run_step(export, max_step_s=0)
    assert list(cleanup.filter_runnable()) == [export]
    wait_until(are_all_closed)


@pytest.mark.exhaustive
def test_a_claim_is_released_at_once_when_the_snapshot_cannot_be_joined(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    restaurant_with_reviews(2)
    export = create_running(rows_per_part=2)
    with monkeypatch.context() as patch, caplog.at_level(logging.CRITICAL):
        # Of the connections to come, nobody listens there.
        patch.setitem(connection.settings_dict, "PORT", "1")
        assert worker.run_step(export) == 0
    (part,) = export.parts.all()
    assert (part.state, part.attempts, part.lease_until) == ("queued", 0, None)
    export.refresh_from_db()
    assert (export.error, list(cleanup.filter_runnable())) == ("", [export])
    wait_until(are_all_closed)
    export_builders.run_to_end(export)
    assert (export.status, export.generation) == ("succeeded", 1)


@pytest.mark.exhaustive
def test_an_export_of_the_former_version_is_finished_in_one_snapshot() -> None:
    restaurant_with_reviews(4)
    export = create_running(rows_per_part=2)
    worker.run_step(export)
    Export.objects.filter(pk=export.pk).update(
        status="running", generation=0, snapshots=[], changes_from=None, expires_at=None, rows=None
    )
    export.parts.update(generation=0, horizon=None)
    export.refresh_from_db()
    assert list(cleanup.filter_runnable()) == [export]
    export_builders.run_to_end(export)
    assert (export.status, export.generation, len(texts(export))) == ("succeeded", 1, 4)


@pytest.mark.exhaustive
def test_a_delta_begins_where_transactions_that_the_files_do_not_know_began() -> None:
    restaurant_with_reviews(1)
    export = create_running(rows_per_part=2)
    with psycopg.connect(database_url()) as apart:
        began = apart.execute("SELECT now()").fetchone()
        assert began is not None
        # It has written nothing yet.
        worker.run_step(export)
    export.refresh_from_db()
    assert export.changes_from == began[0]
    assert export.snapshot_at is not None
    assert export.snapshot_at > began[0]

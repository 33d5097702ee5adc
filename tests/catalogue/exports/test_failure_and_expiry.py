"""How exports end: never as done without what they hold, and never without a word."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from catalogue.exports.jobs import claims, finalize, partitioning, parts, shared_snapshot, worker
from catalogue.exports.requests import commands
from catalogue.exports.storage import files
from catalogue.models import Export, ExportPart, Record
from payments.tiers.definitions import ENTERPRISE
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.support.live_server import database_url

pytestmark = pytest.mark.django_db(transaction=True)


class KilledError(BaseException):
    """What a kill is to a process: nobody catches it."""


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


def killed_at(nth: int) -> Callable[..., Any]:
    """Let so many statements through, and no other."""
    left = nth

    def wrapper(execute: Callable[..., Any], *statement: Any) -> Any:
        nonlocal left
        if not left:
            raise KilledError
        left -= 1
        return execute(*statement)

    return wrapper


@pytest.mark.parametrize("nth", range(6))
def test_a_worker_that_is_killed_while_it_gives_up_a_beginning_leaves_nothing_half_done(nth: int) -> None:
    export = export_builders.create_queued()
    Export.objects.update(created_at=timezone.now() - timedelta(days=2))
    export.refresh_from_db()
    with connection.execute_wrapper(killed_at(nth)), suppress(KilledError):
        partitioning.record_failed_start(export, "The database could not count its rows.", now=timezone.now())
    export.refresh_from_db()
    assert export.status in ("queued", "failed")


def test_an_export_without_parts_is_never_done() -> None:
    builders.restaurant()
    export = export_builders.create_queued()
    Export.objects.update(status="running", generation=1)
    finalize.finalize_export(export, now=timezone.now())
    export.refresh_from_db()
    assert (export.status, export.rows) == ("running", None)


def written_but_for_its_end(*, rows_per_part: int = 1, restaurants: int = 3) -> Export:
    """An export whose parts all have their files."""
    for _ in range(restaurants):
        builders.restaurant()
    export = export_builders.create_running(rows_per_part=rows_per_part)
    for _ in range(restaurants - 1):
        assert worker.run_step(export, max_step_s=0, keep_snapshot_s=30) == 1
    assert worker.run_step(export, max_step_s=0, keep_snapshot_s=30) == 1
    assert set(export.parts.values_list("state", flat=True)) == {"done"}
    return export


@pytest.mark.exhaustive
def test_an_export_whose_folder_was_removed_half_way_writes_its_files_again(folder: Path) -> None:
    export = written_but_for_its_end()
    shutil.rmtree(folder / export.public_id)
    finalize.finalize_export(export, now=timezone.now())
    export.refresh_from_db()
    assert (export.status, export.error) == ("running", "3 of its files are missing: they are being written again.")
    assert export_builders.list_stored(folder) == set()
    export_builders.run_to_end(export)
    assert (export.status, export.error, len(export_builders.read_rows(export))) == ("succeeded", "", 3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-1])])
def test_one_file_that_is_gone_or_cut_off_is_rewritten_and_no_other(
    folder: Path, spoil: Callable[[Path], Any]
) -> None:
    export = written_but_for_its_end()
    second = export.parts.get(seq=2)
    before = dict(export.parts.exclude(pk=second.pk).values_list("seq", "file"))
    spoil(folder / files.path_of(export, second))
    export_builders.run_to_end(export)
    assert (export.status, len(export_builders.read_rows(export))) == ("succeeded", 3)
    assert dict(export.parts.exclude(pk=second.pk).values_list("seq", "file")) == before
    assert export.parts.get(seq=2).file != second.file


def test_a_storage_that_loses_a_file_each_time_fails_the_export_with_a_message(folder: Path) -> None:
    export = written_but_for_its_end(restaurants=1)
    losses = 0
    while export.status == "running":
        for path in folder.rglob("*.gz"):
            path.unlink()
            losses += 1
        finalize.finalize_export(export, now=timezone.now())
        worker.run_step(export, max_step_s=0, keep_snapshot_s=30)
        export.refresh_from_db()
        assert losses <= 10
    assert (export.status, export.error, losses) == (
        "failed",
        "Part 1 was written 6 times, and its file disappeared each time.",
        6,
    )


def test_the_end_of_the_last_try_is_judged_by_the_clock_of_the_database() -> None:
    builders.restaurant()
    export = export_builders.create_running()
    ExportPart.objects.update(attempts=5, state="claimed", lease_until=timezone.now() + timedelta(seconds=60))
    finalize.finalize_export(export, now=timezone.now() + timedelta(hours=1))
    export.refresh_from_db()
    assert (export.status, export.error) == ("running", "")
    ExportPart.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    finalize.finalize_export(export, now=timezone.now() - timedelta(hours=1))
    export.refresh_from_db()
    assert (export.status, export.error) == ("failed", "Part 1 could not be written: its worker ended 5 times.")


def test_a_delta_that_is_restarted_too_late_is_refused_with_a_message_and_stays_failed() -> None:
    builders.restaurant()
    first = export_builders.create_finished()
    delta = commands.create_export(
        export_builders.WALLET,
        tier=ENTERPRISE,
        dataset="restaurants",
        format="jsonl.gz",
        since_export=first.public_id,
        now=timezone.now(),
    )
    export_builders.start_export(delta)
    finalize.fail_export(delta, "The disk was full.", now=timezone.now())
    before = Export.objects.values().get(pk=delta.pk)
    assert first.changes_from is not None
    late = first.changes_from + timedelta(days=90, seconds=1)
    with pytest.raises(commands.DeltaTooOld, match="older than 90 days: order everything"):
        commands.restart_export(delta, now=late)
    assert Export.objects.values().get(pk=delta.pk) == before
    assert delta.parts.count() == 2
    assert commands.restart_export(delta, now=late - timedelta(seconds=2))


def test_the_beginning_of_an_export_that_is_restarted_has_a_day_of_its_own() -> None:
    export = export_builders.create_running()
    Export.objects.update(created_at=builders.NOW - timedelta(days=30))
    finalize.fail_export(export, "The disk was full.", now=builders.NOW)
    assert commands.restart_export(export, now=builders.NOW)
    export.refresh_from_db()
    partitioning.record_failed_start(
        export, "The database could not count its rows.", now=builders.NOW + timedelta(hours=23)
    )
    export.refresh_from_db()
    result = "The database could not count its rows."
    assert (export.status, export.error) == ("queued", f"{result} It will be retried.")
    partitioning.record_failed_start(export, result, now=builders.NOW + timedelta(hours=25))
    export.refresh_from_db()
    assert (export.status, export.error, export.snapshots) == ("failed", result, [])


def test_an_export_that_has_ended_names_no_snapshot() -> None:
    builders.restaurant()
    done, failed, cancelled = (
        export_builders.create_running(),
        export_builders.create_running(status="open"),
        export_builders.create_running(market="copenhagen"),
    )
    Export.objects.update(snapshots=["00000003-00000001-1 dead"])
    export_builders.run_to_end(done)
    finalize.fail_export(failed, "The disk was full.", now=timezone.now())
    commands.cancel_export(cancelled, actor="system", now=timezone.now())
    assert set(Export.objects.values_list("status", "snapshots__len")) == {
        ("succeeded", 0),
        ("failed", 0),
        ("cancelled", 0),
    }


@pytest.mark.exhaustive
def test_an_export_that_loses_its_snapshot_after_each_part_gets_on() -> None:
    for _ in range(6):
        builders.restaurant()
    export = export_builders.create_running(rows_per_part=1)
    steps = 0
    while export.status == "running":
        worker.run_step(export, max_step_s=0)
        export.refresh_from_db()
        steps += 1
        if steps <= 6:
            assert export.parts.filter(state="done").count() == steps
        assert steps <= 7
    assert (export.status, steps, len(export_builders.read_rows(export))) == ("succeeded", 7, 6)


def test_a_delta_goes_back_further_where_transactions_of_another_role_cannot_be_seen() -> None:
    with psycopg.connect(database_url()) as another, psycopg.connect(database_url()) as mine:
        another.execute("SELECT now()")
        seen = mine.execute(shared_snapshot.CHANGES_FROM).fetchone()
        mine.execute("CREATE ROLE sees_only_its_own")
        mine.execute("SET ROLE sees_only_its_own")
        unseen = mine.execute(shared_snapshot.CHANGES_FROM).fetchone()
        now = mine.execute("SELECT now()").fetchone()
        mine.rollback()
    assert seen is not None
    assert unseen is not None
    assert now is not None
    assert timedelta() <= now[0] - seen[0] < timedelta(minutes=5)
    assert now[0] - unseen[0] == timedelta(hours=1)


@pytest.mark.exhaustive
def test_a_manifest_says_truly_in_which_order_its_rows_are() -> None:
    for _ in range(2):
        builders.restaurant()
    result = {}
    for dataset in ("restaurants", "history"):
        export = export_builders.create_queued()
        Export.objects.filter(pk=export.pk).update(dataset=dataset, fingerprint=dataset)
        export.refresh_from_db()
        export_builders.run_to_end(export)
        result[dataset] = export_builders.read_manifest(export)["consistency"]
    assert "files and rows are in the order of the ids. Licences" in result["restaurants"]
    assert "files and rows are in the order in which the versions were stored. Licences" in result["history"]


def test_versions_are_read_again_when_the_sources_of_their_restaurant_change() -> None:
    place = builders.restaurant()
    builders.listed(place)
    export = export_builders.create_queued()
    Export.objects.update(dataset="history")
    export.refresh_from_db()
    export_builders.start_export(export)
    assert worker.run_step(export, max_step_s=0) == 1
    assert export.parts.get().rows == 1
    Record.objects.filter(restaurant=place).update(sources=["demo"])
    ExportPart.objects.update(generation=0)
    export.refresh_from_db()
    claimed = claims.claim_part(export)
    assert claimed is not None
    with shared_snapshot.join_snapshot(export) as snapshot:
        assert not parts.reuse_file(export, claimed, snapshot)

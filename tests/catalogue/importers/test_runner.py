"""Runs: the same file again, two at once, killed half-way, dry; and the command around them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from io import StringIO
from pathlib import Path
from queue import Empty
from threading import Barrier
from time import monotonic
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from catalogue import reference_data
from catalogue.hours import open_intervals
from catalogue.importers.row_errors import UnreadableFileError
from catalogue.importers.sources import native_jsonl
from catalogue.models import ImportRun, Restaurant, SourceRecord
from config.celery import app
from tests.catalogue.importers.import_runs import (
    NOW,
    cafe,
    counts,
    feature,
    geojson,
    import_restaurants,
    json_lines,
    rejected,
)
from tests.support.live_server import database_url


@pytest.fixture
def _markets(db: None) -> None:
    reference_data.load_dictionaries()


pytestmark = pytest.mark.usefixtures("_markets")


def cafes(number: int) -> list[dict[str, Any]]:
    """Every 200 m one, so that none is like another."""
    return [
        feature(
            {"amenity": "cafe", "name": f"Café {each}"},
            id=f"node/{each + 1}",
            lat=55.6 + each // 40 * 0.003,
            lng=12.5 + each % 40 * 0.004,
        )
        for each in range(number)
    ]


def command(*arguments: object) -> str:
    """What the command prints."""
    out = StringIO()
    call_command("catalogue_import", *map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.mark.exhaustive
def test_the_same_file_again_changes_nothing(tmp_path: Path) -> None:
    file = geojson(tmp_path / "a.geojson", cafes(20))
    assert counts(import_restaurants(file)) == {"created": 20}
    before = list(Restaurant.objects.order_by("pk").values())
    records = list(SourceRecord.objects.order_by("pk").values())
    assert counts(import_restaurants(file, now=NOW.replace(year=2027))) == {"unchanged": 20}
    assert list(Restaurant.objects.order_by("pk").values()) == before
    assert list(SourceRecord.objects.order_by("pk").values()) == records


@pytest.mark.exhaustive
def test_a_tag_that_we_do_not_read_is_no_new_version(tmp_path: Path) -> None:
    import_restaurants(geojson(tmp_path / "a.geojson", [feature({"amenity": "cafe", "name": "Noma"}, id="node/1")]))
    tags = {"amenity": "cafe", "name": "Noma", "check_date": "2026-11-20"}
    later = NOW.replace(year=2027)
    again = geojson(tmp_path / "b.geojson", [feature(tags, id="node/1")])
    assert counts(import_restaurants(again, now=later)) == {"unchanged": 1}
    place = Restaurant.objects.get()
    assert (place.version, place.updated_at) == (1, NOW)
    assert SourceRecord.objects.get().updated_at == later


@pytest.mark.exhaustive
def test_a_change_is_a_new_version_under_the_same_slug(tmp_path: Path) -> None:
    import_restaurants(geojson(tmp_path / "a.geojson", [feature({"amenity": "cafe", "name": "Noma"}, id="node/1")]))
    later = NOW.replace(year=2027)
    renamed = geojson(tmp_path / "b.geojson", [feature({"amenity": "cafe", "name": "Noma 2"}, id="node/1")])
    assert counts(import_restaurants(renamed, now=later)) == {"changed": 1}
    place = Restaurant.objects.get()
    assert (place.slug, place.name, place.version) == ("noma", "Noma 2", 2)
    assert (place.created_at, place.updated_at) == (NOW, later)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("tags", "is_due"),
    [
        ({"opening_hours": "24/7", "phone": "+45 32155656"}, False),
        ({"opening_hours": "Mo-Fr 10:00-12:00"}, True),
        ({"opening_hours": "24/7", "disused": "yes"}, True),
        ({}, True),
    ],
)
def test_new_hours_or_a_new_status_make_the_open_intervals_due(
    tmp_path: Path, tags: dict[str, str], is_due: bool
) -> None:
    first = {"amenity": "cafe", "name": "Noma", "opening_hours": "24/7"}
    import_restaurants(geojson(tmp_path / "a.geojson", [feature(first, id="node/1")]))
    open_intervals.refresh_open_intervals(now=NOW)
    import_restaurants(
        geojson(tmp_path / "b.geojson", [feature({"amenity": "cafe", "name": "Noma"} | tags, id="node/1")])
    )
    assert Restaurant.objects.exclude(search_row__intervals_until__isnull=False).exists() is is_due


@pytest.mark.exhaustive
def test_what_the_source_removes_is_emptied_and_what_it_never_stated_stays(tmp_path: Path) -> None:
    stated = {"amenity": "cafe", "name": "Noma", "phone": "+45 32155656"}
    import_restaurants(geojson(tmp_path / "a.geojson", [feature(stated, id="node/1")]))
    Restaurant.objects.update(website="https://noma.dk", price_level=4)
    import_restaurants(geojson(tmp_path / "b.geojson", [feature({"amenity": "cafe", "name": "Noma"}, id="node/1")]))
    place = Restaurant.objects.get()
    assert (place.phone, place.website, place.price_level) == (None, "https://noma.dk", 4)


@pytest.mark.exhaustive
def test_what_staff_locked_stays_and_the_rest_is_changed(tmp_path: Path) -> None:
    stated = {
        "amenity": "cafe",
        "name": "Noma",
        "phone": "+45 32155656",
        "cuisine": "seafood",
        "opening_hours": "24/7",
    }
    import_restaurants(geojson(tmp_path / "a.geojson", [feature(stated, id="node/1")]))
    Restaurant.objects.update(name="Ours", locked_fields=["name", "phone", "cuisine", "cuisines", "hours"])
    tags = {"amenity": "cafe", "name": "Theirs", "cuisine": "pizza", "website": "https://noma.dk"}
    later = geojson(tmp_path / "b.geojson", [feature(tags, id="node/1")])
    assert counts(import_restaurants(later)) == {"changed": 1}
    place = Restaurant.objects.get()
    assert (place.name, place.phone, place.cuisine_id, place.cuisines, place.website, place.version) == (
        "Ours", "+4532155656", "seafood", ["seafood"], "https://noma.dk", 3,
    )  # fmt: skip
    assert place.hours is not None
    again = geojson(tmp_path / "c.geojson", [feature(tags | {"name": "Theirs too"}, id="node/1")])
    assert counts(import_restaurants(again)) == {"unchanged": 1}


@pytest.mark.exhaustive
def test_a_field_released_takes_the_value_of_its_source_again(tmp_path: Path) -> None:
    file = geojson(tmp_path / "a.geojson", [feature({"amenity": "cafe", "name": "Noma"}, id="node/1")])
    import_restaurants(file)
    Restaurant.objects.update(name="Ours", locked_fields=[])
    SourceRecord.objects.update(digest="")
    assert counts(import_restaurants(file)) == {"changed": 1}
    assert Restaurant.objects.get().name == "Noma"


@pytest.mark.exhaustive
def test_a_run_leaves_its_counts_and_its_rejects(tmp_path: Path) -> None:
    file = geojson(tmp_path / "a.geojson", [cafe("Noma"), cafe(""), feature({"amenity": "bank"})])
    import_restaurants(file, market="copenhagen")
    row = ImportRun.objects.get()
    assert (row.source_id, row.market_id, row.state, row.started_at) == ("osm", "copenhagen", "done", NOW)
    assert (row.read, row.created, row.changed, row.unchanged, row.skipped, row.rejected) == (3, 1, 0, 0, 1, 1)
    assert (row.file, row.rejects_file) == (str(file), str(tmp_path / "a.rejects"))
    assert row.finished_at is not None
    assert rejected(file) == [
        {"file": "a.geojson", "number": 2, "outcome": "rejected", "reason": "The place has no name.", "row": cafe("")}
    ]


@pytest.mark.exhaustive
def test_a_dry_run_counts_and_leaves_nothing(tmp_path: Path) -> None:
    file = geojson(tmp_path / "a.geojson", [*cafes(3), cafe("")])
    assert counts(import_restaurants(file, dry_run=True)) == {"created": 3, "rejected": 1}
    assert not Restaurant.objects.exists()
    assert not ImportRun.objects.exists()
    assert counts(import_restaurants(file)) == {"created": 3, "rejected": 1}


@pytest.mark.deep
def test_a_file_that_is_cut_off_keeps_what_comes_before_and_says_so(tmp_path: Path) -> None:
    file = geojson(tmp_path / "a.geojson", cafes(1201))
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(UnreadableFileError, match=r"^This is no GeoJSON, or it is cut off: "):
        import_restaurants(file)
    row = ImportRun.objects.get()
    assert (row.state, row.created, Restaurant.objects.count()) == ("failed", 1200, 1200)
    assert row.error.startswith("This is no GeoJSON, or it is cut off: ")


@pytest.mark.exhaustive
def test_a_row_that_only_the_database_refuses_costs_its_batch_nothing(tmp_path: Path) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE catalogue_restaurant ADD CONSTRAINT no_number_three CHECK (name <> 'Café 3')")
    file = geojson(tmp_path / "a.geojson", cafes(5))
    assert counts(import_restaurants(file)) == {"created": 4, "rejected": 1}
    [reject] = rejected(file)
    assert reject["number"] == 4
    assert reject["reason"].startswith("The database rejects it: new row for relation")


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = monotonic() + 60
    while not condition():
        assert monotonic() < deadline, "What the test waits for does not happen."


def backends(*, waiting: bool = False) -> int:
    """How many other connections to this database there are; or only those that wait for a lock."""
    with connection.cursor() as cursor:
        # Within a transaction the first look would be remembered.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND (NOT %s OR wait_event_type = 'Lock')",
            [waiting],
        )
        count: int = cursor.fetchone()[0]
        return count


@contextmanager
def begun(file: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The command as a process of its own, on the database of the tests, killed at the end if it still runs."""
    with subprocess.Popen(
        [sys.executable, settings.BASE_DIR / "manage.py", "catalogue_import", "osm", file],
        env=os.environ | {"DATABASE_URL": database_url()} | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_two_runs_of_one_file_at_once_make_each_restaurant_once(tmp_path: Path) -> None:
    files = [geojson(tmp_path / name, cafes(1500)) for name in ("a.geojson", "b.geojson")]
    barrier = Barrier(2)

    def imported(file: Path, market: str | None) -> dict[str, int]:
        try:
            barrier.wait()
            return counts(import_restaurants(file, market=market))
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        runs = [
            each.result()
            for each in [threads.submit(imported, files[0], None), threads.submit(imported, files[1], "copenhagen")]
        ]
    assert sum(run.get("created", 0) for run in runs) == 1500
    assert sum(run.get("unchanged", 0) for run in runs) == 1500
    assert Restaurant.objects.count() == SourceRecord.objects.count() == 1500


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_two_sources_that_want_the_same_slugs_at_once_both_get_some(tmp_path: Path) -> None:
    files = [
        geojson(
            tmp_path / "a.geojson",
            [
                feature({"amenity": "cafe", "name": "Noma"}, id=f"node/{n + 1}", lat=55.6, lng=12.35 + n / 400)
                for n in range(200)
            ],
        ),
        json_lines(
            tmp_path / "b.jsonl",
            [{"id": str(n), "name": "Noma", "location": {"lat": 55.75, "lng": 12.35 + n / 400}} for n in range(200)],
        ),
    ]
    barrier = Barrier(2)

    def imported(file: Path, **options: Any) -> dict[str, int]:
        try:
            barrier.wait()
            return counts(import_restaurants(file, **options))
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        runs = [
            threads.submit(imported, files[0]),
            threads.submit(imported, files[1], reader=native_jsonl.READER),
        ]
        assert [each.result() for each in runs] == [{"created": 200}, {"created": 200}]
    assert Restaurant.objects.count() == 400


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_a_killed_run_leaves_whole_batches_and_the_next_completes_it(tmp_path: Path) -> None:
    file = geojson(tmp_path / "a.geojson", cafes(1500))
    # Such as those of products that other tests have started.
    others = backends()
    with transaction.atomic():
        # The last slug is taken, though not for certain yet: the second batch waits for us.
        Restaurant.objects.create(
            slug="cafe-1499", name="Ours", market_id="copenhagen", country="DK", created_at=NOW, updated_at=NOW
        )
        with begun(file):
            wait_until(lambda: Restaurant.objects.count() == 1001 and backends(waiting=True) == 1)
        transaction.set_rollback(True)
    wait_until(lambda: backends() <= others)
    assert Restaurant.objects.count() == SourceRecord.objects.count() == 1000
    assert ImportRun.objects.get().state == "running"
    assert counts(import_restaurants(file)) == {"created": 500, "unchanged": 1000}
    killed, completed = ImportRun.objects.order_by("pk")
    assert (killed.state, killed.error) == ("failed", "The run was killed. Import the file again.")
    assert (completed.state, completed.read) == ("done", 1500)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_run_that_begins_beside_another_does_not_take_it_for_dead(tmp_path: Path) -> None:
    files = [geojson(tmp_path / name, cafes(1)) for name in ("a.geojson", "b.geojson")]

    def rival() -> None:
        try:
            import_restaurants(files[1])
        finally:
            connection.close()

    def begin_beside(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith("SELECT pg_try_advisory_lock("):
            with ThreadPoolExecutor(1) as threads:
                threads.submit(rival).result()
        return execute(sql, *rest)

    with connection.execute_wrapper(begin_beside):
        import_restaurants(files[0])
    assert list(ImportRun.objects.values_list("state", "error")) == [("done", "")] * 2


@pytest.mark.exhaustive
def test_the_command_prints_a_table_and_where_the_rejects_are(tmp_path: Path) -> None:
    files = [
        geojson(tmp_path / "a.geojson", [cafe("Noma"), cafe("")]),
        geojson(tmp_path / "b.geojson", [feature({"shop": "bakery"})]),
    ]
    rejects = tmp_path / "rejects" / "r.jsonl"
    options = ("--market", "copenhagen", "--rejects", rejects, "--max-rejected", "50")
    lines = command("osm", *files, *options).splitlines()
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]
    assert rows == [
        ["a.geojson", "2", "1", "0", "0", "0", "0", "1", "0", "0", "0"],
        ["b.geojson", "1", "0", "0", "0", "0", "1", "0", "0", "0", "0"],
        ["rejected", "The place has no name.", "1", "row 2: The place has no name."],
        ["skipped", "not a place to eat or drink", "1", ""],
    ]
    assert lines[-1] == f"1 rejected: see {rejects}"
    assert json.loads(rejects.read_text())["number"] == 2


@pytest.mark.exhaustive
def test_the_exit_status_is_3_if_more_rows_are_rejected_than_allowed(tmp_path: Path) -> None:
    file = geojson(tmp_path / "a.geojson", [*cafes(8), cafe(""), cafe("")])
    with pytest.raises(CommandError, match=r"^2 of 10 rows were rejected, more than 5 %.$") as failed:
        command("osm", file)
    assert failed.value.returncode == 3
    assert Restaurant.objects.count() == 8
    command("osm", file, "--max-rejected", "20")
    with pytest.raises(CommandError, match=r"^2 of 10 rows were rejected, more than 19.9 %.$"):
        command("osm", file, "--max-rejected", "19.9")


@pytest.mark.exhaustive
def test_without_refused_rows_there_is_no_file_of_rejects(tmp_path: Path) -> None:
    rejects = tmp_path / "r.jsonl"
    assert "rejected:" not in command("osm", geojson(tmp_path / "a.geojson", [cafe("Noma")]), "--rejects", rejects)
    assert not rejects.exists()


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_standard_input_is_read_as_a_file(tmp_path: Path) -> None:
    content = geojson(tmp_path / "a.geojson", [cafe("Noma")]).read_text()
    with begun(Path("-")) as process:
        _, errors = process.communicate(content, timeout=120)
    assert (process.returncode, Restaurant.objects.count()) == (0, 1), errors


@pytest.mark.exhaustive
def test_an_unknown_market_is_refused_with_the_one_that_was_meant(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"^Unknown market `kopenhagen`. Did you mean `copenhagen`\? Known: "):
        command("osm", geojson(tmp_path / "a.geojson", []), "--market", "kopenhagen")


def test_a_missing_file_is_refused_before_anything_is_imported(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"^No such file: .*/none.geojson$"):
        command("osm", geojson(tmp_path / "a.geojson", [cafe("Noma")]), tmp_path / "none.geojson")
    assert not Restaurant.objects.exists()


@pytest.mark.exhaustive
def test_an_unreadable_file_does_not_keep_the_others_out(tmp_path: Path) -> None:
    bad = tmp_path / "bad.geojson"
    bad.write_text("name,lat\n")
    with pytest.raises(CommandError, match=r"bad.geojson: This is no GeoJSON, or it is cut off: "):
        command("osm", bad, geojson(tmp_path / "a.geojson", [cafe("Noma")]))
    assert Restaurant.objects.count() == 1
    assert list(ImportRun.objects.order_by("pk").values_list("state", flat=True)) == ["failed", "done"]


@pytest.mark.exhaustive
def test_an_import_enqueues_the_open_intervals_and_a_dry_run_does_not(tmp_path: Path) -> None:
    file = geojson(tmp_path / "a.geojson", [cafe("Noma")])
    with app.connection_for_read() as broker, closing(broker.SimpleQueue("standard")) as queue:
        queue.clear()
        command("osm", file, "--dry-run")
        with pytest.raises(Empty):
            queue.get(block=False)
        command("osm", file)
        assert queue.get(timeout=5).headers["task"] == "catalogue.tasks.refresh_open_intervals"
        queue.clear()


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
def test_an_import_survives_that_the_broker_is_away(tmp_path: Path) -> None:
    with begun(geojson(tmp_path / "a.geojson", [cafe("Noma")]), BROKER_URL="redis://127.0.0.1:1") as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "WARNING tablewire.worker task catalogue.tasks.refresh_open_intervals was not enqueued" in errors
    assert Restaurant.objects.count() == 1

"""What happens while an import runs: staff merge, the clock goes on, others want the same restaurants."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.db import connection, transaction

from catalogue import places, reference_data
from catalogue.importers import runner, snapshot_sync
from catalogue.importers.parsing.market_lookup import MarketIndex
from catalogue.importers.runner import RejectsFile
from catalogue.importers.sources import native_jsonl
from catalogue.importers.upsert import RestaurantImport
from catalogue.models import Restaurant, SourceRecord, Version
from tests.catalogue.importers.import_runs import NOW, counts, import_restaurants, json_lines


@pytest.fixture
def _markets(db: None) -> None:
    reference_data.load_dictionaries()


pytestmark = pytest.mark.usefixtures("_markets")


def line(number: int, **more: Any) -> dict[str, Any]:
    where = {"lat": 52.45 + number * 0.01, "lng": 13.35}
    return {"id": f"stube-{number}", "name": f"Stube {number}", "location": where} | more


def place(number: int) -> Restaurant:
    return SourceRecord.objects.get(record=f"stube-{number}").restaurant


def is_a_transaction_waiting() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)"
            " WHERE NOT granted AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0])


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_record_that_staff_move_concurrently_is_written_to_its_new_restaurant(tmp_path: Path) -> None:
    import_restaurants(json_lines(tmp_path / "a.jsonl", map(line, range(3))), reader=native_jsonl.READER)
    first, second = place(0), place(1)
    is_merging = Event()

    def merged() -> None:
        try:
            with transaction.atomic():
                places.merge(first, second, actor="staff:1", now=NOW)
                is_merging.set()
                while not is_a_transaction_waiting():
                    is_merging.wait(0.05)
        finally:
            connection.close()

    def imported() -> dict[str, int]:
        try:
            is_merging.wait(10)
            lines = [line(0, website="https://a.example"), line(2, website="https://c.example")]
            return counts(import_restaurants(json_lines(tmp_path / "b.jsonl", lines), reader=native_jsonl.READER))
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        merging, importing = threads.submit(merged), threads.submit(imported)
        merging.result(30)
        assert importing.result(30) == {"changed": 2}
    first.refresh_from_db()
    assert (place(0).pk, place(0).website, place(2).website) == (second.pk, "https://a.example", "https://c.example")
    assert (first.merged_into_id, first.website) == (second.pk, None)


@pytest.mark.exhaustive
def test_each_batch_is_of_the_moment_at_which_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_sync, "BATCH_SIZE", 2)
    minutes = count()
    importer = RestaurantImport(
        native_jsonl.READER, MarketIndex.load(only=None), lambda: NOW + timedelta(minutes=next(minutes))
    )
    file = json_lines(tmp_path / "a.jsonl", map(line, range(4)))
    snapshot_sync.import_snapshot(importer, [file], market=None, rejects=RejectsFile(tmp_path / "rejects"), now=NOW)
    moments = [place(number).updated_at for number in range(4)]
    assert moments[0] == moments[1] < moments[2] == moments[3]
    assert sorted(set(Version.objects.values_list("at", flat=True))) == moments[1:3]


@pytest.mark.exhaustive
def test_a_batch_ends_with_its_5000th_review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_sync, "MAX_REVIEWS_PER_WRITE", 5)
    reviews = [{"id": str(each), "stars": 4, "author": "A", "created_at": "2026-01-02T10:00:00Z"} for each in range(7)]
    sizes = []

    def remembered(importer: Any, found: Any, **options: Any) -> Any:
        sizes.append(len(found))
        return runner.write_batch(importer, found, **options)

    monkeypatch.setattr(snapshot_sync, "write_batch", remembered)
    text = [2, 3, 1, 7, 0, 0, 5]
    file = json_lines(tmp_path / "a.jsonl", [line(at, reviews=reviews[:each]) for at, each in enumerate(text)])
    assert counts(import_restaurants(file, reader=native_jsonl.READER)) == {"created": 7}
    assert sizes == [2, 1, 1, 3]
    assert [place(number).review_count for number in range(7)] == text

"""Parquet files with columns of other types than their sources write: a row is rejected, nothing breaks."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from catalogue.importers.runner import RunTotals
from catalogue.importers.sources import foursquare, overture
from catalogue.importers.upsert import SourceReader
from catalogue.models import Landmark
from tests.catalogue.importers.import_runs import import_restaurants
from tests.catalogue.importers.test_overture import place

UNEXPECTED_VALUES: dict[str, list[Any]] = {
    "nulls": [None, None],
    "numbers": [5, None],
    "halves": [0.5, None],
    "lists": [[1], []],
    "lists of lists": [[["x"]], None],
    "lists of objects": [[{"x": 1}], [None]],
    "objects": [{"primary": 5, "common": 5, "freeform": 5, "wikidata": 5}, None],
    "nested objects": [{"primary": {"x": [1]}, "hierarchy": [{"x": 1}], "alternate": {"x": 1}}, None],
    "bytes": [b"\xff", b""],
    "flags": [True, False],
}


@pytest.fixture(autouse=True)
def _markets(stored_reference_data: None, db: None) -> None:
    """Known markets, cuisines and landmarks."""


def take(reader: SourceReader, rows: list[dict[str, Any]], path: Path, column: str, values: list[Any]) -> RunTotals:
    """Import rows of which one column holds these values instead."""
    columns = {name: [row.get(name) for row in rows] for name in {*rows[0], column}} | {column: values}
    pq.write_table(pa.table(columns), path / "a.parquet")
    return import_restaurants(path / "a.parquet", reader=reader, complete=False, dry_run=True)


@pytest.mark.sample(2)
@pytest.mark.parametrize("column", sorted(overture.COLUMNS))
def test_unexpected_overture_column_rejects_only_its_rows(tmp_path: Path, column: str) -> None:
    for kind, values in UNEXPECTED_VALUES.items():
        totals = take(overture.READER, [place(1), place(2)], tmp_path, column, values)
        assert totals.read == totals.created + totals.merged + totals.skipped + totals.rejected == 2, kind


@pytest.mark.deep
@pytest.mark.parametrize("column", sorted(foursquare.COLUMNS))
def test_unexpected_foursquare_column_rejects_only_its_rows(tmp_path: Path, column: str) -> None:
    row = {
        "name": "Noma",
        "address": "Gade 1",
        "locality": "København",
        "region": None,
        "postcode": "1620",
        "country": "DK",
        "tel": "+4532155656",
        "website": "https://example.com",
        "fsq_category_labels": ["Dining and Drinking > Restaurant"],
        "date_closed": None,
    }
    rows = [row | {"fsq_place_id": str(each), "latitude": 55.66 + each / 100, "longitude": 12.5} for each in range(2)]
    for kind, values in UNEXPECTED_VALUES.items():
        totals = take(foursquare.READER, rows, tmp_path, column, values)
        assert totals.read == totals.created + totals.merged + totals.skipped + totals.rejected == 2, kind


def test_a_hotel_of_foursquare_becomes_a_landmark_unless_it_has_closed(tmp_path: Path) -> None:
    row = {
        **dict.fromkeys(foursquare.COLUMNS),
        "fsq_category_labels": ["Travel and Transportation > Lodging > Hotel"],
        "latitude": 55.66,
        "longitude": 12.5,
    }
    rows = [
        row | {"fsq_place_id": "1", "name": "Hotel Petri"},
        row | {"fsq_place_id": "2", "name": "Gone", "date_closed": "2026-01-01"},
    ]
    file = tmp_path / "hotels.parquet"
    pq.write_table(pa.Table.from_pylist(rows), file)
    totals = import_restaurants(file, reader=foursquare.READER)
    assert (totals.created, totals.skipped) == (0, 2)
    assert Landmark.objects.get(source="foursquare").kind == "hotel"

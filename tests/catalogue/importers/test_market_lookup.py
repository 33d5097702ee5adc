"""Foursquare's open places and New York's inspections, by their documented columns."""

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from catalogue.importers.row_errors import UnreadableFileError
from catalogue.importers.sources import foursquare, nyc_inspections
from catalogue.models import Restaurant, SourceRecord
from tests.catalogue.importers.import_runs import counts, import_restaurants, rejected

VENUE = {
    "fsq_place_id": "4b0588f1f964a520d9d422e3",
    "name": "Kødbyens Fiskebar",
    "latitude": 55.6681,
    "longitude": 12.5594,
    "address": "Flæsketorvet 100",
    "locality": "København",
    "region": "Hovedstaden",
    "postcode": "1711",
    "admin_region": None,
    "post_town": None,
    "po_box": None,
    "country": "DK",
    "date_created": "2010-01-02",
    "date_refreshed": "2026-10-01",
    "date_closed": None,
    "tel": "32 15 56 56",
    "website": "fiskebaren.dk",
    "email": "hello@fiskebaren.dk",
    "facebook_id": 12,
    "instagram": None,
    "twitter": None,
    "fsq_category_ids": ["4bf58dd8d48988d1ce941735"],
    "fsq_category_labels": ["Dining and Drinking > Restaurant > Seafood Restaurant", "Dining and Drinking > Bar"],
}
HEADER = (
    "CAMIS,DBA,BORO,BUILDING,STREET,ZIPCODE,PHONE,CUISINE DESCRIPTION,INSPECTION DATE,ACTION,GRADE,Latitude,Longitude"
)
CLOSED = "Establishment Closed by DOHMH. Violations were cited."


@pytest.fixture(autouse=True)
def _markets(stored_reference_data: None, db: None) -> None:
    """Known markets, cuisines and landmarks."""


def venues(path: Path, *rows: dict[str, Any]) -> Path:
    pq.write_table(pa.Table.from_pylist([VENUE | row for row in rows]), path)
    return path


def inspections(path: Path, *lines: str) -> Path:
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


def take(path: Path, reader: Any, **options: Any) -> dict[str, int]:
    return counts(import_restaurants(path, reader=reader, **options))


def test_a_venue_of_foursquare_is_taken_whole(tmp_path: Path) -> None:
    shops = [{"fsq_category_labels": ["Retail > Shop"]}, {"fsq_category_labels": ["Dining and Drinking > Bakery"]}]
    file = venues(tmp_path / "a.parquet", {}, *shops, {"fsq_category_labels": None})
    assert take(file, foursquare.READER) == {"created": 1, "skipped": 3}
    place = Restaurant.objects.get()
    assert (place.name, place.market_id, place.status, place.phone, place.website) == (
        "Kødbyens Fiskebar", "copenhagen", "open", "+4532155656", "https://fiskebaren.dk",
    )  # fmt: skip
    assert (place.line1, place.locality, place.region, place.postal_code) == (
        "Flæsketorvet 100", "København", "Hovedstaden", "1711",
    )  # fmt: skip
    assert (place.cuisines, place.attributes) == (["seafood", "bar"], {"kind": "restaurant"})
    assert place.external_ids == {"foursquare": "4b0588f1f964a520d9d422e3"}


@pytest.mark.exhaustive
def test_a_venue_that_was_only_refreshed_is_unchanged_and_one_with_a_closing_day_is_closed(tmp_path: Path) -> None:
    take(venues(tmp_path / "a.parquet", {}), foursquare.READER)
    assert take(venues(tmp_path / "b.parquet", {"date_refreshed": "2026-11-01"}), foursquare.READER) == {
        "unchanged": 1
    }
    closed = {"date_closed": date(2026, 11, 1).isoformat()}
    assert take(venues(tmp_path / "c.parquet", closed), foursquare.READER) == {"changed": 1}
    assert Restaurant.objects.get().status == "permanently_closed"


def test_other_files_are_reported_as_not_foursquare(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist([{"name": "x"}]), tmp_path / "x.parquet")
    with pytest.raises(UnreadableFileError, match=r"^These are no Foursquare places: address, country, "):
        take(tmp_path / "x.parquet", foursquare.READER)


def test_broken_venues_are_refused(tmp_path: Path) -> None:
    file = venues(tmp_path / "a.parquet", {"name": None}, {"latitude": 95.0})
    assert take(file, foursquare.READER) == {"rejected": 2}


def test_rows_of_one_camis_are_one_restaurant_wherever_they_stand(tmp_path: Path) -> None:
    file = inspections(
        tmp_path / "a.csv",
        "41,JOE'S PIZZA,Manhattan,7,CARMINE STREET,10014,2123661182,Pizza,2024-01-02T00:00:00,Violation,A,40.73,-74.0",
        "42,Green,Queens,1,A ST,11101,,Other,1900-01-01T00:00:00,,,0,0",
        f"41,JOE'S PIZZA,Manhattan,7,CARMINE STREET,10014,2123661182,Pizza,2025-03-04T00:00:00,{CLOSED},,40.73,-74.0",
        "broken,X,Queens,1,A ST,11101,,Other,1900-01-01T00:00:00,,,0,0",
    )
    assert take(file, nyc_inspections.READER) == {"created": 2, "unchanged": 1, "rejected": 1}
    assert rejected(file)[0]["reason"] == "camis: 'broken' is no number."
    pizza, green = Restaurant.objects.order_by("-name")
    pizza, green = (pizza, green) if pizza.cuisines else (green, pizza)
    assert (pizza.name, pizza.line1, pizza.locality, pizza.region, pizza.phone) == (
        "Joe's Pizza", "7 Carmine Street", "Manhattan", "NY", "+12123661182",
    )  # fmt: skip
    assert (pizza.status, pizza.cuisines, pizza.attributes, pizza.external_ids) == (
        "temporarily_closed", ["pizza"], {"inspection_grade": "A"}, {"camis": "41"},
    )  # fmt: skip
    assert (green.status, green.latitude, green.market_id, green.cuisines) == ("unverified", None, "new-york", [])
    assert take(file, nyc_inspections.READER) == {"unchanged": 3, "rejected": 1}


def test_the_order_of_rows_plays_no_part_and_a_new_inspection_does(tmp_path: Path) -> None:
    first = "41,JOE,Queens,7,A ST,11101,,Pizza,2024-01-02T00:00:00,Violations,A,40.73,-73.9"
    second = f"41,JOE,Queens,7,A ST,11101,,Pizza,2025-01-02T00:00:00,{CLOSED},,40.73,-73.9"
    third = "41,JOE,Queens,7,A ST,11101,,Pizza,2025-02-02T00:00:00,Establishment re-opened by DOHMH.,B,40.73,-73.9"
    take(inspections(tmp_path / "a.csv", first, second), nyc_inspections.READER)
    assert take(inspections(tmp_path / "b.csv", second, first), nyc_inspections.READER) == {"unchanged": 2}
    assert take(inspections(tmp_path / "c.csv", second, third, first), nyc_inspections.READER) == {
        "changed": 1,
        "unchanged": 2,
    }
    place = Restaurant.objects.get()
    assert (place.status, place.attributes) == ("open", {"inspection_grade": "B"})
    assert SourceRecord.objects.count() == 1

"""One restaurant from several sources: who is joined, who is asked for, and who says what."""

from pathlib import Path
from typing import Any

import pytest

from catalogue.importers.sources import native_jsonl
from catalogue.models import MatchCandidate, Restaurant, SourceRecord
from tests.catalogue import builders
from tests.catalogue.importers.import_runs import NOW, counts, feature, geojson, import_restaurants, json_lines

LATER = NOW.replace(year=2027)
TAGS = {
    "amenity": "restaurant",
    "name": "Kødbyens Fiskebar",
    "addr:street": "Flæsketorvet",
    "addr:housenumber": "100",
    "phone": "+45 32155656",
    "opening_hours": "Mo-Su 17:30-24:00",
}
LINE = {
    "id": "fiskebar",
    "name": "Fiskebar",
    "location": {"lat": 55.6762, "lng": 12.5683},
    "address": {"line1": "Flæsketorvet 100", "postal_code": "1711"},
    "phone": "32 15 56 56",
    "website": "https://fiskebaren.dk",
    "cuisines": ["seafood"],
    "status": "open",
}


@pytest.fixture(autouse=True)
def _markets(stored_reference_data: None, db: None) -> None:
    """Known markets, cuisines and landmarks."""


def osm(tmp_path: Path, *tags: dict[str, Any], **options: Any) -> dict[str, int]:
    rows = [feature(TAGS | each, id=f"node/{number}") for number, each in enumerate(tags, start=1)]
    return counts(import_restaurants(geojson(tmp_path / "a.geojson", rows), **options))


def owner(tmp_path: Path, *lines: dict[str, Any], **options: Any) -> dict[str, int]:
    file = json_lines(tmp_path / "b.jsonl", [LINE | line for line in lines])
    return counts(import_restaurants(file, reader=native_jsonl.READER, **options))


def fields(source: str) -> list[str]:
    return SourceRecord.objects.get(source=source).fields


@pytest.mark.exhaustive
def test_a_record_of_a_known_place_is_joined_and_fills_only_what_is_missing(tmp_path: Path) -> None:
    osm(tmp_path, {})
    assert owner(tmp_path, {}, now=LATER) == {"merged": 1}
    place = Restaurant.objects.get()
    assert (place.name, place.website, place.postal_code, place.cuisine_id) == (
        "Kødbyens Fiskebar", "https://fiskebaren.dk", "1711", "seafood",
    )  # fmt: skip
    assert (place.latitude, place.version, place.versions.get(version=2).actor) == (55.6761, 2, "import:native")
    assert fields("native") == ["postal_code", "website", "cuisine", "cuisines"]
    assert "cuisine" not in fields("osm")
    assert owner(tmp_path, {}) == {"unchanged": 1}
    assert osm(tmp_path, {}) == {"unchanged": 1}


@pytest.mark.exhaustive
def test_two_sources_with_one_number_verify_it_until_it_changes(tmp_path: Path) -> None:
    osm(tmp_path, {})
    assert Restaurant.objects.get().phone_verified_at is None
    owner(tmp_path, {}, now=LATER)
    assert Restaurant.objects.get().phone_verified_at == LATER
    osm(tmp_path, {"phone": "+45 33112233"})
    place = Restaurant.objects.get()
    assert (place.phone, place.phone_verified_at) == ("+4533112233", None)


@pytest.mark.exhaustive
def test_source_never_overwrites_values_of_other_sources_or_staff(tmp_path: Path) -> None:
    osm(tmp_path, {})
    Restaurant.objects.update(price_level=4)
    owner(tmp_path, {})
    assert owner(tmp_path, {"name": "Fiskebaren", "price_level": 2, "website": "https://new.dk"}) == {"changed": 1}
    place = Restaurant.objects.get()
    assert (place.name, place.price_level, place.website) == ("Kødbyens Fiskebar", 4, "https://new.dk")


@pytest.mark.exhaustive
def test_what_a_source_removes_another_may_fill(tmp_path: Path) -> None:
    osm(tmp_path, {})
    owner(tmp_path, {})
    osm(tmp_path, {"phone": ""})
    assert Restaurant.objects.get().phone is None
    assert owner(tmp_path, {"price_level": 3}) == {"changed": 1}
    assert Restaurant.objects.get().phone == "+4532155656"
    assert "phone" in fields("native")


@pytest.mark.exhaustive
def test_a_closure_of_one_source_outranks_the_hours_of_another(tmp_path: Path) -> None:
    osm(tmp_path, {})
    owner(tmp_path, {})
    assert owner(tmp_path, {"status": "permanently_closed"}) == {"changed": 1}
    assert Restaurant.objects.get().status == "permanently_closed"
    # The other source still thinks it open: it does not own the status any more.
    assert osm(tmp_path, {"opening_hours": "Mo-Su 12:00-24:00"}) == {"changed": 1}
    assert Restaurant.objects.get().status == "permanently_closed"
    assert owner(tmp_path, {"status": "open"}) == {"changed": 1}
    assert Restaurant.objects.get().status == "open"


@pytest.mark.exhaustive
def test_what_is_absent_from_one_source_is_closed_when_it_is_absent_from_all(tmp_path: Path) -> None:
    osm(tmp_path, {}, {"name": "Another", "addr:street": "Gade", "phone": "+45 33112233"})
    owner(tmp_path, {}, {"id": "x", "name": "Zebra", "location": {"lat": 55.7, "lng": 12.5}, "phone": None})
    others = [{"id": "x", "name": "Zebra", "location": {"lat": 55.7, "lng": 12.5}, "phone": None}]
    assert owner(tmp_path, *others, complete=True) == {"unchanged": 1}
    place = Restaurant.objects.get(name="Kødbyens Fiskebar")
    assert place.status == "open"
    rows = [feature(TAGS | {"name": "Another", "addr:street": "Gade", "phone": "+45 33112233"}, id="node/2")]
    assert counts(import_restaurants(geojson(tmp_path / "c.geojson", rows), complete=True)) == {
        "unchanged": 1,
        "closed": 1,
    }
    place.refresh_from_db()
    assert place.status == "permanently_closed"


@pytest.mark.exhaustive
def test_what_may_be_the_same_is_made_again_and_staff_are_asked(tmp_path: Path) -> None:
    osm(tmp_path, {})
    line = {"name": "Fiskebaren Kødbyen", "address": None, "phone": None}
    assert owner(tmp_path, line) == {"created": 1, "queued": 1}
    pair = MatchCandidate.objects.get()
    assert {pair.first.name, pair.second.name} == {"Kødbyens Fiskebar", "Fiskebaren Kødbyen"}
    assert (pair.state, pair.reasons["distance_m"], pair.reasons["phone"]) == ("open", 11, None)
    assert owner(tmp_path, line) == {"unchanged": 1}


def test_two_records_of_one_file_stay_two_and_staff_are_asked(tmp_path: Path) -> None:
    assert osm(tmp_path, {}, {}) == {"created": 2, "queued": 1}


@pytest.mark.exhaustive
def test_only_one_record_of_a_source_joins_a_restaurant(tmp_path: Path) -> None:
    osm(tmp_path, {})
    assert owner(tmp_path, {}, {"id": "again"}) == {"created": 1, "merged": 1, "queued": 1}


def test_what_the_demo_made_up_is_joined_by_no_one(tmp_path: Path) -> None:
    osm(tmp_path, {})
    SourceRecord.objects.update(source=builders.source("demo"))
    assert owner(tmp_path, {}) == {"created": 1}


def test_a_merged_or_erased_restaurant_is_left_alone(tmp_path: Path) -> None:
    osm(tmp_path, {})
    Restaurant.objects.update(erased_at=NOW)
    assert osm(tmp_path, {"name": "Other"}) == {"unchanged": 1}
    assert Restaurant.objects.get().name == "Kødbyens Fiskebar"

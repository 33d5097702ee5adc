"""Overture releases: both schemas, places without a location, what is absent, and the guard before all of it."""

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from catalogue.importers.row_errors import UnreadableFileError
from catalogue.importers.runner import ImportStopped
from catalogue.importers.sources import overture
from catalogue.models import ImportRun, Landmark, Restaurant, SearchRow, SourceRecord, Version
from tests.catalogue.importers.import_runs import NOW, counts, import_restaurants, rejected

LATER = NOW.replace(year=2027)


@pytest.fixture(autouse=True)
def _markets(stored_reference_data: None, db: None) -> None:
    """Known markets, cuisines and landmarks."""


def place(number: int = 1, **columns: Any) -> dict[str, Any]:
    """A pizza place in the middle of Copenhagen, 400 m from the one before; the schema before 2.0."""
    lat, lng = 55.66 + number // 20 * 0.004, 12.5 + number % 20 * 0.007
    return {
        "id": f"08f{number:05}",
        "geometry": struct.pack("<BIdd", 1, 1, lng, lat),
        "names": {"primary": f"Pizzeria {'ABCDEFGHIJKLMNOPQRST'[number % 20]}{number}", "common": None},
        "categories": {"primary": "pizza_restaurant", "alternate": ["italian_restaurant"]},
        "confidence": 0.9,
        "operating_status": "open",
        "addresses": [
            {
                "freeform": f"Gade {number}",
                "locality": "København",
                "postcode": "1620",
                "region": None,
                "country": "DK",
            }
        ],
        "phones": ["+4532155656"] if number == 1 else None,
        "websites": ["https://example.com/"],
        "brand": {"wikidata": "Q1", "names": None},
        "sources": [{"dataset": "meta", "record_id": "1", "license": None}],
    } | columns


def parquet(path: Path, *rows: Mapping[str, Any]) -> Path:
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), path)
    return path


def take(path: Path, **options: Any) -> dict[str, int]:
    return counts(import_restaurants(path, reader=options.pop("reader", overture.READER), **options))


def test_a_place_of_the_first_schema_is_taken_whole(tmp_path: Path) -> None:
    shop = place(2, categories={"primary": "hardware_store", "alternate": ["bar"]})
    assert take(parquet(tmp_path / "a.parquet", place(1), shop)) == {"created": 1, "skipped": 1}
    found = Restaurant.objects.get()
    assert (found.name, found.market_id, found.status, found.cuisines) == (
        "Pizzeria B1", "copenhagen", "open", ["pizza", "italian"],
    )  # fmt: skip
    assert (found.latitude, found.longitude, found.line1, found.postal_code, found.country) == (
        55.66, 12.507, "Gade 1", "1620", "DK",
    )  # fmt: skip
    assert (found.phone, found.phone_verified_at, found.website) == ("+4532155656", None, "https://example.com/")
    assert found.attributes == {"kind": "restaurant"}
    assert found.external_ids == {
        "overture": "08f00001",
        "brand_wikidata": "Q1",
        "overture_datasets": "meta (CDLA-Permissive-2.0)",
    }
    assert Version.objects.get().actor == "import:overture"


def test_a_place_of_the_second_schema_is_taken_by_its_hierarchy(tmp_path: Path) -> None:
    taxonomy = {
        "primary": "frisian_restaurant",
        "hierarchy": ["food_and_drink", "restaurant", "german_restaurant", "frisian_restaurant"],
        "alternates": ["beer_garden"],
    }
    row = place(1, taxonomy=taxonomy, basic_category="restaurant", bbox=None)
    del row["categories"]
    row["names"] = {"primary": "Bier & Brezel", "common": {"da": "Øl og kringle"}}
    school = row | {
        "id": "s",
        "taxonomy": {"primary": "school", "hierarchy": ["education", "school"], "alternates": []},
    }
    school["basic_category"] = "school"
    assert take(parquet(tmp_path / "a.parquet", row, school)) == {"created": 1, "skipped": 1}
    found = Restaurant.objects.get()
    assert (found.alt_names, found.cuisines, found.attributes["kind"]) == (
        ["Øl og kringle"], ["frisian"], "restaurant",
    )  # fmt: skip


def test_the_middle_of_the_box_stands_for_a_missing_point(tmp_path: Path) -> None:
    box = {"xmin": 12.56, "xmax": 12.58, "ymin": 55.67, "ymax": 55.69}
    row = place(1, bbox=box)
    del row["geometry"]
    assert take(parquet(tmp_path / "a.parquet", row)) == {"created": 1}
    found = Restaurant.objects.get()
    assert found.latitude == pytest.approx(55.68)
    assert found.longitude == pytest.approx(12.57)


@pytest.mark.parametrize(
    ("columns", "status"),
    [
        ({"operating_status": "permanently_closed"}, "permanently_closed"),
        ({"operating_status": "temporarily_closed"}, "temporarily_closed"),
        ({"operating_status": None, "confidence": 0.0}, "permanently_closed"),
        ({"operating_status": None, "confidence": 0.3}, "unverified"),
    ],
)
def test_the_status_is_what_the_release_says(tmp_path: Path, columns: dict[str, Any], status: str) -> None:
    take(parquet(tmp_path / "a.parquet", place(1, **columns)))
    assert Restaurant.objects.get().status == status


def test_a_place_without_a_location_is_stored_where_the_run_names_a_market(tmp_path: Path) -> None:
    here, abroad = place(1), place(2, addresses=[{"freeform": "Gata 1", "country": "SE"}])
    del here["geometry"], abroad["geometry"]
    file = parquet(tmp_path / "a.parquet", here, abroad)
    assert take(file) == {"rejected": 2}
    assert rejected(file)[0]["reason"] == "There is no location, and the import names no market."
    assert take(file, market="copenhagen") == {"created": 1, "skipped": 1}
    found = Restaurant.objects.get()
    assert (found.latitude, found.longitude, found.market_id) == (None, None, "copenhagen")
    assert SearchRow.objects.get().position is None


def test_rows_elsewhere_in_the_world_are_skipped(tmp_path: Path) -> None:
    far = place(1, geometry=struct.pack("<BIdd", 1, 1, -120.0, 10.0))
    assert take(parquet(tmp_path / "a.parquet", far)) == {"skipped": 1}


def test_broken_rows_are_refused_with_the_reason(tmp_path: Path) -> None:
    line = place(1, geometry=struct.pack("<BIdd", 1, 2, 1.0, 2.0))
    file = parquet(tmp_path / "a.parquet", line, place(2, geometry=b"\x01"), place(3, names={"primary": None}))
    assert take(file) == {"rejected": 3}
    assert [each["reason"] for each in rejected(file)] == [
        "The geometry is no point.",
        "The geometry is broken.",
        "The place has no name, or one that is longer than 200 characters or no line.",
    ]


def test_other_files_are_reported_as_not_overture(tmp_path: Path) -> None:
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 no")
    with pytest.raises(UnreadableFileError, match=r"^This is no Parquet file, or it is cut off: "):
        take(bad)
    with pytest.raises(UnreadableFileError, match=r"^These are no Overture places: "):
        take(parquet(tmp_path / "other.parquet", {"id": "1"}))
    with pytest.raises(UnreadableFileError, match=r"^The file holds one release: leave --release out"):
        take(parquet(tmp_path / "a.parquet", place(1)), reader=overture.select_release("base"))
    assert list(ImportRun.objects.values_list("state", flat=True)) == ["failed"] * 3


def test_a_confidence_or_a_source_that_changes_alone_is_no_change(tmp_path: Path) -> None:
    take(parquet(tmp_path / "a.parquet", place(1)))
    again = place(1, confidence=0.8, sources=[{"dataset": "meta", "record_id": "2", "license": None}])
    assert take(parquet(tmp_path / "b.parquet", again)) == {"unchanged": 1}


@pytest.mark.exhaustive
def test_what_a_release_has_no_more_is_closed_and_opens_when_it_comes_back(tmp_path: Path) -> None:
    take(parquet(tmp_path / "a.parquet", place(1), place(2)))
    assert take(parquet(tmp_path / "b.parquet", place(2)), now=LATER) == {"unchanged": 1, "closed": 1}
    gone = Restaurant.objects.get(source_records__record="08f00001")
    assert (gone.status, gone.version, gone.updated_at) == ("permanently_closed", 2, LATER)
    assert gone.versions.get(version=2).kind == "closed"
    assert take(parquet(tmp_path / "b.parquet", place(2))) == {"unchanged": 1}
    assert take(parquet(tmp_path / "a.parquet", place(1), place(2))) == {"changed": 1, "unchanged": 1}
    assert Restaurant.objects.filter(status="open").count() == 2


@pytest.mark.exhaustive
def test_several_files_are_one_release(tmp_path: Path) -> None:
    files = [parquet(tmp_path / f"{number}.parquet", place(number)) for number in (1, 2)]
    totals = import_restaurants(*files, reader=overture.READER)
    assert counts(totals) == {"created": 2}
    assert counts(import_restaurants(*files, reader=overture.READER)) == {"unchanged": 2}
    assert ImportRun.objects.order_by("pk")[0].file.endswith("1.parquet and 1 more")


def test_what_is_absent_from_an_extract_stays_and_staff_have_the_last_word(tmp_path: Path) -> None:
    take(parquet(tmp_path / "a.parquet", place(1), place(2)))
    file = parquet(tmp_path / "b.parquet", place(2))
    assert take(file, complete=False) == {"unchanged": 1}
    Restaurant.objects.filter(source_records__record="08f00001").update(locked_fields=["status"])
    assert take(file) == {"unchanged": 1}
    assert Restaurant.objects.filter(status="open").count() == 2


@pytest.fixture
def release(tmp_path: Path) -> Callable[..., Path]:
    """The release of a number of places, of which those from `absent_from` on are left out, or are renamed."""

    def written(number: int, *, renamed: int = 0) -> Path:
        rows = [place(each) for each in range(number)]
        for row in rows[:renamed]:
            row["names"] = {"primary": f"{row['names']['primary']} the new", "common": None}
        return parquet(tmp_path / f"{number}-{renamed}.parquet", *rows)

    return written


@pytest.mark.exhaustive
def test_a_release_that_changes_more_than_a_twentieth_is_stopped_before_it_writes(
    release: Callable[..., Path],
) -> None:
    assert take(release(120)) == {"created": 120}
    before = set(Restaurant.objects.values_list("pk", "version", "updated_at", "status"))
    with pytest.raises(ImportStopped) as stopped:
        take(release(115, renamed=2), now=LATER)
    assert str(stopped.value) == (
        "copenhagen: 2 of 120 restaurants would change and 5 be closed, 5.8% and more than 5%."
        " Nothing was written. When this is meant, import with --force."
    )
    assert set(Restaurant.objects.values_list("pk", "version", "updated_at", "status")) == before
    row = ImportRun.objects.order_by("-pk")[0]
    assert (row.state, row.forced, row.error, row.read, row.changed, row.closed) == (
        "stopped", False, str(stopped.value), 115, 0, 0,
    )  # fmt: skip
    with pytest.raises(ImportStopped):
        take(release(115, renamed=2), dry_run=True)
    assert ImportRun.objects.count() == 2
    assert take(release(115, renamed=2), force=True) == {"changed": 2, "unchanged": 113, "closed": 5}
    assert ImportRun.objects.order_by("-pk")[0].forced is True
    assert take(release(115, renamed=2)) == {"unchanged": 115}


@pytest.mark.exhaustive
def test_a_twentieth_passes_and_so_does_what_only_reads_otherwise(release: Callable[..., Path]) -> None:
    take(release(120))
    assert take(release(116, renamed=2)) == {"changed": 2, "unchanged": 114, "closed": 4}
    SourceRecord.objects.exclude(digest="missing").update(digest="as an older reader made it")
    assert take(release(116, renamed=2)) == {"unchanged": 116}


@pytest.mark.exhaustive
def test_of_few_restaurants_five_may_close_and_new_ones_are_not_guarded(release: Callable[..., Path]) -> None:
    assert take(release(99)) == {"created": 99}
    assert take(release(94)) == {"unchanged": 94, "closed": 5}
    with pytest.raises(ImportStopped, match=r"0 of 94 restaurants would change and 6 be closed, 6.4%"):
        take(release(88))
    assert take(release(140)) == {"created": 41, "changed": 5, "unchanged": 94}


@pytest.mark.exhaustive
def test_the_command_says_what_stopped_it_and_ends_with_an_error(release: Callable[..., Path]) -> None:
    take(release(120))
    with pytest.raises(CommandError, match=r"100\.parquet|100-0\.parquet: copenhagen: 0 of 120 restaurants"):
        call_command("catalogue_import", "overture", str(release(100)))
    call_command("catalogue_import", "overture", str(release(100)), "--force")
    assert Restaurant.objects.filter(status="permanently_closed").count() == 20


def test_a_dry_run_of_a_release_closes_nothing(release: Callable[..., Path]) -> None:
    take(release(40))
    assert take(release(37), dry_run=True) == {"unchanged": 37, "closed": 3}
    assert not Restaurant.objects.filter(status="permanently_closed").exists()
    assert not SourceRecord.objects.filter(digest="missing").exists()


@pytest.fixture
def release_pair(tmp_path: Path) -> Callable[..., Path]:
    """A file with two releases side by side as JSON texts; places without confidence are not in that release."""

    def write(*, base: set[int], current: set[int], **more: Any) -> Path:
        rows = []
        for number in sorted(base | current):
            row: dict[str, Any] = dict(more)
            for prefix, numbers in (("base_", base), ("", current)):
                columns = place(number)
                del columns["geometry"], columns["operating_status"]
                for name, value in columns.items():
                    row[prefix + name] = value if name in {"id", "confidence"} else json.dumps(value)
                if number not in numbers:
                    row[f"{prefix}confidence"] = None
            rows.append(row)
        return parquet(tmp_path / f"pair-{len(base)}-{len(current)}.parquet", *rows)

    return write


@pytest.mark.exhaustive
@pytest.mark.parametrize("more", [{}, {"source_dataset": "overture_anywhere"}])
def test_a_release_pair_of_any_city_closes_exactly_what_vanished(
    release_pair: Callable[..., Path], more: dict[str, str]
) -> None:
    def imported(release: Any, **options: Any) -> dict[str, int]:
        reader = overture.select_release(release)
        return take(file, reader=reader, market="copenhagen", **options)

    file = release_pair(base=set(range(60)), current=set(range(58)) | {60}, **more)
    assert imported("base") == {"created": 60, "skipped": 1}
    assert imported("base") == {"unchanged": 60, "skipped": 1}
    assert imported("current") == {"created": 1, "unchanged": 58, "skipped": 2, "closed": 2}
    closed = Restaurant.objects.filter(status="permanently_closed")
    assert set(closed.values_list("external_ids__overture", flat=True)) == {"08f00058", "08f00059"}
    assert imported("current") == {"unchanged": 59, "skipped": 2}


def test_the_summary_says_why_rows_were_skipped(tmp_path: Path, release_pair: Callable[..., Path]) -> None:
    shop = place(2, categories={"primary": "hardware_store", "alternate": []})
    far = place(3, geometry=struct.pack("<BIdd", 1, 1, -120.0, 10.0))
    unnamed = place(4, names={"primary": None})
    file = parquet(tmp_path / "a.parquet", place(1), shop, far, unnamed)
    totals = import_restaurants(file, reader=overture.READER)
    assert {reason: each.rows for reason, each in totals.reasons["skipped"].items()} == {
        "not a place to eat or drink": 1,
        "outside every market": 1,
    }
    assert [(reason, each.rows, each.example[:6]) for reason, each in totals.reasons["rejected"].items()] == [
        ("The place has no name, or one that is longer than 200 characters or no line.", 1, "row 4:")
    ]
    pair = release_pair(base={1}, current={1, 2})
    totals = import_restaurants(pair, reader=overture.select_release("base"), market="copenhagen")
    assert {reason: each.rows for reason, each in totals.reasons["skipped"].items()} == {"not in this release": 1}
    assert ImportRun.objects.order_by("-pk")[0].reasons == {
        "skipped": {"not in this release": {"rows": 1, "example": ""}}
    }


@pytest.mark.parametrize("kind", ["collection", "sequence", "separated sequence"])
def test_overture_places_are_read_from_geojson(tmp_path: Path, kind: str) -> None:
    features = []
    for number in (1, 2):
        row = place(number)
        del row["geometry"]
        point = {"type": "Point", "coordinates": [12.57, 55.66 + number / 100]}
        features.append({"type": "Feature", "geometry": point, "properties": row | {"version": 3, "socials": None}})
    file = tmp_path / "a.geojson"
    if kind == "collection":
        file.write_text(json.dumps({"type": "FeatureCollection", "features": features}, indent=1))
    else:
        separator = "\x1e" if kind == "separated sequence" else ""
        file.write_text("".join(f"{separator}{json.dumps(each)}\n" for each in features))
    assert take(file) == {"created": 2}
    assert Restaurant.objects.get(external_ids__overture="08f00002").latitude == 55.68
    assert take(file) == {"unchanged": 2}


def test_a_row_is_classified_by_whichever_category_it_has(tmp_path: Path) -> None:
    taxonomy = {"primary": "pizza_restaurant", "hierarchy": ["food_and_drink", "restaurant"], "alternates": []}
    rows = [
        place(1, taxonomy=taxonomy, basic_category="restaurant", categories=None),
        place(2, taxonomy=None, basic_category=None),
        place(3, taxonomy=None, basic_category="cafe", categories=None),
        place(4, taxonomy=None, basic_category=None, categories=None),
    ]
    assert take(parquet(tmp_path / "a.parquet", *rows)) == {"created": 3, "skipped": 1}


def test_columns_that_are_json_texts_are_read_as_objects(tmp_path: Path) -> None:
    row = {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in place(1).items()}
    assert take(parquet(tmp_path / "a.parquet", row)) == {"created": 1}
    assert Restaurant.objects.get().line1 == "Gade 1"


@pytest.mark.parametrize(
    "columns",
    [
        {"categories": {"primary": "hotel", "alternate": ["restaurant"]}},
        {"taxonomy": {"primary": "hotel", "hierarchy": ["lodging", "hotel"], "alternates": None}, "categories": None},
    ],
)
def test_a_hotel_of_a_release_becomes_a_landmark_unless_it_has_closed(tmp_path: Path, columns: dict[str, Any]) -> None:
    file = parquet(
        tmp_path / "hotels.parquet",
        place(1, names={"primary": "Hotel Petri", "common": None}, **columns),
        place(2, names={"primary": "Gone", "common": None}, operating_status="permanently_closed", **columns),
    )
    assert take(file) == {"skipped": 2}
    assert list(Landmark.objects.filter(source="overture").values_list("name", "kind")) == [("Hotel Petri", "hotel")]
    assert not Restaurant.objects.exists()

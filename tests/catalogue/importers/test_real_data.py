"""The real files of ../shared/data, to the row; skipped where they are not."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from catalogue import reference_data
from catalogue.importers.row_errors import UnreadableFileError
from catalogue.importers.runner import ImportStopped
from catalogue.importers.sources import native_jsonl, nyc_inspections, overture
from catalogue.models import ImportRun, Landmark, Restaurant, SearchRow, SourceRecord
from tests.catalogue.importers.import_runs import (
    SHARED_DATA,
    counts,
    import_landmarks,
    import_restaurants,
    json_lines,
    rejected,
)

pytestmark = [
    pytest.mark.skipif(not SHARED_DATA.is_dir(), reason=f"{SHARED_DATA} is not here"),
    pytest.mark.usefixtures("_markets"),
]

COPENHAGEN = {
    "restaurants": {"created": 777, "rejected": 1, "queued": 2},
    "coffee_shops": {"created": 900, "rejected": 4, "queued": 7},
    "nightlife": {"created": 614, "skipped": 35, "rejected": 2, "queued": 5},
    "bakery": {"created": 5, "unchanged": 18, "skipped": 214},
    "tourism": {"unchanged": 2, "skipped": 61},
    "theatre": {"skipped": 26},
    "library": {"skipped": 30},
}


@pytest.fixture
def _markets(db: None) -> None:
    reference_data.load_reference_data()


def release_pair(folder: Path) -> Path:
    """The rows of the file that are a pair of releases of New York."""
    rows = pq.read_table(
        SHARED_DATA / "overture_nyc_delta" / "nyc.parquet", filters=[("source_dataset", "=", "overture_nyc")]
    )
    pq.write_table(rows, folder / "nyc.parquet")
    return folder / "nyc.parquet"


@pytest.mark.exhaustive
def test_copenhagen_is_taken_once_however_often_it_is_imported(tmp_path: Path) -> None:
    def imported(name: str) -> dict[str, int]:
        file = SHARED_DATA / "osm_copenhagen" / f"cph_{name}.geojson"
        return counts(import_restaurants(file, market="copenhagen", rejects_to=tmp_path / f"{name}.jsonl"))

    assert {name: imported(name) for name in COPENHAGEN} == COPENHAGEN
    assert Restaurant.objects.count() == SourceRecord.objects.count() == 2296
    before = set(Restaurant.objects.values_list("pk", "version", "updated_at"))
    again = {name: imported(name) for name in COPENHAGEN}
    assert not any({"created", "changed"} & set(counted) for counted in again.values())
    assert set(Restaurant.objects.values_list("pk", "version", "updated_at")) == before


@pytest.mark.exhaustive
def test_a_real_record_of_copenhagen_is_whole(tmp_path: Path) -> None:
    import_restaurants(SHARED_DATA / "osm_copenhagen" / "cph_restaurants.geojson", rejects_to=tmp_path / "r.jsonl")
    place = Restaurant.objects.get(slug="norrebro-bryghus-restaurant")
    assert (place.name, place.market_id, place.neighborhood) == (
        "Nørrebro Bryghus Restaurant", "copenhagen", "Nørrebro",
    )  # fmt: skip
    assert (place.phone, place.website) == ("+4535300530", "https://noerrebrobryghus.dk/")
    assert (place.cuisine_id, place.attributes["wheelchair"]) == ("regional", True)
    assert place.hours is not None
    assert place.hours["display"] == [
        "Mon-Thu 12:00-15:00, 17:30-22:00", "Fri-Sat 12:00-15:00, 17:30-23:00", "Sun closed",
    ]  # fmt: skip


@pytest.mark.exhaustive
def test_milan_is_known_by_its_osm_ids(tmp_path: Path) -> None:
    folder = SHARED_DATA / "osm_milano"
    taken = {
        name: counts(import_restaurants(folder / f"{name}.geojson", rejects_to=tmp_path / "r.jsonl"))
        for name in ("restaurants", "leisure", "transport")
    }
    assert taken == {
        "restaurants": {"created": 162, "skipped": 5, "rejected": 5, "queued": 3},
        "leisure": {"skipped": 2},
        "transport": {"skipped": 135},
    }
    assert SourceRecord.objects.filter(record__regex="^(node|way)/[0-9]+$").count() == 162
    assert set(Restaurant.objects.values_list("market", flat=True)) == {"milan"}


@pytest.mark.exhaustive
def test_the_landmarks_of_wikidata_join_the_own_table(tmp_path: Path) -> None:
    file = SHARED_DATA / "wikidata_attractions" / "landmarks.csv"
    own = Landmark.objects.count()
    first = import_landmarks(file, rejects_to=tmp_path / "r.jsonl")
    assert counts(first) == {"created": 8535, "changed": 2, "unchanged": 93}
    assert Landmark.objects.count() == own + 8535
    # Wikidata has two of the own hotels as skyscrapers: they stay one landmark each, and hotels.
    for name in ("The Plaza Hotel", "Hotel Arts Barcelona"):
        assert Landmark.objects.get(name=name).kind == Landmark.Kind.HOTEL
    assert not Landmark.objects.filter(wikidata__in=("Q1066676", "Q1425790")).exists()
    assert Landmark.objects.get(name="David Collection").market_id == "copenhagen"
    assert counts(import_landmarks(file, rejects_to=tmp_path / "r.jsonl")) == {"unchanged": 8630}


@pytest.mark.exhaustive
def test_the_overture_samples_have_few_places_to_eat_in_our_markets(tmp_path: Path) -> None:
    folder = SHARED_DATA / "overture_places"

    def imported(name: str) -> dict[str, int]:
        return counts(
            import_restaurants(folder / f"{name}.parquet", reader=overture.READER, rejects_to=tmp_path / "r")
        )

    assert imported("project_c_samples") == {"created": 33, "skipped": 3392}
    assert imported("project_d_samples") == {"unchanged": 33, "skipped": 3392}
    assert imported("project_c_samples") == {"unchanged": 33, "skipped": 3392}
    # Labelled pairs for measuring likeness: no release.
    with pytest.raises(UnreadableFileError, match="two releases"):
        imported("match_pairs_3k")


@pytest.mark.exhaustive
def test_the_overture_release_of_february_is_stopped_and_goes_through_by_force(tmp_path: Path) -> None:
    file = release_pair(tmp_path)

    def imported(release: Any, **options: Any) -> dict[str, int]:
        return counts(
            import_restaurants(
                file,
                reader=overture.select_release(release),
                market="new-york",
                rejects_to=tmp_path / "r.jsonl",
                **options,
            )
        )

    assert imported("base") == {"created": 1428, "skipped": 7572}
    assert imported("base") == {"unchanged": 1428, "skipped": 7572}
    assert not SearchRow.objects.exclude(position=None).exists()
    before = set(Restaurant.objects.values_list("pk", "version", "status"))
    with pytest.raises(
        ImportStopped, match=r"^new-york: 13 of 1428 restaurants would change and 534 be closed, 38.3%"
    ):
        imported("current")
    assert set(Restaurant.objects.values_list("pk", "version", "status")) == before
    assert ImportRun.objects.order_by("-pk")[0].state == "stopped"
    assert imported("current", force=True) == {
        "created": 16, "changed": 13, "unchanged": 881, "skipped": 8090, "queued": 1, "closed": 534,
    }  # fmt: skip
    closed = Restaurant.objects.filter(status="permanently_closed")
    assert closed.count() == 534
    assert not SearchRow.objects.filter(restaurant__in=closed).exists()
    assert imported("current") == {"unchanged": 910, "skipped": 8090}


@pytest.mark.exhaustive
def test_the_inspections_of_new_york_are_one_restaurant_for_each_camis(tmp_path: Path) -> None:
    file = SHARED_DATA / "nyc_dohmh" / "nyc_restaurants_1000.csv"

    def imported() -> dict[str, int]:
        return counts(import_restaurants(file, reader=nyc_inspections.READER, rejects_to=tmp_path / "r.jsonl"))

    assert imported() == {"created": 993, "unchanged": 7, "queued": 3}
    assert imported() == {"unchanged": 1000}


@pytest.mark.exhaustive
def test_inspections_join_the_restaurants_that_overture_named(tmp_path: Path) -> None:
    import_restaurants(
        release_pair(tmp_path),
        reader=overture.select_release("base"),
        market="new-york",
        rejects_to=tmp_path / "r.jsonl",
    )
    file = SHARED_DATA / "nyc_dohmh" / "nyc_restaurants_1000.csv"
    joined = counts(import_restaurants(file, reader=nyc_inspections.READER, rejects_to=tmp_path / "r.jsonl"))
    assert joined == {"created": 989, "merged": 4, "unchanged": 7, "queued": 6}
    found = Restaurant.objects.get(name="Isla New York")
    assert found.phone_verified_at is not None
    assert {each.source_id: "phone" in each.fields for each in found.source_records.all()} == {
        "overture": True,
        "dohmh": False,
    }
    assert found.latitude is not None


def test_cambridge_is_no_market_of_ours(tmp_path: Path) -> None:
    rows = json.loads((SHARED_DATA / "multiwoz_cambridge" / "restaurant_db.json").read_text())
    lines = [
        {"id": row["id"], "name": row["name"], "location": dict(zip(("lat", "lng"), row["location"], strict=True))}
        for row in rows
    ]
    file = json_lines(tmp_path / "cambridge.jsonl", lines)
    assert counts(import_restaurants(file, reader=native_jsonl.READER)) == {"rejected": 110}
    assert {each["reason"].split(" lies ")[1] for each in rejected(file)} == {"in no market."}

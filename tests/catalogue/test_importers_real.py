"""The real files of ../shared/data, to the row; skipped where they are not."""

from pathlib import Path

import pytest

from catalogue import dictionaries
from catalogue.models import Landmark, Restaurant, SourceRecord
from tests.catalogue.importing import SHARED_DATA, counts, import_landmarks, import_restaurants

pytestmark = [
    pytest.mark.skipif(not SHARED_DATA.is_dir(), reason=f"{SHARED_DATA} is not here"),
    pytest.mark.usefixtures("_markets"),
]

COPENHAGEN = {
    "restaurants": {"created": 777, "refused": 1},
    "coffee_shops": {"created": 900, "refused": 4},
    "nightlife": {"created": 614, "skipped": 35, "refused": 2},
    "bakery": {"created": 5, "unchanged": 18, "skipped": 214},
    "tourism": {"unchanged": 2, "skipped": 61},
    "theatre": {"skipped": 26},
    "library": {"skipped": 30},
}


@pytest.fixture
def _markets(db: None) -> None:
    dictionaries.load()


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


def test_milan_is_known_by_its_osm_ids(tmp_path: Path) -> None:
    folder = SHARED_DATA / "osm_milano"
    taken = {
        name: counts(import_restaurants(folder / f"{name}.geojson", rejects_to=tmp_path / "r.jsonl"))
        for name in ("restaurants", "leisure", "transport")
    }
    assert taken == {
        "restaurants": {"created": 162, "skipped": 5, "refused": 5},
        "leisure": {"skipped": 2},
        "transport": {"skipped": 135},
    }
    assert SourceRecord.objects.filter(record__regex="^(node|way)/[0-9]+$").count() == 162
    assert set(Restaurant.objects.values_list("market", flat=True)) == {"milan"}


def test_the_landmarks_of_wikidata_join_the_own_table(tmp_path: Path) -> None:
    file = SHARED_DATA / "wikidata_attractions" / "landmarks.csv"
    own = Landmark.objects.count()
    first = import_landmarks(file, rejects_to=tmp_path / "r.jsonl")
    assert counts(first) == {"created": 8537, "changed": 2, "unchanged": 91}
    assert Landmark.objects.count() == own + 8537
    assert Landmark.objects.get(name="David Collection").market_id == "copenhagen"
    assert counts(import_landmarks(file, rejects_to=tmp_path / "r.jsonl")) == {"unchanged": 8630}

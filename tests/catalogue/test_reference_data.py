"""The product's own dictionaries: what is in them, and that loading them is safe to repeat."""

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
from django.db import connection
from django.db.models import Func, Value
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalogue import reference_data
from catalogue.demo.places import DIETS
from catalogue.importers.sources import osm
from catalogue.models import Attribute, Cuisine, Landmark, LandmarkName, Market, Source
from catalogue.search.text import labels as text_labels

MARKETS = {
    "barcelona", "berlin", "copenhagen", "dubai", "london", "milan",
    "new-york", "paris", "san-francisco", "singapore", "sydney", "tokyo",
}  # fmt: skip


def metres(market: Market, landmark: Landmark) -> float:
    north = math.radians(landmark.latitude - market.latitude)
    east = math.radians(landmark.longitude - market.longitude) * math.cos(math.radians(market.latitude))
    return 6_371_009 * math.hypot(north, east)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_twelve_markets_are_loaded() -> None:
    reference_data.load_reference_data()
    assert set(Market.objects.values_list("slug", flat=True)) == MARKETS


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_every_market_has_twenty_landmarks_within_its_radius_and_itself_as_a_city() -> None:
    reference_data.load_reference_data()
    for market in Market.objects.prefetch_related("landmarks"):
        landmarks = market.landmarks.all()
        assert [landmark.name for landmark in landmarks if landmark.kind == "city"] == [market.name]
        assert sum(landmark.kind == "neighborhood" for landmark in landmarks) >= 4
        assert len(landmarks) >= 20
        assert [str(landmark) for landmark in landmarks if metres(market, landmark) > market.radius_m] == []


def test_every_cuisine_has_labels_in_the_languages_of_the_markets() -> None:
    labels = {row["slug"]: row for row in reference_data.read_csv("cuisine_labels")}

    assert list(labels) == [row["slug"] for row in reference_data.read_csv("cuisines")]
    assert set(labels["seafood"]) - {"slug"} <= text_labels.CODES
    assert labels["seafood"]["da"] == "Fisk og skaldyr"
    for lang in ("da", "de", "fr", "it", "es", "ca", "ja", "zh"):
        assert [slug for slug, row in labels.items() if not row[lang]] == []


def test_the_dictionary_has_the_attributes_that_imports_and_the_demo_write() -> None:
    known = {row["key"]: row for row in reference_data.read_csv("attributes")}

    written = {key.replace(":", "_") for key in osm.ATTRIBUTES} | {"kind"} | set(chain(*DIETS.values()))
    assert written - set(known) == set()
    assert set(known["kind"]["values"].split("|")) == osm.EATERY_KINDS
    assert {key for key, row in known.items() if row["kind"] == "diet"} == {
        key for key in known if key.startswith("diet_")
    }
    assert list(known) == list(dict.fromkeys(known))


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_attributes_are_loaded_with_their_words() -> None:
    reference_data.load_reference_data()

    wheelchair = Attribute.objects.get(key="wheelchair")
    assert (wheelchair.label, wheelchair.kind, wheelchair.values) == (
        "Wheelchair access",
        "amenity",
        ["limited", "designated"],
    )
    assert Attribute.objects.get(key="air_conditioning").values == []


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_no_name_stands_for_two_landmarks_of_a_market() -> None:
    reference_data.load_reference_data()
    names = list(LandmarkName.objects.values_list("landmark__market", "folded"))
    assert len(names) == len(set(names))


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize("words", ["Tivoli Gardens", "tivoli", "TIVOLI KØBENHAVN"])
def test_tivoli_gardens_is_in_copenhagen_under_each_of_its_names(words: str) -> None:
    reference_data.load_reference_data()
    landmark = Landmark.objects.get(names__folded=Func(Value(words), function="fold"))
    assert (landmark.name, landmark.market_id) == ("Tivoli Gardens", "copenhagen")


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_loading_again_changes_no_row_and_takes_nine_queries() -> None:
    reference_data.load_reference_data()
    before = list(LandmarkName.objects.order_by("pk").values_list("pk", "landmark", "name"))
    with CaptureQueriesContext(connection) as queries:
        reference_data.load_reference_data()
    assert list(LandmarkName.objects.order_by("pk").values_list("pk", "landmark", "name")) == before
    statements = [query["sql"] for query in queries if "SAVEPOINT" not in query["sql"]]
    assert len(statements) == 9


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_loading_adds_what_is_missing_and_leaves_what_staff_mended() -> None:
    reference_data.load_reference_data()
    tivoli = Landmark.objects.get(name="Tivoli Gardens")
    Landmark.objects.filter(pk=tivoli.pk).update(latitude=55.6737, prominence=1)
    Market.objects.filter(slug="copenhagen").update(radius_m=30_000)
    Source.objects.filter(key="osm").update(attribution="OpenStreetMap")
    Landmark.objects.get(name="Den Frie").delete()
    LandmarkName.objects.get(landmark=tivoli, name="Tivoli Have").delete()
    LandmarkName.objects.create(landmark=tivoli, name="Tivoli Friheden")
    Cuisine.objects.filter(slug="seafood").update(label="Fish", labels={"da": "Fisk"})
    Cuisine.objects.filter(slug="pizza").update(labels={})
    Attribute.objects.filter(key="dog").update(label="Dogs")
    imported = Landmark.objects.create(
        name="Tivoli Hotel", kind="landmark", latitude=55.66, longitude=12.56, source_id="wikidata"
    )
    LandmarkName.objects.create(landmark=imported, name="Tivoli Hotel")

    reference_data.load_reference_data()

    tivoli.refresh_from_db()
    assert (tivoli.latitude, tivoli.prominence) == (55.6737, 1)
    assert Market.objects.get(slug="copenhagen").radius_m == 30_000
    assert Source.objects.get(key="osm").attribution == "OpenStreetMap"
    assert Landmark.objects.get(name="Den Frie").names.count() == 3
    assert set(tivoli.names.values_list("name", flat=True)) == {
        "Tivoli Gardens", "Tivoli", "Tivoli Have", "Tivoli København", "Tivoli Copenhagen", "Tivoli Friheden",
    }  # fmt: skip
    assert Cuisine.objects.values_list("label", "labels").get(slug="seafood") == ("Fish", {"da": "Fisk"})
    assert Cuisine.objects.get(slug="pizza").labels["ja"] == "ピザ"
    assert Attribute.objects.get(key="dog").label == "Dogs"
    assert list(imported.names.values_list("name", flat=True)) == ["Tivoli Hotel"]


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_an_item_of_wikidata_that_an_import_brought_first_stays_with_it() -> None:
    Source.objects.create(key="wikidata", name="Wikidata", license="CC0-1.0", attribution="Wikidata")
    imported = Landmark.objects.create(
        name="Big Ben", kind="landmark", latitude=51.5, longitude=-0.12, source_id="wikidata", wikidata="Q41225"
    )
    reference_data.load_reference_data()
    assert Landmark.objects.get(wikidata="Q41225") == imported
    assert Landmark.objects.get(name="Big Ben", source="tablewire").wikidata is None


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_two_loads_at_once_leave_one_set_of_rows() -> None:
    def load(_: int) -> None:
        try:
            reference_data.load_reference_data()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(load, range(2)))
    assert Landmark.objects.count() == len(reference_data.read_csv("landmarks"))
    assert Source.objects.count() == len(reference_data.read_csv("sources"))


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_lists_of_dictionaries_are_free_and_unchanged_ones_304() -> None:
    reference_data.load_reference_data()

    for path, rows in (("markets", 12), ("cuisines", 100), ("attributes", len(reference_data.read_csv("attributes")))):
        answer = Client().get(f"/v1/{path}")
        assert len(answer.json()["data"]) == rows
        assert answer["Cache-Control"] == "public, max-age=60, stale-while-revalidate=300"
        again = Client().get(f"/v1/{path}", headers={"if-none-match": answer["ETag"]})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_an_attribute_is_listed_with_its_kind_and_words() -> None:
    reference_data.load_reference_data()

    listed = {row["key"]: row for row in Client().get("/v1/attributes").json()["data"]}
    assert listed["wheelchair"] == {
        "key": "wheelchair",
        "label": "Wheelchair access",
        "kind": "amenity",
        "values": ["limited", "designated"],
    }
    assert listed["diet_vegan"]["kind"] == "diet"


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_cuisines_are_labelled_in_a_language_and_in_english_where_there_is_none() -> None:
    reference_data.load_reference_data()

    def label(slug: str, query: str) -> str:
        rows = Client().get(f"/v1/cuisines{query}").json()["data"]
        return next(str(row["label"]) for row in rows if row["slug"] == slug)

    assert label("seafood", "?lang=da") == "Fisk og skaldyr"
    assert label("seafood", "?lang=en") == "Seafood"
    assert label("nordic", "?lang=ar") == "Nordic"
    assert label("seafood", "") == "Seafood"


@pytest.mark.django_db
@pytest.mark.parametrize("lang", ["xx", "DA", "dan", "d"])
def test_a_language_that_is_none_is_refused(lang: str) -> None:
    answer = Client().get(f"/v1/cuisines?lang={lang}")

    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "lang"


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_landmarks_are_listed_by_kind_and_market() -> None:
    reference_data.load_reference_data()

    museums = Client().get("/v1/landmarks?kind=museum&market=paris&limit=50").json()["data"]
    assert {(row["kind"], row["market"]) for row in museums} == {("museum", "paris")}
    assert len(museums) >= 3
    for query, param in (("kind=museums", "kind"), ("market=pari", "market")):
        error = Client().get(f"/v1/landmarks?{query}").json()["error"]
        assert (error["code"], error["param"]) == ("invalid_request", param)

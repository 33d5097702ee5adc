"""OpenStreetMap: what becomes of tags, names, geometries and ids."""

import codecs
import json
import resource
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from catalogue.importers.parsing.geojson import find_point
from catalogue.importers.row_errors import RowRejected, UnreadableFileError
from catalogue.models import Cuisine, ImportRun, Landmark, Market, Restaurant, SourceRecord
from catalogue.search.geocoding import landmarks
from catalogue.search.geocoding.distance import Location
from tests.catalogue import builders
from tests.catalogue.importers.import_runs import NOW, cafe, counts, feature, geojson, import_restaurants, rejected

SQUARE = [[12.5, 55.6], [12.7, 55.6], [12.7, 55.8], [12.5, 55.8], [12.5, 55.6]]
# A letter U: its middle lies in the gap.
U_SHAPE = [[0, 0], [9, 0], [9, 6], [8, 6], [8, 1], [2, 1], [2, 6], [0, 6], [0, 0]]


@pytest.fixture
def _markets(stored_reference_data: None, db: None) -> None:
    """Known markets, cuisines and landmarks."""


pytestmark = pytest.mark.usefixtures("_markets")


def imported(path: Path, tags: dict[str, Any], **rest: Any) -> Restaurant:
    """The restaurant that one feature of these tags makes."""
    totals = import_restaurants(
        geojson(path / "one.geojson", [feature({"amenity": "cafe", "name": "Noma"} | tags, **rest)])
    )
    assert counts(totals) == {"created": 1}
    return Restaurant.objects.get()


def reasons(path: Path, *features: Any, market: str | None = None) -> list[str]:
    """Why these features are rejected; all of them are."""
    file = geojson(path / "bad.geojson", features)
    assert counts(import_restaurants(file, market=market)) == {"rejected": len(features)}
    assert not Restaurant.objects.exists()
    return [line["reason"] for line in rejected(file)]


def test_all_tags_find_their_columns(tmp_path: Path) -> None:
    place = imported(
        tmp_path,
        {
            "amenity": "restaurant",
            "name": "Kødbyens Fiskebar",
            "name:en": "Fish Bar",
            "alt_name": "Fiskebaren; Fish Bar",
            "addr:street": "Flæsketorvet",
            "addr:housenumber": "100",
            "addr:postcode": "1711",
            "addr:city": "København V",
            "addr:suburb": "Kødbyen",
            "cuisine": "seafood;coffee_shop; Brændende kærlighed",
            "opening_hours": "Mo-Su 17:30-24:00",
            "contact:phone": "32 15 56 56",
            "contact:website": "fiskebaren.dk/da",
            "wheelchair": "limited",
            "outdoor_seating": "yes",
            "takeaway": "no",
            "internet_access": "wlan",
            "diet:gluten_free": "yes",
            "smoking": "only in the yard",
            "brand:wikidata": "Q1",
            "wikidata": "none",
            "check_date": None,
        },
        id="node/123",
    )
    assert place.slug == "kodbyens-fiskebar"
    assert place.alt_names == ["Fiskebaren", "Fish Bar"]
    assert (place.line1, place.postal_code, place.locality) == ("Flæsketorvet 100", "1711", "København V")
    assert (place.market_id, place.country, place.neighborhood) == ("copenhagen", "DK", "Kødbyen")
    assert (place.cuisine_id, place.cuisines) == ("seafood", ["seafood", "coffee-shop", "braendende-kaerlighed"])
    assert Cuisine.objects.get(slug="braendende-kaerlighed").label == "Brændende kærlighed"
    assert Cuisine.objects.get(slug="coffee-shop").label == "Coffee shop"
    assert place.hours is not None
    assert (place.hours["timezone"], place.hours["display"]) == ("Europe/Copenhagen", ["Every day 17:30-24:00"])
    assert (place.phone, place.website) == ("+4532155656", "https://fiskebaren.dk/da")
    assert place.attributes == {
        "kind": "restaurant",
        "diet_gluten_free": True,
        "internet_access": "wlan",
        "outdoor_seating": True,
        "takeaway": False,
        "wheelchair": "limited",
    }
    assert place.external_ids == {"brand_wikidata": "Q1", "osm": "node/123"}
    assert (place.status, place.version, place.created_at, place.updated_at) == ("open", 1, NOW, NOW)
    record = SourceRecord.objects.get()
    assert (record.source_id, record.record, record.restaurant_id) == ("osm", "node/123", place.pk)


def test_what_is_not_stated_is_null(tmp_path: Path) -> None:
    place = imported(tmp_path, {"phone": "ask for Ole", "website": "javascript://alert", "cuisine": ""})
    assert (place.phone, place.website, place.cuisine, place.cuisines) == (None, None, None, [])
    assert (place.hours, place.line1, place.postal_code) == (None, None, None)
    assert SourceRecord.objects.get().fields == [
        "name", "status", "market", "country", "latitude", "longitude", "attributes",
    ]  # fmt: skip


def test_unreadable_hours_are_stored_and_unknown(tmp_path: Path) -> None:
    place = imported(tmp_path, {"opening_hours": "when the flag is up"})
    assert place.hours is not None
    assert (place.hours["known"], place.hours["osm"]) == (False, "when the flag is up")


def test_the_nearest_neighborhood_within_1500_m_stands_in_for_the_tag(tmp_path: Path) -> None:
    vesterbro = Landmark.objects.get(name="Vesterbro")
    features = [
        feature({"amenity": "bar", "name": "In it"}, lat=vesterbro.latitude + 0.001, lng=vesterbro.longitude),
        feature({"amenity": "bar", "name": "Airport"}, lat=55.6180, lng=12.6560),
    ]
    import_restaurants(geojson(tmp_path / "two.geojson", features))
    assert dict(Restaurant.objects.values_list("name", "neighborhood")) == {"In it": "Vesterbro", "Airport": None}


def test_what_is_no_place_to_eat_is_skipped(tmp_path: Path) -> None:
    features = [
        feature({"shop": "bakery", "name": "Bread"}),
        feature({"amenity": "library", "name": "Books"}),
        feature({}),
        {"type": "Feature", "properties": None, "geometry": None},
        feature({"shop": "bakery", "amenity": "cafe", "name": "Bread and coffee"}),
        feature({"amenity": "food_court;marketplace", "name": "Hall"}),
    ]
    assert counts(import_restaurants(geojson(tmp_path / "mixed.geojson", features))) == {"created": 2, "skipped": 4}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "tags",
    [
        {"disused:amenity": "restaurant", "name": "Noma"},
        {"was:amenity": "cafe", "was:name": "Noma", "shop": "clothes"},
        {"amenity": "restaurant", "disused": "yes", "name": "Noma"},
    ],
)
def test_a_disused_place_is_permanently_closed(tmp_path: Path, tags: dict[str, str]) -> None:
    import_restaurants(geojson(tmp_path / "open.geojson", [feature({"amenity": "cafe", "name": "Noma"}, id="way/7")]))
    totals = import_restaurants(geojson(tmp_path / "closed.geojson", [feature(tags, id="way/7")]))
    assert counts(totals) == {"changed": 1}
    place = Restaurant.objects.get()
    assert (place.name, place.status, place.version) == ("Noma", "permanently_closed", 2)


def test_a_place_that_was_another_before_is_open(tmp_path: Path) -> None:
    assert imported(tmp_path, {"disused:amenity": "pub"}).status == "open"


def test_rows_without_a_name_or_a_place_are_refused_with_the_reason(tmp_path: Path) -> None:
    nowhere = cafe("Noma")
    del nowhere["geometry"]
    assert reasons(
        tmp_path,
        feature({"amenity": "cafe"}),
        feature({"amenity": "cafe", "name": "x" * 201}),
        nowhere,
        feature({"amenity": "cafe", "name": "Noma"}, lat=91.0),
        feature({"amenity": "cafe", "name": "Noma"}, geometry={"type": "Point", "coordinates": ["a", "b"]}),
        feature({"amenity": "cafe", "name": "Noma"}, geometry={"type": "Point", "coordinates": [1]}),
        feature({"amenity": "cafe", "name": "Noma"}, geometry={"type": "Sphere", "coordinates": []}),
        feature({"amenity": "cafe", "name": "No\0ma"}),
        17,
    ) == [
        "The place has no name.",
        "The name is longer than 200 characters.",
        "There is no geometry.",
        "Latitude 91.0, longitude 12.5683 is not a place on our map.",
        "The coordinates are not two numbers.",
        "The geometry is broken.",
        "A geometry of type 'Sphere' is not read.",
        "A text holds a NUL or a broken character: 'No\\x00ma'.",
        "This is no GeoJSON feature.",
    ]


def test_a_place_outside_of_the_market_is_refused(tmp_path: Path) -> None:
    roskilde = feature({"amenity": "cafe", "name": "Far"}, lat=55.6415, lng=12.0803)
    assert reasons(tmp_path, roskilde) == ["55.6415, 12.0803 lies in no market."]
    assert reasons(tmp_path, roskilde, market="copenhagen") == [
        "The place lies 30.9 km from the centre of Copenhagen: too far."
    ]
    assert reasons(tmp_path, cafe("Noma"), market="milan") == [
        "The place lies 1159.9 km from the centre of Milan: too far."
    ]


def test_the_same_place_in_two_files_is_one_restaurant(tmp_path: Path) -> None:
    same = cafe("Holms Bager", **{"fvst:navnelbnr": "109926", "shop": "bakery"})
    null_tags = feature(same["properties"] | {"cuisine": None})
    assert counts(import_restaurants(geojson(tmp_path / "cafes.geojson", [same]))) == {"created": 1}
    assert counts(import_restaurants(geojson(tmp_path / "bakeries.geojson", [null_tags]))) == {"unchanged": 1}


def test_neighbours_that_share_a_register_number_are_two_restaurants(tmp_path: Path) -> None:
    shared = {"ref:DK:cvr:pnummer": "1019763508", "fvst:navnelbnr": "549285"}
    file = geojson(tmp_path / "two.geojson", [cafe("Bæst", **shared), cafe("Mirabelle", **shared)])
    assert counts(import_restaurants(file)) == {"created": 2}
    assert set(SourceRecord.objects.values_list("record", flat=True)) == {
        "fvst/549285/baest", "fvst/549285/mirabelle",
    }  # fmt: skip


def test_a_record_that_contradicts_itself_within_a_file_is_taken_once(tmp_path: Path) -> None:
    features = [
        feature({"amenity": "cafe", "name": "Espresso House", "fvst:navnelbnr": "1249794"}, lat=lat)
        for lat in (55.66914, 55.66988, 55.66914)
    ]
    file = geojson(tmp_path / "twice.geojson", features)
    assert counts(import_restaurants(file)) == {"created": 1, "unchanged": 1, "rejected": 1}
    assert [(line["number"], line["reason"]) for line in rejected(file)] == [
        (2, "Row 1 is the same record ('fvst/1249794/espresso-house') with other content.")
    ]
    assert counts(import_restaurants(file)) == {"unchanged": 2, "rejected": 1}


def test_without_any_id_name_and_place_tell_a_record(tmp_path: Path) -> None:
    features = [cafe("Noma"), feature({"amenity": "cafe", "name": "Noma"}, lat=55.68), cafe("Alchemist"), cafe("Noma")]
    assert counts(import_restaurants(geojson(tmp_path / "a.geojson", features))) == {"created": 3, "unchanged": 1}
    assert sorted(Restaurant.objects.values_list("slug", flat=True)) == ["alchemist", "noma", "noma-indre-by"]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("geometry", "lat", "lng"),
    [
        ({"type": "Point", "coordinates": [12.5, 55.6]}, 55.6, 12.5),
        ({"type": "Point", "coordinates": [12.5, 55.6, 30.0]}, 55.6, 12.5),
        ({"type": "LineString", "coordinates": [[1, 1], [2, 2], [3, 3]]}, 2, 2),
        ({"type": "Polygon", "coordinates": [SQUARE]}, 55.7, 12.6),
        ({"type": "Polygon", "coordinates": [U_SHAPE]}, 3, 1),
        ({"type": "MultiPolygon", "coordinates": [[U_SHAPE], [[[0, 0], [1, 0], [1, 1], [0, 0]]]]}, 3, 1),
        (
            {"type": "Polygon", "coordinates": [SQUARE, [[12.52, 55.6], [12.66, 55.6], [12.66, 55.8], [12.52, 55.8]]]},
            55.7,
            12.68,
        ),
        ({"type": "Polygon", "coordinates": [[[4, 5], [6, 5], [4, 5]]]}, 5, 4),
    ],
)
def test_a_building_is_represented_by_a_point_inside(geometry: dict[str, Any], lat: float, lng: float) -> None:
    point = find_point(geometry)
    assert [point.lat, point.lng] == pytest.approx([lat, lng])


@pytest.mark.parametrize(
    "coordinates", [None, [], [[]], [[["a", "b"]]], [[[1e999, 0], [1, 1], [0, 1]]], [[[1], [2], [3]]], 7]
)
def test_a_broken_polygon_is_refused(coordinates: object) -> None:
    with pytest.raises(RowRejected):
        find_point({"type": "Polygon", "coordinates": coordinates})


def test_the_pole_is_not_on_the_map() -> None:
    assert find_point({"type": "Point", "coordinates": [0, 85]}) == Location(85, 0)
    with pytest.raises(RowRejected, match=r"^Latitude 85.1, longitude 0.0 is not a place on our map.$"):
        find_point({"type": "Point", "coordinates": [0, 85.1]})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "This is no GeoJSON, or it is cut off: "),
        ("<html>", "This is no GeoJSON, or it is cut off: "),
        ("{}", "This is no GeoJSON FeatureCollection: it has no list of `features`."),
        ("[1, 2]", "This is no GeoJSON FeatureCollection: it has no list of `features`."),
        ('{"features": 3}', "This is no GeoJSON FeatureCollection: it has no list of `features`."),
    ],
)
def test_a_file_of_another_kind_is_unreadable(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "a.geojson"
    file.write_text(text)
    with pytest.raises(UnreadableFileError) as caught:
        import_restaurants(file)
    assert str(caught.value).startswith(words)


def test_a_collection_of_nothing_is_read(tmp_path: Path) -> None:
    assert counts(import_restaurants(geojson(tmp_path / "none.geojson", []))) == {}


DEEP_OBJECT = '{"a":' * 3000 + "1" + "}" * 3000
DEEP_LIST = "[" * 3000 + "]" * 3000


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "broken",
    [
        '{"properties": {"amenity": "cafe", "name": "Deep", "x": ' + DEEP_OBJECT + "}}",
        '{"properties": {"amenity": "cafe", "name": "Deep"}, "geometry": {"type": "Polygon", "coordinates": '
        + DEEP_LIST
        + "}}",
        DEEP_LIST,
    ],
    ids=["tag", "geometry", "feature"],
)
def test_a_feature_without_a_bottom_costs_itself_only(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "a.geojson"
    file.write_text(f'{{"features": [{broken}, {json.dumps(cafe("Noma"))}]}}')
    assert counts(import_restaurants(file)) == {"created": 1, "rejected": 1}
    [reject] = rejected(file)
    assert (reject["number"], reject["row"]) == (1, None)


@pytest.mark.parametrize("begin", ["", '{"features": [', '{"x": "[\\\\", "features": [{"properties": '])
def test_a_file_of_brackets_is_unreadable_and_takes_no_memory(tmp_path: Path, begin: str) -> None:
    file = tmp_path / "a.geojson"
    file.write_text(begin + "[" * 100_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UnreadableFileError, match=r"^The values are nested deeper than 4000 levels.$"):
        import_restaurants(file)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    assert not Restaurant.objects.exists()


@pytest.mark.exhaustive
def test_brackets_in_texts_are_no_nesting(tmp_path: Path) -> None:
    note = '[{"\\' * 400_000
    file = geojson(tmp_path / "a.geojson", [feature({"amenity": "cafe", "name": "Noma", "note": note})])
    assert counts(import_restaurants(file)) == {"created": 1}


@pytest.mark.parametrize("features", [[], ["Noma"]])
def test_a_byte_order_mark_is_skipped(tmp_path: Path, features: list[str]) -> None:
    file = geojson(tmp_path / "a.geojson", map(cafe, features))
    file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    assert import_restaurants(file).created == len(features)


def test_bytes_that_are_no_utf_8_are_reported_with_a_message(tmp_path: Path) -> None:
    file = tmp_path / "a.geojson"
    file.write_bytes(b'{"features": [{"name": "Caf\xe9"}]}')
    with pytest.raises(UnreadableFileError) as rejected:
        import_restaurants(file)
    assert str(rejected.value) == (
        "This is no GeoJSON, or it is cut off: lexical error: invalid bytes in UTF8 string."
    )


def test_a_name_of_two_lines_is_refused_and_another_text_left_out(tmp_path: Path) -> None:
    file = geojson(
        tmp_path / "a.geojson",
        [cafe("No\nma"), cafe("Noma", alt_name="No\tma", **{"addr:city": "Copen\nhagen"})],
    )
    assert counts(import_restaurants(file)) == {"created": 1, "rejected": 1}
    assert rejected(file)[0]["reason"] == "name: 'No\\nma' holds a line break or another control character."
    place = Restaurant.objects.get()
    assert (place.alt_names, place.locality) == ([], None)


def test_hours_of_public_holidays_are_read_with_those_of_the_market(tmp_path: Path) -> None:
    builders.holiday(Market.objects.get(slug="copenhagen"), (NOW + timedelta(days=9)).date())
    place = imported(tmp_path, {"opening_hours": "Mo-Su 10:00-20:00; PH off"})
    assert place.hours is not None
    closed = {"date": (NOW + timedelta(days=9)).date().isoformat(), "periods": []}
    assert [{"date": each["date"], "periods": each["periods"]} for each in place.hours["special_days"]] == [closed]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "write",
    [
        lambda key: key.replace(":", "_"),
        lambda key: key.replace(":", "_").upper(),
        lambda key: key.replace(":", "_")[:10],
        lambda key: key.replace(":", "_")[:10].upper(),
    ],
    ids=["without colons", "upper case", "cut to ten characters", "cut and upper case"],
)
def test_the_keys_of_gis_tools_are_read_as_tags(tmp_path: Path, write: Callable[[str], str]) -> None:
    tags = {
        "amenity": "cafe", "name": "Noma", "addr:street": "Gade", "addr:housenumber": 12, "addr:city": "København",
        "addr:postcode": 1620.0, "contact:phone": "+45 32155656", "contact:website": "noma.dk", "diet:vegan": True,
        "outdoor_seating": False, "opening_hours": "24/7", "cuisine": ["pizza", "italian"], "wheelchair": None,
    }  # fmt: skip
    file = geojson(tmp_path / "a.geojson", [feature({write(key): value for key, value in tags.items()}, id="node/1")])
    assert counts(import_restaurants(file)) == {"created": 1}
    place = Restaurant.objects.get()
    assert (place.line1, place.locality, place.postal_code) == ("Gade 12", "København", "1620")
    assert (place.phone, place.website, place.cuisines) == ("+4532155656", "https://noma.dk", ["pizza", "italian"])
    assert place.attributes == {"kind": "cafe", "diet_vegan": True, "outdoor_seating": False}
    assert place.hours is not None


def test_the_other_tags_of_ogr2ogr_are_read(tmp_path: Path) -> None:
    tags = {"osm_id": "5", "name": "Noma", "other_tags": '"amenity"=>"cafe","addr:street"=>"Gade \\"A\\""'}
    assert counts(import_restaurants(geojson(tmp_path / "a.geojson", [feature(tags)]))) == {"created": 1}
    assert Restaurant.objects.get().line1 == 'Gade "A"'


def test_keys_that_are_not_read_are_counted(tmp_path: Path) -> None:
    tags = {"amenity": "cafe", "name": "Noma", "check_date": "2026-01-01", "fax": 12, "osm_id": "5", "note": None}
    totals = import_restaurants(geojson(tmp_path / "a.geojson", [feature(tags), feature({"shop": "x", "fax": "1"})]))
    assert totals.unread_keys == {"check_date": 1, "fax": 1}
    assert ImportRun.objects.get().reasons == {
        "skipped": {"not a place to eat or drink": {"rows": 1, "example": ""}},
        "unread_keys": {"check_date": 1, "fax": 1},
    }


@pytest.mark.exhaustive
def test_a_place_without_an_id_that_moved_a_little_is_the_same_restaurant(tmp_path: Path) -> None:
    cafe = {"amenity": "cafe", "name": "Noma"}
    import_restaurants(geojson(tmp_path / "a.geojson", [feature(cafe)]))
    moved = geojson(tmp_path / "b.geojson", [feature(cafe, lat=55.67623)])
    assert counts(import_restaurants(moved)) == {"changed": 1}
    assert Restaurant.objects.get().latitude == 55.67623
    assert counts(import_restaurants(moved)) == {"unchanged": 1}
    # A second one of the name beside the first is another restaurant.
    both = geojson(tmp_path / "c.geojson", [feature(cafe, lat=55.67623), feature(cafe, lat=55.67653)])
    assert counts(import_restaurants(both)) == {"created": 1, "unchanged": 1, "queued": 1}
    assert counts(import_restaurants(both)) == {"unchanged": 2}


def test_hotels_of_a_file_become_landmarks_by_which_places_are_found(tmp_path: Path) -> None:
    hotel = {"tourism": "hotel", "name": "Hotel Petri", "alt_name": "Petri Inn"}
    features = [
        cafe("Noma"),
        feature(hotel, lat=55.68),
        feature({"tourism": "museum", "name": "Museum"}),
        feature({"tourism": "hotel"}),
        feature({"tourism": "hostel", "name": "Far Away"}, lat=0, lng=0),
    ]
    file = geojson(tmp_path / "hotels.geojson", features)
    totals = import_restaurants(file)
    assert counts(totals) == {"created": 1, "skipped": 4}
    landmark = Landmark.objects.get(name="Hotel Petri")
    assert (landmark.kind, landmark.market_id, landmark.source_id) == ("hotel", "copenhagen", "osm")
    for near in ("hotel petri", "Petri Inn", "hotel petri, copenhagen"):
        assert landmarks.geocode(near, market=None).place.kind == "hotel"
    assert counts(import_restaurants(file)) == {"unchanged": 1, "skipped": 4}
    assert Landmark.objects.filter(kind="hotel", source="osm").count() == 1


def test_a_place_to_eat_in_a_hotel_is_a_restaurant(tmp_path: Path) -> None:
    assert imported(tmp_path, {"amenity": "restaurant", "tourism": "hotel", "name": "Petri"}).name == "Petri"
    assert not Landmark.objects.filter(name="Petri").exists()


def test_a_cuisine_of_a_file_that_is_a_synonym_becomes_the_cuisine_that_has_it(tmp_path: Path) -> None:
    place = imported(tmp_path, {"cuisine": "trattoria;sushi_bar;Grøddesign;sushi"})
    assert (place.cuisine_id, place.cuisines) == ("italian", ["italian", "sushi", "groddesign"])
    assert not Cuisine.objects.filter(slug__in=["trattoria", "sushi-bar"]).exists()
    assert Cuisine.objects.get(slug="italian").label == "Italian"


def test_a_known_cuisine_stays_though_it_is_a_synonym_too_and_a_synonym_of_two_is_none(tmp_path: Path) -> None:
    Cuisine.objects.create(slug="trattoria", label="Trattoria")
    Cuisine.objects.filter(slug__in=["pizza", "burger"]).update(synonyms=["slice bar"])
    place = imported(tmp_path, {"cuisine": "trattoria;slice_bar"})
    assert place.cuisines == ["trattoria", "slice-bar"]

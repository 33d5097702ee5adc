"""What names of places mean."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from catalogue import reference_data
from catalogue.models import Landmark, LandmarkName
from catalogue.search.geocoding import landmarks
from catalogue.search.geocoding.landmarks import PlaceNotResolved, Resolution
from framework.api.pagination.cursor import InvalidCursor
from framework.errors import InvalidRequest
from framework.public_ids import encode
from tests.catalogue import builders

pytestmark = pytest.mark.django_db


def resolve(near: str, *, market: str | None = None) -> Resolution:
    return landmarks.geocode(near, market=market)


@pytest.mark.exhaustive
def test_tivoli_means_tivoli_gardens_in_copenhagen() -> None:
    reference_data.load_reference_data()
    builders.landmark("Tivoli", at=(41.96, 12.79), prominence=99)
    builders.landmark("Tivoli Castle", at=(46.05, 14.49))

    found = resolve("tivoli").place

    assert (found.name, found.market, found.kind) == ("Tivoli Gardens", "copenhagen", "park")


@pytest.mark.exhaustive
def test_place_of_another_market_is_not_suggested_but_its_market_is_named() -> None:
    reference_data.load_reference_data()
    with pytest.raises(landmarks.PlaceNotResolved) as refusal:
        resolve("tivoli gardens", market="tokyo")
    assert refusal.value.extra["suggestions"] == []
    assert "A place of this name is in copenhagen" in refusal.value.message
    with pytest.raises(landmarks.PlaceNotResolved) as refusal:
        resolve("tivoli", market="tokyo")
    assert refusal.value.extra["suggestions"] == []
    assert "Did you mean" not in refusal.value.message


@pytest.mark.deep
def test_each_landmark_of_our_own_is_found_by_its_name_and_its_market() -> None:
    reference_data.load_reference_data()
    for row in reference_data.read_csv("landmarks"):
        found = landmarks.geocode(f"{row['name']}, {row['market']}", market=None)
        assert (found.place.name, found.place.market) == (row["name"], row["market"])


def test_an_imported_landmark_is_found_without_its_market() -> None:
    made = builders.landmark("David Collection", at=(55.68497, 12.57857), kind="museum")
    found = resolve("David Collection")
    assert found.place.id == encode("lm", made.pk)
    assert (found.place.lat, found.place.lng) == (55.68497, 12.57857)
    assert found.alternatives == ()


@pytest.mark.parametrize("near", ["KØDBYEN", "kodbyen", "Kødbyen"])
def test_case_and_accents_do_not_matter(near: str) -> None:
    builders.landmark("Kødbyen", market="copenhagen")
    assert resolve(near).place.name == "Kødbyen"


def test_a_translation_names_the_same_place() -> None:
    builders.landmark("The Little Mermaid", "Den lille Havfrue", market="copenhagen")
    assert resolve("den lille havfrue").place.name == "The Little Mermaid"


def test_a_whole_name_goes_before_a_begun_one() -> None:
    builders.landmark("Park Lane", market="copenhagen", prominence=90)
    builders.landmark("Park", market="copenhagen", prominence=1)
    assert resolve("park").place.name == "Park"
    assert resolve("park").alternatives == ()


def test_a_begun_word_goes_after_a_begun_name() -> None:
    builders.landmark("Parken Stadium", market="copenhagen", prominence=90)
    builders.landmark("Park Lane", market="copenhagen", prominence=1)
    found = resolve("park")
    assert [found.place.name, *(place.name for place in found.alternatives)] == ["Park Lane", "Parken Stadium"]


def test_of_equal_names_the_best_known_is_used_and_the_others_are_listed() -> None:
    builders.landmark("Chinatown", market="london", prominence=40)
    builders.landmark("Chinatown", market="singapore", prominence=80)
    builders.landmark("Chinatown", prominence=99)
    found = resolve("chinatown")
    assert found.place.market == "singapore"
    assert [place.market for place in found.alternatives] == ["london", None]


def test_a_market_tells_equal_names_apart() -> None:
    builders.landmark("Soho", market="london", prominence=80)
    builders.landmark("SoHo", market="new-york", prominence=70)
    assert resolve("soho", market="new-york").place.market == "new-york"
    assert resolve("Soho, New York").place.market == "new-york"
    assert resolve("soho, new-york").place.market == "new-york"
    assert resolve("soho, london", market="new-york").place.market == "new-york"


def test_a_comma_may_also_be_part_of_the_name() -> None:
    builders.landmark("Saint-Paul, Paris", market="paris")
    assert resolve("Saint-Paul, Paris").place.name == "Saint-Paul, Paris"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("near", "meant"),
    [
        ("tivolli", "Tivoli Gardens"),
        ("Tivoli Gradens", "Tivoli Gardens"),
        ("rosenborg slodt", "Rosenborg Castle"),
        ("londn", "London"),
        ("Muesum of London", "Museum of London"),
    ],
)
def test_a_misspelt_name_is_understood(near: str, meant: str) -> None:
    builders.landmark("Tivoli Gardens", market="copenhagen")
    builders.landmark("Rosenborg Castle", "Rosenborg Slot", market="copenhagen")
    builders.landmark("London", market="london", kind="city")
    builders.landmark("Museum of London", market="london")
    assert resolve(near).place.name == meant


def test_the_name_or_the_address_of_a_restaurant_is_a_place_too() -> None:
    place = builders.restaurant(name="Kødbyens Fiskebar", line1="Flæsketorvet 100", latitude=55.668, longitude=12.559)
    for near in (
        "kodbyens fiskebar",
        "Flæsketorvet 100",
        "flaesketorvet 100, 1711 København V",
        "Flæsketorvet 100, Copenhagen",
    ):
        found = resolve(near).place
        assert (found.id, found.kind, found.lat, found.lng) == (encode("rst", place.pk), "restaurant", 55.668, 12.559)


def test_a_landmark_goes_before_a_restaurant_of_its_name_and_a_restaurant_before_a_misspelt_landmark() -> None:
    builders.restaurant(name="Nyhavn")
    builders.restaurant(name="Nyhavnet")
    builders.landmark("Nyhavn", market="copenhagen")
    assert resolve("nyhavn").place.kind == "landmark"
    assert resolve("nyhavnet").place.kind == "restaurant"


def test_a_restaurant_without_a_location_is_no_reference_point() -> None:
    builders.restaurant(name="Somewhere", latitude=None, longitude=None)
    with pytest.raises(PlaceNotResolved):
        resolve("somewhere")


def test_a_name_that_nothing_has_is_refused_with_those_that_are_like_it() -> None:
    builders.landmark("Central Station", "Hovedbanegården", market="copenhagen")
    with pytest.raises(PlaceNotResolved) as refused:
        resolve("xyzzy xyzzy central")
    assert refused.value.code == "place_not_resolved"
    assert refused.value.param == "near"
    assert refused.value.extra == {"suggestions": ["Central Station"]}


@pytest.mark.exhaustive
@pytest.mark.parametrize("near", ["%", "_", "\\", "'", "́", "!!!", "a%b", "😀", "%s", "%(name)s"])
def test_signs_mean_nothing_special(near: str) -> None:
    builders.landmark("Tivoli Gardens", market="copenhagen")
    with pytest.raises(PlaceNotResolved):
        resolve(near)


def test_the_likeliest_place_of_our_markets_goes_before_a_likelier_one_elsewhere() -> None:
    builders.landmark("Times Square", market="new-york", prominence=95)
    builders.landmark("Taichung Time Square", prominence=20)
    found = resolve("time square")
    assert [found.place.name, *(place.name for place in found.alternatives)] == [
        "Times Square",
        "Taichung Time Square",
    ]


@pytest.mark.parametrize(("near", "meant"), [("newyork", "New York"), ("centralpark", "Central Park")])
def test_a_name_written_as_one_word_is_understood(near: str, meant: str) -> None:
    builders.landmark("New York", market="new-york")
    builders.landmark("New York-New York Hotel and Casino")
    builders.landmark("Central Park", market="new-york")
    builders.landmark("Park Central Building")
    assert resolve(near).place.name == meant


@pytest.mark.parametrize("near", ["a", "pa"])
def test_one_or_two_letters_begin_and_resemble_nothing(near: str) -> None:
    builders.landmark("A Famosa", market="copenhagen")
    builders.landmark("Park", market="copenhagen")
    with pytest.raises(PlaceNotResolved):
        resolve(near)


def test_the_exact_name_of_a_restaurant_goes_before_the_begun_word_of_a_landmark_but_not_before_its_whole_word() -> (
    None
):
    builders.restaurant(name="Lun")
    builders.restaurant(name="Folk")
    builders.landmark("Luna Park", market="copenhagen")
    builders.landmark("Folk Art Museum", market="copenhagen")
    assert resolve("Lun").place.kind == "restaurant"
    assert resolve("Luna").place.name == "Luna Park"
    assert resolve("Folk").place.name == "Folk Art Museum"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("near", "meant", "market"),
    [
        ("nyhavn copenhagen", "Nyhavn", "copenhagen"),
        ("nyhavn in copenhagen", "Nyhavn", "copenhagen"),
        ("Nyhavn, København", "Nyhavn", "copenhagen"),
        ("Nyhavn, Copenhagen, Denmark", "Nyhavn", "copenhagen"),
        ("times square new york", "Times Square", "new-york"),
        ("times square new york city", "Times Square", "new-york"),
        ("times squ new york", "Times Square", "new-york"),
        ("Union Square, New York, NY", "Union Square", "new-york"),
        ("union square san francisco", "Union Square", "san-francisco"),
        ("tivolli, copenhagen", "Tivoli Gardens", "copenhagen"),
        ("new york", "New York", "new-york"),
    ],
)
def test_a_city_behind_the_name_says_where(near: str, meant: str, market: str) -> None:
    reference_data.load_reference_data()
    place = resolve(near).place
    assert (place.name, place.market) == (meant, market)


@pytest.mark.exhaustive
def test_the_exact_name_of_a_restaurant_may_end_in_a_city() -> None:
    reference_data.load_reference_data()
    builders.restaurant(name="Café Paris")
    builders.landmark("Café de Flore", market="paris")
    assert resolve("cafe paris").place.kind == "restaurant"


@pytest.mark.parametrize("near", ["kings cross", "King's Cross", "king\u2019s cross"])
def test_apostrophes_do_not_matter(near: str) -> None:
    builders.landmark("King's Cross", market="london", prominence=70)
    builders.landmark("Kings Cross", market="sydney", prominence=50)
    found = resolve(near)
    assert (found.place.market, [place.market for place in found.alternatives]) == ("london", ["sydney"])


@pytest.mark.parametrize("near", ["colosseum", "Vesterbrogade 3, Copenhagen", "vesterbro 3", "xyz copenhagen"])
def test_what_is_only_a_little_alike_is_suggested_and_not_taken(near: str) -> None:
    builders.landmark("Copenhagen", market="copenhagen", kind="city")
    builders.landmark("Elephantine Colossus")
    builders.landmark("Vesterbro", market="copenhagen")
    with pytest.raises(PlaceNotResolved):
        resolve(near)


def test_a_far_misspelling_is_refused_with_what_it_is_like() -> None:
    builders.landmark("Elephantine Colossus")
    with pytest.raises(PlaceNotResolved) as refused:
        resolve("colosseum")
    assert refused.value.extra == {"suggestions": ["Elephantine Colossus"]}


def test_a_text_longer_than_any_name_is_not_compared_by_letters() -> None:
    builders.landmark("National Museum of Art", market="copenhagen")
    with pytest.raises(PlaceNotResolved) as refused:
        resolve("national museum of art " * 4)
    assert refused.value.extra == {"suggestions": [], "markets": ["copenhagen"]}


@pytest.mark.parametrize("q", ["'", "́"])
def test_a_look_up_of_nothing_that_is_left_finds_nothing(q: str) -> None:
    builders.landmark("Tivoli")
    assert landmarks.search_landmarks(q=q, limit=10, now=builders.NOW).rows == []


def test_a_look_up_lists_whole_then_begun_then_misspelt_names() -> None:
    for name in ("Rosenborg", "Rosenborg Castle", "Castle Rosenborgg", "Tivoli"):
        builders.landmark(name, market="copenhagen")
    found = landmarks.search_landmarks(q="rosenborg", limit=10, now=builders.NOW).rows
    assert [each.place.name for each in found] == ["Rosenborg", "Rosenborg Castle", "Castle Rosenborgg"]
    assert [each.distance_m for each in found] == [None, None, None]


def test_of_equal_matches_the_nearest_comes_first() -> None:
    builders.landmark("City Museum", at=(51.5, -0.12), market="london", prominence=90)
    builders.landmark("City Museum", at=(55.67, 12.55), market="copenhagen", prominence=10)
    found = landmarks.search_landmarks(q="city museum", ll=builders.TIVOLI, limit=10, now=builders.NOW).rows
    assert [each.place.market for each in found] == ["copenhagen", "london"]


def test_a_point_alone_lists_what_lies_within_twenty_kilometres() -> None:
    builders.landmark("Near", at=(55.6738, 12.5681))
    builders.landmark("Here", at=(55.6737, 12.5681))
    builders.landmark("Far", at=(55.9, 12.5681))
    found = landmarks.search_landmarks(ll=builders.TIVOLI, limit=10, now=builders.NOW).rows
    assert [(each.place.name, each.distance_m) for each in found] == [("Here", 0), ("Near", 11)]


def test_pages_of_a_look_up_follow_one_another() -> None:
    for number in range(5):
        builders.landmark(f"Gate {number}")
    names, cursor = [], None
    while True:
        page = landmarks.search_landmarks(limit=2, cursor=cursor, now=builders.NOW)
        names += [each.place.name for each in page.rows]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert names == [f"Gate {number}" for number in range(5)]
    first = landmarks.search_landmarks(limit=2, now=builders.NOW).next_cursor
    with pytest.raises(InvalidCursor):
        landmarks.search_landmarks(q="gate", limit=2, cursor=first, now=builders.NOW)
    with pytest.raises(InvalidCursor):
        landmarks.search_landmarks(limit=2, cursor=first, now=builders.NOW + timedelta(hours=2))


def test_a_look_up_keeps_to_kinds_and_to_a_market() -> None:
    builders.landmark("Louvre", kind="museum", market="paris")
    builders.landmark("Orsay", kind="museum", market="paris")
    builders.landmark("Monceau", kind="park", market="paris")
    builders.landmark("Tate", kind="museum", market="london")

    def names(**question: Any) -> set[str]:
        return {each.place.name for each in landmarks.search_landmarks(limit=10, now=builders.NOW, **question).rows}

    assert names(kind=("museum",), market="paris") == {"Louvre", "Orsay"}
    assert names(kind=("museum", "park"), market="paris") == {"Louvre", "Orsay", "Monceau"}
    assert names(kind=("museum",)) == {"Louvre", "Orsay", "Tate"}
    assert names(q="louvre", market="london") == set()
    with pytest.raises(InvalidRequest) as refused:
        names(market="pari")
    assert (refused.value.param, refused.value.extra) == ("market", {"suggestions": ["paris"]})


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "question",
    [{}, {"q": "gate"}, {"ll": builders.TIVOLI}, {"q": "gate", "ll": builders.TIVOLI}, {"market": "copenhagen"}],
)
def test_pages_miss_and_repeat_nothing_when_landmarks_come_and_go(question: dict[str, Any]) -> None:
    for number in range(9):
        at = (builders.TIVOLI[0] + number % 3 / 100, builders.TIVOLI[1])
        builders.landmark(f"Gate {number}", at=at, market="copenhagen", prominence=number % 2)
    whole = [each.place.name for each in landmarks.search_landmarks(limit=50, now=builders.NOW, **question).rows]

    names: list[str] = []
    cursor = None
    while True:
        page = landmarks.search_landmarks(limit=2, cursor=cursor, now=builders.NOW, **question)
        names += [each.place.name for each in page.rows]
        cursor = page.next_cursor
        if cursor is None:
            break
        LandmarkName.objects.filter(landmark__name=names[0]).delete()
        Landmark.objects.filter(name=names[0]).delete()

    assert len(whole) == 9
    assert names == whole


def test_a_begun_name_may_have_signs_that_patterns_have() -> None:
    builders.landmark(r"A_b%\c Hall", market="copenhagen")
    builders.landmark("Axb Hall", market="copenhagen", prominence=90)
    for near in ("a_b", "a_b%", r"a_b%\c"):
        found = resolve(near)
        assert (found.place.name, found.alternatives) == (r"A_b%\c Hall", ())


def test_a_closed_restaurant_is_no_reference_point() -> None:
    builders.restaurant(name="Gone", status="permanently_closed")
    with pytest.raises(PlaceNotResolved):
        resolve("gone")


@pytest.mark.exhaustive
@pytest.mark.parametrize("near", ["tivoli", "tivolli", "some restaurant", "istedgade 5, copenhagen"])
def test_no_table_of_names_is_read_as_a_whole(near: str) -> None:
    reference_data.load_reference_data()
    parameters = {
        "near": near,
        "heads": ["istedgade 5"],
        "tails": ["copenhagen"],
        "named": [f"copenhagen {near}"],
        "named_markets": ["copenhagen"],
        "line1": near,
        "market": None,
        "max_rows": 6,
    }
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN " + landmarks.GEOCODE, parameters)
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "Seq Scan on catalogue_landmark" not in plan
    assert "Seq Scan on catalogue_searchrow" not in plan
    assert "Seq Scan on catalogue_restaurant" not in plan

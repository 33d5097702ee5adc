"""Places that are no landmarks: points, streets, postal codes, airports, cities of the world; and what is outside."""

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from catalogue import reference_data
from catalogue.search import Query, search_restaurants
from catalogue.search.geocoding import areas, landmarks
from catalogue.search.geocoding.landmarks import PlaceNotResolved
from tests.catalogue import builders
from tests.catalogue.search.search_requests import names

pytestmark = [pytest.mark.django_db, pytest.mark.exhaustive]


@pytest.fixture(autouse=True)
def _dictionaries() -> None:
    reference_data.load_reference_data()


def kind_and_market(near: str, *, market: str | None = None) -> tuple[str, str | None]:
    place = landmarks.geocode(near, market=market).place
    return place.kind, place.market


@pytest.mark.parametrize(
    ("near", "kind", "market"),
    [
        ("JFK", "airport", "new-york"),
        ("JFK airport", "airport", "new-york"),
        ("SFO", "airport", "san-francisco"),
        ("heathrow", "airport", "london"),
        ("Heathrow Airport", "airport", "london"),
        ("copenhagen airport", "airport", "copenhagen"),
        ("Malpensa", "airport", "milan"),
        ("Queens", "city", "new-york"),
        ("brooklyn", "city", "new-york"),
    ],
)
def test_airports_and_boroughs_of_our_markets_are_places(near: str, kind: str, market: str) -> None:
    assert kind_and_market(near) == (kind, market)


def test_a_city_of_geonames_is_attributed() -> None:
    page = search_restaurants(Query(near="Queens"), now=timezone.now())
    assert page.attribution == [
        {"source": "geonames", "text": "GeoNames, geonames.org, CC BY 4.0", "license": "CC-BY-4.0"}
    ]


@pytest.mark.parametrize("near", ["Roma", "Lyon", "München", "Firenze", "Frankfurt airport", "MUC", "Mumbai", "CDMX"])
@pytest.mark.parametrize("market", [None, "milan"])
def test_a_place_outside_of_all_markets_is_said_to_be_outside(near: str, market: str | None) -> None:
    with pytest.raises(PlaceNotResolved, match=r"is outside of .*market.*; the nearest are ") as refused:
        landmarks.geocode(near, market=market)
    assert "milan" in refused.value.extra["markets"]


def test_a_country_is_refused_with_our_markets_there() -> None:
    with pytest.raises(
        PlaceNotResolved, match="`Italy` is a country: name a city there, such as our market milan"
    ) as it:
        landmarks.geocode("Italy", market=None)
    assert it.value.extra["suggestions"] == ["milan"]


@pytest.mark.parametrize("near", ["Upper East Side", "Marriott", "my hotel", "near me", "zzgrmpf"])
@pytest.mark.parametrize("market", [None, "new-york"])
def test_a_name_that_is_not_known_is_no_other_place(near: str, market: str | None) -> None:
    with pytest.raises(PlaceNotResolved):
        landmarks.geocode(near, market=market)


def test_streets_postal_codes_and_stated_neighborhoods_are_the_centers_of_their_places() -> None:
    for number, lat in ((3, 55.670), (41, 55.672)):
        builders.restaurant(
            line1=f"Vesterbrogade {number}", postal_code="1620", neighborhood="Kartoffelrækkerne", latitude=lat,
            longitude=12.56,
        )  # fmt: skip
    builders.restaurant(line1="Gammel Vesterbrogade 1", postal_code="9000", latitude=55.0, longitude=12.0)
    for near, kind in (("vesterbrogade", "street"), ("1620", "postal_code"), ("kartoffelraekkerne", "neighborhood")):
        place = landmarks.geocode(near, market=None).place
        assert (place.kind, round(place.lat, 4), place.market, place.id) == (kind, 55.671, "copenhagen", None)


def test_streets_and_postal_codes_are_found_by_their_indexes() -> None:
    parameters = {"name": "vesterbrogade", "market": None, "min_length": 5, "max_rows": 6}
    with connection.cursor() as cursor:
        # Otherwise the planner reads the few rows of a test.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {areas.FIND_AREAS}", parameters)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    for index in ("search_by_street", "restaurant_by_postal_code", "search_by_document"):
        assert index in plan


def test_an_article_before_a_name_does_not_matter() -> None:
    assert landmarks.geocode("the louvre", market=None).place.name == "Louvre"
    assert landmarks.geocode("la scala", market=None).place.name == "La Scala"


def test_a_point_may_stand_in_near() -> None:
    builders.restaurant(name="Here", latitude=55.67, longitude=12.56)
    builders.restaurant(name="There", latitude=55.77, longitude=12.56)
    assert names(near="55.67,12.56") == ["Here"]
    assert names(near="55.67 12.56") == ["Here"]


def list_readings(near: str, *, market: str | None = None) -> list[tuple[str | None, bool]]:
    """The city of each place that the name could mean, and whether it is ambiguous."""
    found = landmarks.geocode(near, market=market)
    return [(place.city, place.ambiguous) for place in (found.place, *found.alternatives)]


def test_a_name_that_several_cities_have_is_ambiguous_and_each_reading_says_how_to_choose_it() -> None:
    for near in ("chinatown", "soho", "central station", "botanic gardens"):
        found = landmarks.geocode(near, market=None)
        readings = (found.place, *found.alternatives)
        likely = [place for place in readings if place.ambiguous]
        assert found.place.ambiguous, near
        assert len({place.city for place in likely}) >= 2, near
        for place in readings:
            chosen = landmarks.geocode(str(place.near), market=None).place
            assert (chosen.id, chosen.ambiguous, chosen.near) == (place.id, False, place.near)


def test_what_is_named_after_its_city_is_found_without_the_city() -> None:
    found = landmarks.geocode("central station", market=None)
    assert {place.city for place in (found.place, *found.alternatives)} == {"Berlin", "Copenhagen", "Milan", "Sydney"}
    assert list_readings("central station", market="berlin") == [("Berlin", False)]
    # One word is too little: it is the beginning of other names.
    assert landmarks.geocode("tower", market=None).place.name != "Tokyo Tower"


def test_a_name_that_one_city_has_or_that_the_market_narrows_is_not_ambiguous() -> None:
    assert list_readings("nyhavn") == [("Copenhagen", False)]
    assert list_readings("chinatown, sydney") == [("Sydney", False)]
    assert list_readings("chinatown", market="sydney") == [("Sydney", False)]
    assert list_readings("london chinatown") == [("London", False)]
    assert list_readings("chinatown", market="london") == [("London", False)]
    assert list_readings("central station copenhagen") == [("Copenhagen", False)]


def test_a_place_that_is_known_much_less_is_an_alternative_and_does_not_make_the_name_ambiguous() -> None:
    builders.landmark("Nyhavn", market="sydney", at=(-33.87, 151.2), prominence=5)
    assert list_readings("nyhavn") == [("Copenhagen", False), ("Sydney", False)]


def test_a_street_of_several_cities_is_ambiguous_unless_one_has_most_of_its_restaurants() -> None:
    def street(market: str, *, at: tuple[float, float], count: int) -> None:
        for number in range(count):
            builders.restaurant(
                market_id=market, line1=f"{number + 1} Broadwood Street", latitude=at[0], longitude=at[1]
            )

    street("london", at=(51.51, -0.13), count=2)
    assert list_readings("broadwood street") == [("London", False)]
    street("sydney", at=(-33.87, 151.2), count=1)
    assert list_readings("broadwood street") == [("London", True), ("Sydney", True)]
    assert landmarks.geocode("Broadwood Street, Sydney", market=None).place.city == "Sydney"
    assert landmarks.geocode("broadwood street sydney", market=None).place.kind == "street"
    street("london", at=(51.51, -0.13), count=2)
    assert list_readings("broadwood street") == [("London", False), ("Sydney", False)]


def test_a_chain_is_ambiguous_and_its_restaurants_are_told_apart_by_their_points() -> None:
    for number in range(7):
        builders.restaurant(name="Burger Barn", latitude=51.51 + number / 1000, longitude=-0.13, market_id="london")
    builders.restaurant(name="Burger Barn", latitude=55.67, longitude=12.56)
    found = landmarks.geocode("burger barn", market=None)
    assert {found.place.city, found.alternatives[0].city} == {"London", "Copenhagen"}
    assert found.place.ambiguous
    (danish,) = [place.near for place in (found.place, *found.alternatives) if place.country == "DK"]
    assert danish == "Burger Barn, Copenhagen"
    points = [place.near for place in (found.place, *found.alternatives) if place.country == "GB"]
    assert all(str(point).startswith("51.51") for point in points)
    assert len(set(points)) == len(points) == 5


def test_the_answer_names_market_city_and_country_of_the_place_and_of_each_hit(client: Client) -> None:
    builders.restaurant(latitude=55.6737, longitude=12.5681)
    answer = client.get("/v1/restaurants?near=tivoli").json()
    resolved, (hit,) = answer["query"]["resolved"], answer["data"]
    for place in (resolved, hit):
        assert (place["market"], place["city"], place["country"]) == ("copenhagen", "Copenhagen", "DK")
    assert (resolved["near"], resolved["ambiguous"]) == ("Tivoli Gardens, Copenhagen", False)
    answer = client.get("/v1/restaurants?near=chinatown").json()["query"]
    assert answer["resolved"]["ambiguous"]
    assert [place["near"] for place in answer["alternatives"] if place["city"] == "Sydney"] == ["Chinatown, Sydney"]


def test_a_market_that_is_newer_than_the_vocabulary_has_its_city_too(client: Client) -> None:
    client.get("/v1/restaurants?near=tivoli")
    builders.market("oslo", name="Oslo", country="NO", latitude=59.91, longitude=10.75)
    builders.restaurant(market_id="oslo", latitude=59.91, longitude=10.75)
    (hit,) = client.get("/v1/restaurants?ll=59.91,10.75").json()["data"]
    assert (hit["market"], hit["city"], hit["country"]) == ("oslo", "Oslo", "NO")


def test_a_city_is_searched_whole_unless_a_radius_is_named() -> None:
    # Eight kilometres from the middle.
    builders.restaurant(name="Amager", latitude=55.6761, longitude=12.6950)
    builders.restaurant(name="Amager too", market_id="new-york", latitude=40.6600, longitude=-73.9100)
    assert names(near="Copenhagen") == ["Amager"]
    assert names(near="Copenhagen", radius=1500) == []
    # A borough has five.
    assert names(near="Brooklyn") == ["Amager too"]
    # A landmark is a place to walk around.
    assert names(near="Tivoli Gardens") == []


def test_a_street_beside_a_cuisine_is_a_place() -> None:
    builders.restaurant(cuisines=["pizza"], line1="4 rue des Rosiers", name="Near", latitude=48.857, longitude=2.36)
    builders.restaurant(cuisines=["pizza"], name="Far")
    page = search_restaurants(Query(q="pizza rue des rosiers"), now=timezone.now())
    assert [hit.name for hit in page.hits] == ["Near"]
    assert page.resolved
    assert (page.resolved.kind, page.resolved.name) == ("street", "rue des Rosiers")
    assert [part.to_dict() for part in page.understood][1] == {
        "words": "rue des rosiers", "parameter": "near", "value": "rue des rosiers"
    }  # fmt: skip
    # Without a cuisine it may be the name of a restaurant.
    assert search_restaurants(Query(q="rue des rosiers"), now=timezone.now()).resolved is None


@pytest.mark.parametrize("q", ["sushi kyoto", "kaiseki kyoto"])
def test_words_that_no_restaurant_has_are_no_search_elsewhere_if_they_are_a_city_outside(q: str) -> None:
    builders.restaurant(cuisines=["sushi"])
    with pytest.raises(PlaceNotResolved, match=r"Kyoto \(JP\) is outside of our markets") as refused:
        search_restaurants(Query(q=q), now=timezone.now())
    assert refused.value.param == "q"
    assert names(q="sushi kyoto", market="copenhagen") != []
    builders.restaurant(name="Kyoto Sushi")
    assert names(q="sushi kyoto") == ["Kyoto Sushi"]

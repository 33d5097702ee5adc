"""Places that are no landmarks: points, streets, postal codes, airports, cities of the world; and what is outside."""

import pytest
from django.db import connection
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


@pytest.mark.parametrize("near", ["Roma", "Lyon", "München", "Firenze", "Frankfurt airport", "MUC", "Mumbai"])
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

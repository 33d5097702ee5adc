"""What is found out about a city and its country."""

from datetime import UTC, datetime
from typing import Any

import pytest
from holidays import list_supported_countries

from catalogue.hours import holidays
from catalogue.markets import AmbiguousCity, Area, CityNotFound, InvalidMarket, MarketPlan, plan_market
from catalogue.search.geocoding import world
from catalogue.search.geocoding.distance import Location
from framework.timezones import zone_names

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MERIBEL = Location(45.397, 6.565)

# Market.validate_constraints asks the database.
pytestmark = pytest.mark.django_db


def plan(name: str, **options: Any) -> MarketPlan:
    return plan_market(name, now=NOW, **options)


def values(name: str, **options: Any) -> tuple[Any, ...]:
    market = plan(name, **options).market
    return (
        *(market.slug, market.name, market.country, market.region, market.timezone, market.currency),
        *(market.calling_code, market.latitude, market.longitude, market.radius_m),
    )


def refusal(name: str, **options: Any) -> str:
    with pytest.raises((AmbiguousCity, CityNotFound, InvalidMarket)) as refused:
        plan(name, **options)
    return refused.value.message


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Lyon", ("lyon", "Lyon", "FR", "", "Europe/Paris", "EUR", "33", 45.749, 4.848, 20_000)),
        ("lugdunum", ("lyon", "Lyon", "FR", "", "Europe/Paris", "EUR", "33", 45.749, 4.848, 20_000)),
        ("Gdańsk", ("gdansk", "Gdańsk", "PL", "", "Europe/Warsaw", "PLN", "48", 54.352, 18.649, 15_000)),
        ("Sofia", ("sofia", "Sofia", "BG", "", "Europe/Sofia", "EUR", "359", 42.698, 23.324, 25_000)),
        ("Boston", ("boston", "Boston", "US", "MA", "America/New_York", "USD", "1", 42.358, -71.06, 20_000)),
        ("Glasgow", ("glasgow", "Glasgow", "GB", "SCT", "Europe/London", "GBP", "44", 55.865, -4.258, 20_000)),
        ("Zürich", ("zurich", "Zürich", "CH", "ZH", "Europe/Zurich", "CHF", "41", 47.367, 8.55, 15_000)),
        ("Shanghai", ("shanghai", "Shanghai", "CN", "", "Asia/Shanghai", "CNY", "86", 31.222, 121.458, 35_000)),
    ],
)
def test_a_name_is_enough_for_a_city(name: str, expected: tuple[Any, ...]) -> None:
    assert values(name) == expected


def test_a_plan_has_the_languages_names_and_holidays_of_the_city() -> None:
    found = plan("köln")

    assert (found.languages, found.city_names, found.source) == (("de",), ("Köln", "köln"), "geonames")
    assert found.city_location == Location(50.933, 6.95)
    assert found.market.region == ""
    assert "NW" in found.regions
    # Nine days of all of Germany in each of three years; North Rhine-Westphalia has two more.
    assert found.holidays == 27
    assert plan("köln", region="nw").holidays == 33


def test_every_value_can_be_stated() -> None:
    assert values(
        "Lyon", slug="lyons", radius_m=5_000, timezone="Europe/Berlin", currency="chf", calling_code="41", region="BL",
        at=Location(45.76, 4.84),
    ) == ("lyons", "Lyon", "FR", "BL", "Europe/Berlin", "CHF", "41", 45.76, 4.84, 5_000)  # fmt: skip


def test_cities_of_one_name_are_refused_and_named() -> None:
    assert refusal("Valencia") == (
        "There are 3 cities called Valencia: Valencia (VE, 10.162,-68.0, 1,619,470 inhabitants); Valencia (ES,"
        " 39.474,-0.38, 824,340 inhabitants); Valencia (US, 34.444,-118.61, 148,456 inhabitants). State the country or"
        " the location."
    )
    assert values("Valencia", country="es")[:3] == ("valencia", "Valencia", "ES")
    assert refusal("Springfield", country="US").endswith(" State the location.")
    assert values("Springfield", at=Location(42.1, -72.6))[2:5] == ("US", "MA", "America/New_York")


@pytest.mark.exhaustive
def test_a_city_that_does_not_exist_is_refused_with_similar_ones() -> None:
    assert refusal("Lyonn") == (
        "No city of 100,000 inhabitants or more is called Lyonn. Did you mean Lyon (FR, 45.749,4.848, 520,774"
        " inhabitants)? A smaller town needs its location, or a polygon."
    )
    assert refusal("Lyon", country="DE") == (
        "There is no city called Lyon in DE; there is Lyon (FR, 45.749,4.848, 520,774 inhabitants). A smaller town"
        " needs its location, or a polygon."
    )
    assert refusal("Zzgrmpfx") == (
        "No city of 100,000 inhabitants or more is called Zzgrmpfx. A smaller town needs its location, or a polygon."
    )
    assert refusal("France").startswith("No city of 100,000 inhabitants or more is called France.")
    assert refusal(" - ") == "The name has no letters."


@pytest.mark.exhaustive
def test_a_town_takes_the_country_and_the_zone_of_the_nearest_city() -> None:
    assert values("Méribel", area=Area(MERIBEL, 4_000)) == (
        "meribel", "Méribel", "FR", "", "Europe/Paris", "EUR", "33", 45.397, 6.565, 4_000,
    )  # fmt: skip
    assert values("Méribel", at=MERIBEL)[-1] == 10_000
    assert plan("Méribel", at=MERIBEL).source == "tablewire"
    assert refusal("Nowhere", at=Location(-54.28, -36.5)).startswith(
        "No known city is within 150 km of there, the nearest is "
    )
    stated = {"country": "GS", "timezone": "Atlantic/South_Georgia", "calling_code": "500"}
    assert values("Grytviken", at=Location(-54.28, -36.5), **stated)[2:6] == (
        "GS",
        "",
        "Atlantic/South_Georgia",
        "GBP",
    )


def test_a_town_across_the_border_from_the_nearest_city_needs_its_zone() -> None:
    assert refusal("Kehl", at=Location(48.57, 7.81), country="DE") == (
        "The time zone is not known: state it, for example Europe/Copenhagen."
    )


def test_a_polygon_far_from_the_city_of_that_name_is_refused() -> None:
    assert refusal("Lyon", area=Area(Location(48.85, 2.35), 9_000)) == (
        "Lyon (FR, 45.749,4.848, 520,774 inhabitants) is 393 km away from there. State the country if another Lyon is"
        " meant."
    )


def test_swapped_latitudes_and_longitudes_are_noticed() -> None:
    assert refusal("Lyon", area=Area(Location(4.85, 45.75), 9_000)) == (
        "Lyon (FR, 45.749,4.848, 520,774 inhabitants) is 6,018 km away from there. Are latitude and longitude swapped?"
    )


def test_the_city_is_where_it_is_and_not_in_the_middle_of_the_polygon() -> None:
    found = plan("Lyon", area=Area(Location(45.7, 4.9), 12_000))

    assert (found.market.latitude, found.market.longitude) == (45.7, 4.9)
    assert found.city_location == Location(45.749, 4.848)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"country": "XX"}, "`XX` is no country: a code of ISO 3166-1 is expected, such as DK."),
        ({"country": "France"}, "`France` is no country: a code of ISO 3166-1 is expected, such as DK."),
        ({"timezone": "Europe/Lyon"}, "There is no time zone Europe/Lyon."),
        ({"currency": "€"}, "The currency is a code of ISO 4217: DKK."),
        ({"calling_code": "+33"}, "The calling code is the digits after the plus: 45."),
        ({"radius_m": 600_000}, "The radius is 1 to 500,000 metres."),
        ({"slug": "Lyon 3"}, "Enter a valid “slug” consisting of letters, numbers, underscores or hyphens."),
        ({"region": "XX"}, "No region XX of FR has holidays of its own. The regions are 57, 6AE, 971, "),
    ],
)  # fmt: skip
def test_a_value_that_is_none_is_refused(options: dict[str, Any], message: str) -> None:
    assert refusal("Lyon", **options).startswith(message)


@pytest.mark.exhaustive
def test_every_city_of_the_world_has_a_time_zone_and_a_country_with_holidays() -> None:
    cities = {place for places in world._cities().values() for place in places if place.kind == "city"}  # noqa: SLF001

    assert len(cities) > 6_000
    assert {city.timezone for city in cities} <= zone_names()
    assert {(city.country, city.region) for city in cities if city.region} <= {
        (country, region) for country, regions in list_supported_countries().items() for region in regions
    }
    without = {city.country for city in cities if not holidays.read_calendar(city.country, city.region, 2026)}
    # Ukraine has suspended its holidays.
    assert without == {"UA"}


@pytest.mark.exhaustive
def test_the_largest_city_of_every_country_can_be_a_market() -> None:
    seen: dict[str, MarketPlan] = {}
    for places in list(world._cities().values()):  # noqa: SLF001
        for city in places:
            if city.kind == "city" and city.country not in seen:
                seen[city.country] = plan(city.name, at=city.location, country=city.country)

    assert len(seen) > 165

"""A market is stored with its city, its holidays and the landmarks in it, once and whole."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from catalogue.markets import Area, MarketExists, MarketOverlaps, add_market, plan_market
from catalogue.markets.commands import AddedMarket
from catalogue.models import Cuisine, Holiday, Landmark, LandmarkName, Market
from catalogue.reference_data import landmark_id
from catalogue.search.geocoding.distance import Location
from tests.catalogue import builders

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
# 28 km from the centre of Copenhagen.
MALMO = "Malmö"


def add(name: str = "Lyon", *, allows_overlap: bool = False, **options: Any) -> AddedMarket:
    return add_market(plan_market(name, now=NOW, **options), now=NOW, allows_overlap=allows_overlap)


def count_rows() -> tuple[int, ...]:
    return tuple(model._default_manager.count() for model in (Market, Landmark, LandmarkName, Holiday))


@pytest.mark.django_db
def test_a_market_is_added_to_an_empty_catalogue_with_its_city_and_holidays() -> None:
    added = add("lugdunum")

    market = Market.objects.get()
    assert (added.market, added.is_new, added.landmarks) == (market, True, 0)
    assert (market.slug, market.name, market.radius_m, market.currency) == ("lyon", "Lyon", 20_000, "EUR")
    # France has eleven holidays a year.
    assert added.holidays == market.holidays.count() == 33
    assert market.holidays.get(date=date(2027, 7, 14)).name == "National Day"
    city = Landmark.objects.get()
    assert (city.name, city.kind, city.market, city.prominence, city.source_id) == (
        "Lyon",
        "city",
        market,
        100,
        "geonames",
    )
    assert (city.latitude, city.longitude) == (45.749, 4.848)
    assert set(city.names.values_list("name", flat=True)) == {"Lyon", "lugdunum"}
    assert Cuisine.objects.get(slug="seafood").labels["fr"] == "Fruits de mer"


@pytest.mark.django_db
def test_adding_a_market_again_changes_nothing() -> None:
    add()
    Market.objects.update(radius_m=7_000, name="Lyon and around")
    Holiday.objects.filter(date=date(2027, 7, 14)).update(is_struck=True)
    before = count_rows()

    again = add(radius_m=9_000)

    assert (again.is_new, again.market.radius_m, again.market.name) == (False, 7_000, "Lyon and around")
    assert count_rows() == before
    assert Holiday.objects.get(date=date(2027, 7, 14)).is_struck


@pytest.mark.django_db
def test_another_place_with_the_slug_of_a_market_is_refused() -> None:
    add("Valencia", country="ES")

    with pytest.raises(MarketExists) as refused:
        add("Valencia", country="VE")

    assert refused.value.message == (
        "There is a market `valencia` already, Valencia in ES at 39.474,-0.38: give this one another slug, or edit"
        " that one in the admin."
    )
    assert add("Valencia", country="VE", slug="valencia-ve").is_new


@pytest.mark.django_db
def test_a_market_that_overlaps_another_is_refused_with_the_radius_that_does_not() -> None:
    builders.market("copenhagen")

    with pytest.raises(MarketOverlaps) as refused:
        add(MALMO)

    assert refused.value.message == (
        "Malmö overlaps the market `copenhagen`: the centres are 28.3 km apart. A radius of up to 3.2 km fits. If"
        " you allow the overlap, each place belongs to the nearest centre."
    )
    assert list(Market.objects.values_list("slug", flat=True)) == ["copenhagen"]
    assert add(MALMO, radius_m=3_200).is_new


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_market_inside_another_is_refused_unless_the_overlap_is_allowed() -> None:
    builders.market("copenhagen")
    frederiksberg = Location(55.6786, 12.5339)

    with pytest.raises(MarketOverlaps) as refused:
        add("Frederiksberg", at=frederiksberg, radius_m=1_000)
    added = add("Frederiksberg", at=frederiksberg, radius_m=1_000, allows_overlap=True)

    assert refused.value.message == (
        "Frederiksberg overlaps the market `copenhagen`: its centre is 2.2 km from that one, whose radius is 25 km. If"
        " you allow the overlap, each place belongs to the nearest centre."
    )
    assert added.is_new


@pytest.mark.django_db
def test_landmarks_without_a_market_in_the_circle_become_those_of_the_market() -> None:
    inside = builders.landmark("Parc de la Tête d'Or", at=(45.777, 4.855))
    # 19.9 and 20.1 km east of the centre.
    at_the_border = builders.landmark("Montluel", at=(45.749, 5.1045))
    outside = builders.landmark("Outside", at=(45.749, 5.1071))
    other = builders.landmark("Other", at=(45.76, 4.85), market=builders.market("copenhagen"))

    assert add().landmarks == 2

    markets = dict(Landmark.objects.values_list("pk", "market"))
    assert [markets[each.pk] for each in (inside, at_the_border, outside, other)] == [
        "lyon",
        "lyon",
        None,
        "copenhagen",
    ]


@pytest.mark.django_db
def test_an_imported_city_becomes_the_city_of_the_market() -> None:
    imported = builders.landmark("Lyon", "Lione", at=(45.76, 4.84), kind="city", wikidata="Q456")

    add()

    city = Landmark.objects.get()
    assert (city.pk, city.market_id, city.wikidata) == (imported.pk, "lyon", "Q456")
    assert set(city.names.values_list("name", flat=True)) == {"Lyon", "Lione"}


@pytest.mark.django_db
def test_a_call_that_fails_leaves_nothing_behind() -> None:
    # The id that the city would have.
    builders.landmark("Taken", id=landmark_id("lyon", "Lyon"), at=(45.76, 4.84))
    before = count_rows()

    with pytest.raises(IntegrityError), transaction.atomic():
        add()

    assert count_rows() == before
    assert Landmark.objects.get().market is None
    assert not Cuisine.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_that_add_a_city_at_once_one_adds_it() -> None:
    start = Barrier(2)

    def add_at_once(name: str) -> bool:
        try:
            plan = plan_market(name, now=NOW)
            start.wait()
            return add_market(plan, now=NOW).is_new
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        results = list(threads.map(add_at_once, ["Lyon", "lugdunum"]))

    assert sorted(results) == [False, True]
    assert (Market.objects.count(), Landmark.objects.count(), Holiday.objects.count()) == (1, 1, 33)


@pytest.mark.django_db(transaction=True)
def test_of_two_overlapping_markets_that_are_added_at_once_one_is_refused() -> None:
    start = Barrier(2)

    def add_at_once(name: str) -> str:
        try:
            plan = plan_market(name, now=NOW, area=Area(Location(45.75, 4.85), 5_000), slug=name.lower())
            start.wait()
            add_market(plan, now=NOW)
        except MarketOverlaps:
            return "refused"
        finally:
            connection.close()
        return "added"

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(add_at_once, ["Lyon", "Villeurbanne"])) == ["added", "refused"]
    assert Market.objects.count() == 1

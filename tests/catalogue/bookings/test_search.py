"""Restaurants that have a free table at one time are found by a search."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Venue
from catalogue.bookings.search import find_bookable
from catalogue.models import Listing, Restaurant
from reservations.models import Closure, Reservation
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.support import builders as base
from tests.support.query_counts import costing

pytestmark = pytest.mark.django_db

EVENING = "2026-11-22T19:00"


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def places() -> list[Restaurant]:
    """Two restaurants that can be booked, and one that cannot."""
    builders.restaurant(slug="unlisted")
    return [
        builders.listing(builders.restaurant(slug=slug, name=slug.title())).restaurant
        for slug in ("fiskebar", "geranium")
    ]


def find(**params: Any) -> list[str]:
    asked: dict[str, Any] = {"bookable_at": EVENING, "party_size": 2}
    answer = Client().get("/v1/restaurants", asked | params)
    assert answer.status_code == 200, answer.json()
    return sorted(hit["slug"] for hit in answer.json()["data"])


def book(place: Restaurant) -> Reservation:
    body = {"date": "2026-11-22", "time": "19:00", "party_size": 2}
    body |= {"customer_name": "Ada", "customer_phone": "+4512345678"}
    answer = Client().post(
        f"/v1/restaurants/{place.slug}/bookings", body, "application/json", headers={"Idempotency-Key": place.slug}
    )
    assert answer.status_code == 201
    return Reservation.objects.get(code=answer.json()["reservation_code"])


def test_restaurants_with_a_free_table_then_are_found(places: list[Restaurant]) -> None:
    assert find() == ["fiskebar", "geranium"]
    book(places[0])
    assert find() == ["geranium"]
    assert find(bookable_at="2026-11-22T20:30") == ["fiskebar", "geranium"]
    assert find(party_size=5) == []


def test_other_conditions_of_the_search_apply_too(places: list[Restaurant]) -> None:
    assert find(q="geranium") == ["geranium"]
    assert find(market="copenhagen") == ["fiskebar", "geranium"]


def test_what_is_not_free_at_once_is_not_found(places: list[Restaurant]) -> None:
    fiskebar, geranium = (place.listing.venue for place in places)
    Closure.objects.create(venue=fiskebar, first_date="2026-11-22", last_date="2026-11-22")
    assert find() == ["geranium"]
    Venue.objects.filter(pk=geranium.pk).update(auto_confirm_max_party=1)
    assert find() == []
    Venue.objects.update(auto_confirm_max_party=8)
    geranium.service_periods.update(pacing_covers=1)
    assert find() == []
    Listing.objects.update(is_active=False)
    assert find(bookable_at="2026-11-23T19:00") == []


def test_a_time_that_no_slot_has_finds_nothing(places: list[Restaurant]) -> None:
    for moment in ("2026-11-22T19:07", "2026-11-22T12:00", "2026-11-20T19:00", "2029-11-22T19:00"):
        assert find(bookable_at=moment) == []


@pytest.mark.parametrize("moment", ["0001-01-01T00:00", "9999-12-31T19:00"])
def test_the_ends_of_the_calendar_find_nothing(places: list[Restaurant], moment: str) -> None:
    assert find(bookable_at=moment) == []


def test_days_ahead_are_counted_from_the_date_at_the_restaurant(places: list[Restaurant]) -> None:
    Venue.objects.update(max_days_ahead=1)
    # 22 November in Copenhagen.
    with time_machine.travel("2026-11-21T23:30:00Z", tick=False):
        assert find(bookable_at="2026-11-23T19:00") == ["fiskebar", "geranium"]
        assert find(bookable_at="2026-11-24T19:00") == []


@pytest.mark.parametrize(
    ("params", "param"),
    [
        ({"party_size": None}, "party_size"),
        ({"bookable_at": "tonight"}, "bookable_at"),
        ({"bookable_at": "2026-11-22T19:00Z"}, "bookable_at"),
        ({"bookable_at": "2026-02-30T19:00"}, "bookable_at"),
    ],
)
def test_what_is_wrong_is_named(params: dict[str, Any], param: str) -> None:
    asked: dict[str, Any] = {"bookable_at": EVENING, "party_size": 2, **params}
    answer = Client().get("/v1/restaurants", {name: value for name, value in asked.items() if value is not None})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


def test_many_venues_cost_as_many_queries_as_one(places: list[Restaurant]) -> None:
    for number in range(5):
        with costing(8):
            found = find_bookable(NOW.replace(tzinfo=None) + timedelta(days=1), party_size=2, market=None, now=NOW)
        assert len(found) == 2 + number
        builders.listing(builders.restaurant(slug=f"place-{number}"))


def test_a_held_table_is_not_free(places: list[Restaurant]) -> None:
    venue = places[0].listing.venue
    body = {"date": "2026-11-22", "time": "19:00", "party_size": 2}
    assert base.client(venue).post("/api/v1/holds", body, "application/json").status_code == 201
    assert find() == ["geranium"]

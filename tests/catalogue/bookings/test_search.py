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


def refusal(moment: str) -> dict[str, Any]:
    """The error of a search for two at this moment."""
    answer = Client().get("/v1/restaurants", {"bookable_at": moment, "party_size": "2"})
    assert answer.status_code == 400
    error: dict[str, Any] = answer.json()["error"]
    return error


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


def test_a_time_at_which_nobody_is_seated_finds_nothing(places: list[Restaurant]) -> None:
    assert find(bookable_at="2026-11-22T12:00") == []
    Closure.objects.create(venue=places[0].listing.venue, first_date="2026-11-22", last_date="2026-11-22")
    Closure.objects.create(venue=places[1].listing.venue, first_date="2026-11-22", last_date="2026-11-22")
    assert find(bookable_at="2026-11-22T19:07") == []


NO_TIME = "No restaurant seats guests at 19:07 that day. Near it: 19:00 and 19:15."
PASSED = "This time has passed at the restaurants that take bookings."
TOO_FAR = "The restaurants take bookings at most 365 days ahead."


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        ("2026-11-22T19:07", NO_TIME),
        ("2026-11-20T19:00", PASSED),
        ("0001-01-01T00:00", PASSED),
        ("2029-11-22T19:00", TOO_FAR),
        ("9999-12-31T19:00", TOO_FAR),
    ],
)
def test_a_time_that_no_restaurant_can_be_booked_at_is_refused(
    places: list[Restaurant], moment: str, message: str
) -> None:
    error = refusal(moment)
    assert (error["param"], error["message"]) == ("bookable_at", message)


def test_where_no_restaurant_takes_bookings_any_time_finds_nothing() -> None:
    assert find(bookable_at="2020-01-01T19:07") == []


def test_days_ahead_are_counted_from_the_date_at_the_restaurant(places: list[Restaurant]) -> None:
    Venue.objects.update(max_days_ahead=1)
    # 22 November in Copenhagen.
    with time_machine.travel("2026-11-21T23:30:00Z", tick=False):
        assert find(bookable_at="2026-11-23T19:00") == ["fiskebar", "geranium"]
        assert refusal("2026-11-24T19:00")["message"] == "The restaurants take bookings at most 1 days ahead."


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

"""Offers over HTTP."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from catalogue.models import FlowSlot, Listing, Restaurant
from tests.catalogue import builders
from tests.catalogue.builders import NOW

pytestmark = pytest.mark.django_db

# On the same meridian, so far north of Tivoli.
NORTH = {"latitude": 55.6737 + 0.009, "longitude": 12.5681}


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def place() -> Restaurant:
    """A listed restaurant at Tivoli."""
    return builders.listing(builders.restaurant(name="Fiskebar", neighborhood="Vesterbro")).restaurant


def get(path: str, **parameters: Any) -> Any:
    return Client().get(f"/v1/{path}", parameters)


def ids(response: Any) -> list[str]:
    assert response.status_code == 200
    return [offer["id"] for offer in response.json()["data"]]


def beside(place: Restaurant) -> list[Any]:
    """The offer that the record of a restaurant and its hit in a list are shown with, if there is one."""
    record = get(f"restaurants/{place.slug}").json()["flow_offer"]
    hits = get("restaurants", ll=f"{place.latitude},{place.longitude}").json()["data"]
    assert [hit["flow_offer"] for hit in hits if hit["slug"] == place.slug] in ([record], [])
    return [record] if record else []


def test_offer_of_a_restaurant_has_all_fields(place: Restaurant) -> None:
    slot = builders.slot(place, terms="Not on drinks", party_min=2, party_max=4)
    answer = get(f"restaurants/{place.slug}/flow")
    assert answer.json() == {
        "data": [
            {
                "id": slot.public_id,
                "restaurant": place.slug,
                "date": "2026-11-21",
                "time": "20:00",
                "timezone": "Europe/Copenhagen",
                "percent": 30,
                "applies_to": "food",
                "party_size": {"min": 2, "max": 4},
                "seats_left": 8,
                "book_before": "2026-11-21T18:30:00Z",
                "terms": "Not on drinks",
                "status": "available",
            }
        ],
        "pagination": {"limit": 50, "next_cursor": None, "has_more": False, "as_of": "2026-11-21T18:00:00Z"},
        "attribution": [],
    }
    assert get(f"flow/offers/{slot.public_id}").json() == answer.json()["data"][0]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, "available"),
        ({"bookable_from": NOW + timedelta(minutes=1)}, "scheduled"),
        ({"seats_left": 1, "party_min": 2}, "sold_out"),
        ({"seats_left": 0}, "sold_out"),
        ({"book_before": NOW}, "expired"),
        ({"starts_at": NOW, "book_before": NOW + timedelta(hours=1)}, "expired"),
        ({"withdrawn_at": NOW, "book_before": NOW}, "withdrawn"),
    ],
)
def test_an_offer_says_how_it_stands_and_only_an_available_one_is_shown_for_sale(
    place: Restaurant, fields: dict[str, Any], status: str
) -> None:
    slot = builders.slot(place, **fields)
    assert get(f"flow/offers/{slot.public_id}").json()["status"] == status
    on_sale = [slot.public_id] if status == "available" else []
    assert ids(get("flow/offers")) == on_sale
    assert [offer["id"] for offer in beside(place)] == on_sale


@pytest.mark.parametrize("status", ["temporarily_closed", "permanently_closed", "moved"])
def test_a_closed_restaurant_offers_nothing(place: Restaurant, status: str) -> None:
    slot = builders.slot(place)
    Restaurant.objects.update(status=status, updated_at=NOW)
    assert get(f"flow/offers/{slot.public_id}").json()["status"] == "withdrawn"
    assert (ids(get("flow/offers")), ids(get(f"restaurants/{place.slug}/flow"))) == ([], [])
    assert beside(place) == []


def test_an_inactive_listing_offers_nothing(place: Restaurant) -> None:
    slot = builders.slot(place)
    Listing.objects.update(is_active=False)
    assert get(f"flow/offers/{slot.public_id}").json()["status"] == "withdrawn"
    assert (ids(get("flow/offers")), ids(get(f"restaurants/{place.slug}/flow"))) == ([], [])
    assert beside(place) == []


def test_the_next_offer_is_the_soonest_and_of_two_at_one_moment_the_higher(place: Restaurant) -> None:
    builders.slot(place, starts_at=NOW + timedelta(hours=2), percent=50)
    builders.slot(place, percent=20)
    higher = builders.slot(place, percent=40, seats=6)
    builders.slot(place, percent=90, withdrawn_at=NOW)
    offer = {"percent": 40, "time": "20:00", "id": higher.public_id, "date": "2026-11-21", "seats_left": 6}
    assert beside(place) == [offer]
    assert beside(builders.restaurant()) == []


def test_a_restaurants_offers_are_asked_for_by_day_and_party(place: Restaurant) -> None:
    over = builders.slot(place, starts_at=NOW - timedelta(hours=1))
    today = builders.slot(place, party_max=2)
    tomorrow = builders.slot(place, starts_at=NOW + timedelta(days=1), party_max=6)
    path = f"restaurants/{place.slug}/flow"
    assert ids(get(path)) == [today.public_id, tomorrow.public_id]
    assert ids(get(path, date="2026-11-21")) == [over.public_id, today.public_id]
    assert ids(get(path, party_size="4")) == [tomorrow.public_id]
    FlowSlot.objects.filter(pk=tomorrow.pk).update(seats_left=3)
    assert [offer["status"] for offer in get(path, party_size="4").json()["data"]] == ["sold_out"]


def test_pages_miss_and_repeat_nothing(place: Restaurant) -> None:
    wanted = [
        builders.slot(place, starts_at=NOW + timedelta(hours=1 + number // 3), percent=30 - number % 2).public_id
        for number in range(8)
    ]
    around = {"ll": "55.6737,12.5681"}
    for path, place_asked in ((f"restaurants/{place.slug}/flow", {}), ("flow/offers", {}), ("flow/offers", around)):
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = get(path, **place_asked, **cursor, limit="3")
            seen += ids(page)
            if not page.json()["pagination"]["has_more"]:
                break
            cursor = {"cursor": page.json()["pagination"]["next_cursor"]}
        assert sorted(seen) == sorted(wanted)
        assert len(seen) == len(wanted)


def test_offers_around_a_point_come_soonest_and_then_nearest_with_their_restaurants(place: Restaurant) -> None:
    far = builders.listing(builders.restaurant(**NORTH)).restaurant
    late = builders.slot(place, starts_at=NOW + timedelta(hours=2))
    near, north = builders.slot(place), builders.slot(far, percent=40)
    elsewhere = builders.listing(builders.restaurant(latitude=55.0)).restaurant
    builders.slot(elsewhere)
    answer = get("flow/offers", ll="55.6737,12.5681")
    assert ids(answer) == [near.public_id, north.public_id, late.public_id]
    first, second, _ = answer.json()["data"]
    assert first["restaurant"] == {
        "slug": place.slug,
        "name": "Fiskebar",
        "neighborhood": "Vesterbro",
        "market": "copenhagen",
        "city": "Copenhagen",
        "country": "DK",
        "rating": None,
        "review_count": 0,
        "price_level": None,
        "cuisine": "Seafood",
        "cuisines": ["seafood"],
        "phone": None,
        "location": {"lat": 55.6737, "lng": 12.5681},
        "distance_m": 0,
        "walking_distance_m": 0,
        "walking_minutes": 0,
    }
    assert (second["restaurant"]["distance_m"], second["restaurant"]["walking_minutes"]) == (1001, 17)
    assert ids(get("flow/offers", ll="55.6737,12.5681", radius="500")) == [near.public_id, late.public_id]


@pytest.mark.exhaustive
def test_near_says_what_it_was_taken_to_mean(place: Restaurant) -> None:
    builders.landmark("Tivoli Gardens", "Tivoli", market="copenhagen")
    builders.listed(place)
    slot = builders.slot(place)
    answer = get("flow/offers", near="tivoli")
    assert ids(answer) == [slot.public_id]
    assert answer.json()["query"]["resolved"]["name"] == "Tivoli Gardens"
    assert [line["source"] for line in answer.json()["attribution"]] == ["osm"]
    assert get("flow/offers", near="nowhere at all").json()["error"]["code"] == "place_not_resolved"


def test_offers_are_narrowed(place: Restaurant) -> None:
    soon = builders.slot(place, percent=20, party_max=2)
    late = builders.slot(place, starts_at=NOW + timedelta(days=1, hours=2), percent=50)
    assert ids(get("flow/offers", percent_min="30")) == [late.public_id]
    assert ids(get("flow/offers", party_size="4")) == [late.public_id]
    assert ids(get("flow/offers", date="2026-11-21")) == [soon.public_id]
    assert ids(get("flow/offers", time="20:30")) == [late.public_id]
    assert ids(get("flow/offers", market="copenhagen")) == [soon.public_id, late.public_id]


def test_a_day_is_over_or_too_far_ahead_when_it_is_so_on_the_restaurants_clock(place: Restaurant) -> None:
    """It is seven in the evening of the 21st there; elsewhere still noon, or already the 22nd."""
    path = f"restaurants/{place.slug}/flow"
    for day in ("2026-11-21", "2026-12-05"):
        assert get(path, date=day).status_code == 200
        assert get("flow/offers", date=day).status_code == 200
    for day, why in (("2026-11-20", "is over"), ("2026-12-06", "is later")):
        error = get(path, date=day).json()["error"]
        assert (error["code"], error["param"]) == ("invalid_request", "date")
        assert error["message"] == f"`date` must be within the next 14 days; {day} {why}."
    # Of many restaurants none may have the day.
    assert get("flow/offers", date="2026-12-06").status_code == 200
    for day, why in (("2026-11-20", "is over"), ("2026-12-07", "is later")):
        error = get("flow/offers", date=day).json()["error"]
        assert error["message"] == f"`date` must be within the next 14 days; {day} {why}."
    with time_machine.travel("2026-11-22T03:00:00+01:00", tick=False):
        # It is still the 21st in the west.
        assert get("flow/offers", date="2026-11-21").status_code == 200
        assert get(path, date="2026-11-21").json()["error"]["param"] == "date"


@pytest.mark.parametrize(
    ("parameters", "param"),
    [
        ({"ll": "1,2", "near": "tivoli"}, "ll"),
        ({"radius": "100"}, "radius"),
        ({"market": "copenhaguen"}, "market"),
        ({"date": "tomorrow"}, "date"),
        ({"party_size": "0"}, "party_size"),
        ({"percent_min": "91"}, "percent_min"),
        ({"cursor": "x"}, "cursor"),
        ({"percentmin": "30"}, "percentmin"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(place: Restaurant, parameters: dict[str, str], param: str) -> None:
    error = get("flow/offers", **parameters).json()["error"]
    assert (error["code"], error["param"]) == ("invalid_request", param)


def test_what_is_not_there_is_404() -> None:
    for path in ("flow/offers/fo_01jd5k3v8rf8hb2m0c9t6w4y7z", "flow/offers/fo_1", "restaurants/nowhere/flow"):
        assert (get(path).status_code, get(path).json()["error"]["code"]) == (404, "not_found")


def test_an_unchanged_page_is_304(place: Restaurant) -> None:
    builders.slot(place)
    first = get("flow/offers")
    again = Client().get("/v1/flow/offers", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    FlowSlot.objects.update(seats_left=7)
    assert Client().get("/v1/flow/offers", headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_offers_are_found_by_cuisine_and_diet(place: Restaurant) -> None:
    builders.attribute("diet_vegan")
    vegan = builders.restaurant(name="Green", cuisines=["italian"], attributes={"diet_vegan": True})
    builders.listing(vegan)
    mine, theirs = builders.slot(place), builders.slot(vegan)
    assert set(ids(get("flow/offers"))) == {mine.public_id, theirs.public_id}
    assert ids(get("flow/offers", cuisine="italian")) == [theirs.public_id]
    assert ids(get("flow/offers", diet="vegan")) == [theirs.public_id]
    assert ids(get("flow/offers", diet="vegan", cuisine="seafood")) == []
    unknown = get("flow/offers", cuisine="italien")
    assert (unknown.status_code, unknown.json()["error"]["param"]) == (400, "cuisine")


def test_offers_by_discount_are_the_highest_first_on_all_pages(place: Restaurant) -> None:
    slots = [
        builders.slot(place, starts_at=NOW + timedelta(hours=hours), percent=percent)
        for hours, percent in ((1, 20), (2, 40), (3, 30), (4, 40))
    ]
    expected = [slots[number].public_id for number in (1, 3, 2, 0)]
    assert ids(get("flow/offers", sort="percent")) == expected
    found: list[str] = []
    page = get("flow/offers", sort="percent", limit=1)
    while True:
        found += ids(page)
        cursor = page.json()["pagination"]["next_cursor"]
        if cursor is None:
            break
        page = get("flow/offers", sort="percent", limit=1, cursor=cursor)
    assert found == expected
    assert ids(get("flow/offers", sort="time")) == [slot.public_id for slot in slots]
    assert get("flow/offers", sort="best").status_code == 400

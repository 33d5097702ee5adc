"""Seed 001, the restaurant data API: one test for each of its statements that is served by now."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from catalogue import reference_data
from catalogue.hours import open_intervals
from catalogue.models import FlowSlot
from tests.catalogue import builders

pytestmark = pytest.mark.django_db

SEARCH = "/v1/restaurants"
RECORD_FIELDS = ("name", "neighborhood", "rating", "price_level", "cuisine", "flow_offer", "phone")


@pytest.fixture
def _fiskebar() -> Any:
    """A restaurant of which everything is known, 492 m from Tivoli, on a Saturday evening."""
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    place = builders.restaurant(
        slug="kodbyens-fiskebar",
        name="Kødbyens Fiskebar",
        neighborhood="Vesterbro",
        rating="4.5",
        review_count=812,
        price_level=3,
        phone="+4532155656",
        phone_verified_at=builders.NOW,
        hours=builders.week("17:30", "23:00"),
        latitude=builders.TIVOLI[0] + 0.0044247,
    )
    builders.listing(place)
    builders.slot(place, starts_at=builders.NOW + timedelta(minutes=90), percent=30)
    builders.restaurant(slug="lunch-only", name="Lunch Only", hours=builders.week("11:00", "15:00"))
    with time_machine.travel(builders.NOW, tick=False):
        open_intervals.refresh_open_intervals(now=builders.NOW)
        yield


# What the service does
def test_access_is_by_plain_rest_and_json(client: Client) -> None:
    response = client.get(SEARCH)
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")


def test_the_free_tier_needs_no_account_and_no_key(client: Client) -> None:
    assert client.get(SEARCH).status_code == 200


def test_what_is_no_credential_of_ours_does_not_shut_the_free_tier(client: Client) -> None:
    response = client.get(SEARCH, headers={"authorization": "Bearer of-somebody-else", "x-payment": "junk"})
    assert response.status_code == 200


@pytest.mark.exhaustive
def test_the_catalogue_covers_twelve_markets(client: Client) -> None:
    reference_data.load_reference_data()
    assert len(client.get("/v1/markets").json()["data"]) == 12


# Resources and their fields
@pytest.mark.usefixtures("_fiskebar")
def test_a_record_has_the_fields_of_the_illustration_in_their_types(client: Client) -> None:
    record = client.get(f"{SEARCH}/kodbyens-fiskebar").json()
    offer = FlowSlot.objects.get().public_id
    assert {name: record[name] for name in RECORD_FIELDS} == {
        "name": "Kødbyens Fiskebar",
        "neighborhood": "Vesterbro",
        "rating": 4.5,
        "price_level": 3,
        "cuisine": "Seafood",
        "flow_offer": {"percent": 30, "time": "20:30", "date": "2026-11-21", "id": offer, "seats_left": 8},
        "phone": "+4532155656",
    }
    assert isinstance(record["rating"], float)
    assert isinstance(record["price_level"], int)


@pytest.mark.usefixtures("_fiskebar")
def test_the_phone_is_e164_and_marked_verified(client: Client) -> None:
    record = client.get(f"{SEARCH}/kodbyens-fiskebar").json()
    assert re.fullmatch(r"\+[1-9][0-9]{6,14}", record["phone"])
    assert record["phone_verified"] is True


@pytest.mark.usefixtures("_fiskebar")
def test_places_hold_name_address_coordinates_hours_amenities_price_level_and_phone(client: Client) -> None:
    record = client.get(f"{SEARCH}/kodbyens-fiskebar").json()
    assert {"name", "address", "location", "hours", "attributes", "price_level", "phone"} <= record.keys()


@pytest.mark.usefixtures("_fiskebar")
def test_a_search_result_is_a_list_of_records_with_the_same_fields(client: Client) -> None:
    hits = client.get(SEARCH).json()["data"]
    assert [hit["slug"] for hit in hits] == ["kodbyens-fiskebar", "lunch-only"]
    for hit in hits:
        record = client.get(f"{SEARCH}/{hit['slug']}").json()
        assert {name: hit[name] for name in RECORD_FIELDS} == {name: record[name] for name in RECORD_FIELDS}


@pytest.mark.usefixtures("_fiskebar")
def test_a_search_result_additionally_carries_the_number_of_reviews_and_the_walking_distance(client: Client) -> None:
    hits = client.get(SEARCH, {"near": "Tivoli"}).json()["data"]
    hit = next(hit for hit in hits if hit["slug"] == "kodbyens-fiskebar")
    assert (hit["review_count"], hit["walking_distance_m"], hit["walking_minutes"]) == (812, 640, 8)


# The field selector
@pytest.mark.usefixtures("_fiskebar")
def test_core_is_free_and_what_is_answered_without_a_selector(client: Client) -> None:
    selected = client.get(f"{SEARCH}/kodbyens-fiskebar?fields=core")
    assert selected.status_code == 200
    assert selected.json() == client.get(f"{SEARCH}/kodbyens-fiskebar").json()


@pytest.mark.usefixtures("_fiskebar")
def test_the_selector_takes_a_comma_separated_list_of_groups(client: Client) -> None:
    assert client.get(f"{SEARCH}/kodbyens-fiskebar?fields=core,core").status_code == 200
    refused = client.get(f"{SEARCH}/kodbyens-fiskebar?fields=core,wine")
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "fields")


# Endpoints
@pytest.mark.usefixtures("_fiskebar")
def test_near_takes_the_name_of_a_landmark_or_place(client: Client) -> None:
    answer = client.get(SEARCH, {"near": "Tivoli Gardens"}).json()
    assert answer["query"]["resolved"]["name"] == "Tivoli Gardens"
    assert [hit["slug"] for hit in answer["data"]] == ["lunch-only", "kodbyens-fiskebar"]


@pytest.mark.usefixtures("_fiskebar")
def test_open_now_restricts_to_places_open_now(client: Client) -> None:
    assert [hit["slug"] for hit in client.get(SEARCH, {"open": "now"}).json()["data"]] == ["kodbyens-fiskebar"]


@pytest.mark.usefixtures("_fiskebar")
def test_near_and_open_go_together(client: Client) -> None:
    answer = client.get(SEARCH, {"near": "tivoli", "open": "now"}).json()
    assert [(hit["slug"], hit["open_now"]) for hit in answer["data"]] == [("kodbyens-fiskebar", True)]


@pytest.mark.usefixtures("_fiskebar")
def test_a_slug_is_a_lowercase_hyphen_separated_text(client: Client) -> None:
    for hit in client.get(SEARCH).json()["data"]:
        assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", hit["slug"])
    assert client.get(f"{SEARCH}/Kodbyens-Fiskebar").status_code == 404
    assert client.get(f"{SEARCH}/kodbyens_fiskebar").status_code == 404


def test_a_slug_that_no_restaurant_has_is_not_found(client: Client) -> None:
    response = client.get(f"{SEARCH}/no-such-place")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


def test_a_request_whose_fields_are_all_free_needs_no_payment(client: Client) -> None:
    builders.restaurant(slug="a-place")
    response = client.get(f"{SEARCH}/a-place?fields=core")
    assert response.status_code == 200
    assert "x402" not in response


# Limits
def test_the_free_tier_has_ten_requests_a_minute_and_then_429(client: Client) -> None:
    with time_machine.travel(builders.NOW, tick=False):
        answers = [client.get(SEARCH) for _ in range(12)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 2
    assert [answer["X-RateLimit-Remaining"] for answer in answers] == [*map(str, range(9, -1, -1)), "0", "0"]
    assert {answer["X-RateLimit-Limit"] for answer in answers} == {"10"}
    assert {answer["X-Tier"] for answer in answers} == {"free"}
    refused = answers[-1]
    assert refused.json()["error"]["code"] == "rate_limit_exceeded"
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert int(refused["X-RateLimit-Reset"]) - builders.NOW.timestamp() == int(refused["Retry-After"])


def test_each_address_has_its_own_allowance_and_every_answer_counts(client: Client) -> None:
    for path in (SEARCH, f"{SEARCH}/nothing", f"{SEARCH}?limit=0", "/v1/markets", "/v1/no-such-path"):
        last = client.get(path, REMOTE_ADDR="192.0.2.1")
    assert last["X-RateLimit-Remaining"] == "5"
    assert client.get(SEARCH, REMOTE_ADDR="192.0.2.2")["X-RateLimit-Remaining"] == "9"


# Versioning
def test_the_version_is_a_prefix_of_the_path(client: Client) -> None:
    assert client.get("/v1/restaurants").status_code == 200
    assert client.get("/markets").status_code == 404

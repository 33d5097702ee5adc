"""Offers by a tool."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from catalogue.models import Restaurant
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.mcp.client import call, content_of, refusal_of, words_of
from tests.mcp.tables import EIGHT, compact_offers, listed, refused

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def place() -> Restaurant:
    """A listed restaurant with four tables."""
    return listed()


def test_the_offers_of_a_restaurant_are_those_of_rest(client: Client, place: Restaurant) -> None:
    for days in (0, 1, 2):
        builders.slot(place, starts_at=NOW + timedelta(days=days, hours=1))
    asked: dict[str, Any] = {"party_size": 2, "limit": 2}
    content = content_of(call(client, "list_offers", slug="fiskebar", **asked))
    there = client.get("/v1/restaurants/fiskebar/flow", asked).json()
    # A cursor is sealed anew each time.
    further = (content["pagination"].pop("next_cursor"), there["pagination"].pop("next_cursor"))
    assert content == compact_offers(there)
    assert len(content["data"]) == 2
    assert content["restaurants"] == [{"slug": "fiskebar", "timezone": "Europe/Copenhagen"}]
    rest = content_of(call(client, "list_offers", slug="fiskebar", **asked, cursor=further[0]))
    there = client.get("/v1/restaurants/fiskebar/flow", {**asked, "cursor": further[1]}).json()
    assert rest["data"] == compact_offers(there)["data"]
    assert len(rest["data"]) == 1


def test_the_offers_around_a_place_are_those_of_rest(client: Client, place: Restaurant) -> None:
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    builders.slot(place)
    asked: dict[str, Any] = {"near": "Tivoli", **EIGHT, "party_size": 2, "percent_min": 30}
    content = content_of(call(client, "list_offers", **asked))
    assert content == compact_offers(client.get("/v1/flow/offers", {**asked, "limit": 10}).json())
    assert [offer["restaurant"] for offer in content["data"]] == ["fiskebar"]


def test_a_page_of_offers_has_each_restaurant_once_and_moments_by_its_clock(client: Client, place: Restaurant) -> None:
    for days in (0, 1, 2):
        builders.slot(place, starts_at=NOW + timedelta(days=days, hours=1))
    content = content_of(call(client, "list_offers", market="copenhagen"))
    assert [offer["restaurant"] for offer in content["data"]] == ["fiskebar"] * 3
    assert [(one["slug"], one["name"], one["timezone"]) for one in content["restaurants"]] == [
        ("fiskebar", place.name, "Europe/Copenhagen")
    ]
    assert {offer["book_before"][-6:] for offer in content["data"]} == {"+01:00"}
    assert not {"timezone", "status"} & content["data"][0].keys()


@pytest.mark.parametrize("name", ["near", "ll", "radius", "market", "time", "percent_min"])
def test_what_does_not_go_with_a_restaurant_is_refused_by_its_name(
    client: Client, place: Restaurant, name: str
) -> None:
    values: dict[str, Any] = {
        "near": "Tivoli",
        "ll": "55.6,12.5",
        "radius": 100,
        "market": "copenhagen",
        "time": "19:00",
    }
    words = refused(
        call(client, "list_offers", slug="fiskebar", **{name: values.get(name, 30)}), "invalid_request", param=name
    )
    assert words.startswith(f"`{name}` does not go with `slug`: leave it out")


def test_all_that_does_not_go_with_a_restaurant_is_refused_before_its_values_are_judged(
    client: Client, place: Restaurant
) -> None:
    result = call(client, "list_offers", slug="fiskebar", market="narnia", near="Tivoli", date="tomorrow")
    refused(result, "invalid_request", param="date")
    assert [(one["param"], one["message"].partition(": ")[0]) for one in refusal_of(result)["details"]] == [
        ("date", "This must be a date written YYYY-MM-DD."),
        ("market", "`market` does not go with `slug`"),
        ("near", "`near` does not go with `slug`"),
    ]


@pytest.mark.parametrize("of", [{"slug": "fiskebar"}, {}])
@pytest.mark.parametrize(("day", "why"), [("2025-11-21", "is over"), ("2026-12-25", "is later")])
def test_a_day_without_plans_is_refused_and_not_silently_empty(
    client: Client, place: Restaurant, of: dict[str, Any], day: str, why: str
) -> None:
    words = refused(call(client, "list_offers", **of, date=day), "invalid_request", param="date")
    assert words == f"`date` must be within the next 14 days; {day} {why}."


def test_an_empty_page_says_how_many_offers_there_are_without_each_filter(client: Client, place: Restaurant) -> None:
    for days in (1, 2):
        builders.slot(place, starts_at=NOW + timedelta(days=days, hours=1))
    asked: dict[str, Any] = {"slug": "fiskebar", "party_size": 2, "date": str((NOW + timedelta(days=5)).date())}
    assert content_of(call(client, "list_offers", **asked))["without"] == [
        {"parameter": "date", "value": None, "total": {"value": 2, "relation": "eq"}}
    ]
    around = content_of(call(client, "list_offers", market="copenhagen", percent_min=90))
    assert (around["data"], [each["parameter"] for each in around["without"]]) == ([], ["percent_min"])
    assert "without" not in content_of(call(client, "list_offers", market="copenhagen"))
    assert "without" not in content_of(call(client, "list_offers", slug="fiskebar", date=asked["date"], party_size=90))


def test_offers_of_an_unknown_restaurant_say_where_slugs_are_found(client: Client) -> None:
    result = call(client, "list_offers", slug="nowhere")
    assert words_of(result) == "There is no restaurant of this slug. Find the slug with search_restaurants."
    assert refusal_of(result)["code"] == "not_found"

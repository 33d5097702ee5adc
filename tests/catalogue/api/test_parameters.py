"""Every parameter that the document of the data API names is understood, and no moment in the calendar breaks one."""

import itertools
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from config import urls
from framework.api.openapi import schema as openapi_schema
from payments.devchain.wallets import Wallet
from payments.pricing import default_products as products
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.payments.signing import client_of

DOCUMENT = openapi_schema.generate("Data", "As the code says it.", urls.data)
# A value that means something, of each parameter that is not a number, a word of a list or a date.
VALUES = {
    "near": "Tivoli",
    "ll": "55.6737,12.5681",
    "bbox": "12.5,55.65,12.6,55.7",
    "q": "fisk",
    "market": "copenhagen",
    "product": "reviews",
    "neighborhood": "Vesterbro",
    "open": "2026-11-21T19:30:00Z",
    "cuisine": "seafood",
    "cuisine_not": "seafood",
    "kind_not": "bar",
    "attributes": "outdoor_seating",
    "diet": "vegan",
    "price": "1,2",
    "rating_min": "4.5",
    "date": "2026-11-24",
    "time": "18:30",
    "from": "2026-11-21",
    "to": "2026-11-24",
    "fields": "core",
    "facets": "cuisine,market",
    "lang": "da",
    "slugs": "a-place",
    "stars": "4,5",
    "since": "2026-01-01",
    "at": NOW.isoformat(),
    "kind": None,
    "type": "updated",
    "name": "A place",
    "address": "Flæsketorvet 100",
    "phone": "+4532155656",
    "until": "1",
    "signature": "x",
    "ids": "rev_01jd5k3v8rf8hb2m0c9t6w4y7z",
    "cursor": None,
    "area": None,
    "bookable_at": "2026-11-24T19:00",
}
# What some parameters cannot be asked without.
BESIDE = {
    ("search_restaurants", "radius"): {"ll": "55.6737,12.5681"},
    ("search_offers", "radius"): {"ll": "55.6737,12.5681"},
    ("search_restaurants", "open_for"): {"open": "now", "ll": "55.6737,12.5681"},
    ("search_restaurants", "facets"): {"market": "copenhagen"},
    ("search_restaurants", "time"): {"date": "2026-11-24"},
    ("match_restaurant", "name"): {"market": "copenhagen"},
    ("search_restaurants", "bookable_at"): {"party_size": "2"},
}
ALWAYS = {
    "autocomplete": {"q": "fi"},
    "match_restaurant": {"name": "A place", "market": "copenhagen"},
    "get_restaurant_availability": {"date": "2026-11-24", "party_size": "2"},
}
# What only some callers have.
OF_A_WALLET = {"list_payments", "list_bookings"}
# Addresses and products of their own are asked in the tests of theirs.
OPERATIONS = {
    operation["operationId"]: (path.replace("{slug}", "a-place"), operation)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    if method == "get" and "{id}" not in path and not path.startswith(("/v1/exports", "/v1/auth"))
}
EXTREMES = [
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00%2B23:59",
    "2026-11-27T19:30:00%2B23:59",
    "2026-11-27T19:30:00-23:59",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-23:59",
]


@pytest.fixture(autouse=True)
def _a_place(db: None) -> Any:
    builders.cuisine()
    builders.attribute()
    builders.attribute("diet_vegan")
    builders.landmark("Tivoli")
    place = builders.restaurant(slug="a-place", name="A place")
    builders.listing(place)
    builders.review(place, "Fisk!")
    builders.photo(place)
    with time_machine.travel(NOW, tick=False):
        products.create_missing()
        yield


numbers = itertools.count()


def get(client: Client, address: str, query: dict[str, str] | None = None) -> Any:
    """Ask from an address of its own, and of a wallet in a minute of its own: the free rate is ten a minute."""
    return client.get(address, query, REMOTE_ADDR=f"10.{(number := next(numbers)) >> 8}.{number & 255}.1")


def asked(operation: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in operation.get("parameters", ()) if each.get("in") == "query"]


def values(parameter: dict[str, Any]) -> list[str]:
    """All words of a list; else one value."""
    if parameter["name"] == "since" and parameter["schema"].get("type") == "integer":
        # A position that the feed has reached.
        return ["0"]
    schema = parameter["schema"]
    if parameter["name"] == "until" and schema.get("format") == "date":
        return ["2026-11-25"]
    if "enum" in schema:
        return [str(word) for word in schema["enum"]]
    if schema.get("type") == "integer":
        return [str(schema.get("default", schema["minimum"])), str(schema["maximum"])]
    if parameter["name"] == "kind":
        return [schema["pattern"].removeprefix("^(").partition("|")[0]]
    return [value] if (value := VALUES[parameter["name"]]) else []


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_documented_parameter_is_understood(client: Client, wallets: Mapping[str, Wallet], name: str) -> None:
    path, operation = OPERATIONS[name]
    caller = client_of(wallets["free"]) if name in OF_A_WALLET else client
    minutes = itertools.count()
    for parameter in asked(operation):
        for value in values(parameter):
            query = {
                **ALWAYS.get(name, {}),
                **BESIDE.get((name, parameter["name"]), {}),
                **({"ll": "55.6737,12.5681"} if value == "distance" else {}),
                parameter["name"]: value,
            }
            with time_machine.travel(NOW + next(minutes) * timedelta(minutes=1), tick=False):
                response = get(caller, path, query)
            assert response.status_code in (200, 402, 403), (query, response.content)


def test_no_tool_result_is_declared_as_a_list() -> None:
    lists = [
        (path, method, code)
        for path, operations in DOCUMENT["paths"].items()
        for method, operation in operations.items()
        for code, answer in operation["responses"].items()
        if code.startswith("2")
        and answer.get("content", {}).get("application/json", {}).get("schema", {}).get("type") == "array"
    ]
    assert lists == []


@pytest.mark.exhaustive
def test_every_free_response_with_an_etag_has_cache_control(client: Client) -> None:
    silent = []
    for name, (path, operation) in OPERATIONS.items():
        answer = get(client, path, ALWAYS.get(name))
        result = {each["name"] for each in operation.get("parameters", ()) if each.get("in") == "header"}
        # What all that is sold has is said once.
        result |= {each["$ref"].rpartition("/")[2] for each in operation.get("parameters", ()) if "$ref" in each}
        is_documented = "If-None-Match" in result and "ETag" in operation["responses"]["200"]["headers"]
        if "ETag" in answer and not (is_documented and "304" in operation["responses"]):
            silent.append(name)
    assert silent == []


@pytest.mark.sample(2)
@pytest.mark.parametrize("value", EXTREMES)
def test_no_moment_in_the_calendar_is_more_than_a_refusal(client: Client, value: str) -> None:
    day = value[:10]
    addresses = [
        f"/v1/restaurants?ll=55.6737,12.5681&open={value}",
        f"/v1/restaurants?ll=55.6737,12.5681&date={day}&time=00:00",
        f"/v1/restaurants?market=copenhagen&date={day}",
        f"/v1/restaurants/a-place?at={value}",
        f"/v1/restaurants/a-place/reviews?since={value}",
        f"/v1/restaurants/a-place/reviews?since={day}",
        f"/v1/restaurants/a-place/hours?from={day}",
        f"/v1/restaurants/a-place/hours?from={day}&to={day}",
        f"/v1/restaurants/a-place/flow?date={day}",
        f"/v1/flow/offers?date={day}",
        f"/v1/flow/offers?date={day}&time=00:00",
    ]
    answers = {address: get(client, address).status_code for address in addresses}
    assert set(answers.values()) <= {200, 400, 402, 404}, answers
    assert 200 in answers.values()


def test_the_lines_of_sources_stand_wherever_their_data_is_shown(client: Client) -> None:
    source = builders.source("osm")
    place = builders.restaurant(slug="noma", name="Noma")
    builders.listed(place)
    builders.listing(place)
    builders.slot(place)
    builders.landmark("Nyhavn")
    line = {"source": "osm", "text": source.attribution, "license": source.license}
    for path in ("/v1/restaurants/noma/hours", "/v1/match?name=Noma&market=copenhagen", "/v1/restaurants/noma/flow"):
        assert get(client, path).json()["attribution"] == [line], path
    (shown,) = get(client, "/v1/landmarks?q=nyhavn").json()["attribution"]
    assert set(shown) == {"source", "text", "license"}
    assert get(client, "/v1/landmarks?q=zzzzzz").json()["attribution"] == []

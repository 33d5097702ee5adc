"""What a tool gives is what REST gives: the same content, for the same queries, by the same cursors."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from x402.http import x402HTTPClientSync
from x402.http.utils import decode_payment_required_header
from x402.schemas import PaymentRequirements
from x402.schemas.v1 import PaymentRequirementsV1

from catalogue import insights
from catalogue.hours import open_intervals
from catalogue.mcp.tools.restaurants import HIT
from catalogue.models import Restaurant
from catalogue.responses import NOTICE
from catalogue.reviews import aggregates
from payments.devchain.wallets import Wallet
from tests.catalogue import builders
from tests.catalogue.builders import NOW, TIVOLI
from tests.mcp.client import call, content_of, paid, price_of, words_of
from tests.mcp.tables import compact_offers
from tests.payments.buyer import client_of as x402_of
from tests.payments.signing import client_of as session_of

COPENHAGEN = ZoneInfo("Europe/Copenhagen")
# A token is four letters, more or less.
LETTERS_A_TOKEN = 4
SLUG = "kodbyens-fiskebar"
RECORD = f"/v1/restaurants/{SLUG}"


def world() -> Restaurant:
    """A restaurant of which everything is known, one of which nothing is, and places around them."""
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    builders.landmark("Rundetårn", at=(55.6814, 12.5758), market="copenhagen")
    place = builders.restaurant(
        slug=SLUG,
        name="Kødbyens Fiskebar",
        neighborhood="Vesterbro",
        rating="4.5",
        price_level=3,
        phone="+4532155656",
        hours=builders.week("17:30", "23:00"),
        latitude=TIVOLI[0] + 0.0044247,
    )
    builders.restaurant(slug="unknown", name="Unknown", cuisines=[])
    for number in range(7):
        reply: dict[str, Any] = {"owner_reply": "Thank you!", "owner_replied_at": NOW} if number % 2 else {}
        builders.review(place, f"The oysters were superb, visit {number}." if number else "", stars=5, **reply)
        builders.photo(place, caption="Oysters" if number else None)
    builders.slot(place)
    place.name = "Fiskebar"
    place.save()
    place.name = "Kødbyens Fiskebar"
    place.save()
    return place


@pytest.fixture
def _world(db: None) -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        world()
        yield


FREE: list[tuple[str, dict[str, Any], str]] = [
    ("search_restaurants", {"near": "Tivoli"}, "/v1/restaurants?near=Tivoli&limit=10"),
    ("search_restaurants", {"q": "Kødbyens", "limit": 1}, "/v1/restaurants?q=K%C3%B8dbyens&limit=1"),
    (
        "search_restaurants",
        {"ll": "55.6737,12.5681", "radius": 900, "open": "now", "cuisine": ["seafood"], "rating_min": 4.0},
        "/v1/restaurants?ll=55.6737,12.5681&radius=900&open=now&cuisine=seafood&rating_min=4&limit=10",
    ),
    (
        "search_restaurants",
        {"market": "copenhagen", "price_max": 3, "sort": "offer"},
        "/v1/restaurants?market=copenhagen&price_max=3&sort=offer&limit=10",
    ),
    (
        "search_restaurants",
        {"near": "Tivoli", "open": "2026-11-23T19:30"},
        "/v1/restaurants?near=Tivoli&open=2026-11-23T19:30&limit=10",
    ),
    ("search_restaurants", {"market": "copenhagen", "cuisine": ["seafood"], "rating_min": 5}, ""),
    ("get_restaurant", {"slug": SLUG}, RECORD),
    ("buy_parts", {"slug": "unknown", "fields": ["reviews", "ai_insight"]}, ""),
    ("find_landmark", {"query": "tivolli"}, "/v1/landmarks?q=tivolli&limit=10"),
    ("find_landmark", {"query": "Rund", "market": "copenhagen"}, "/v1/landmarks?q=Rund&market=copenhagen&limit=10"),
    ("find_landmark", {"query": "nothing like it"}, "/v1/landmarks?q=nothing+like+it&limit=10"),
    ("list_offers", {"near": "Tivoli", "party_size": 2}, "/v1/flow/offers?near=Tivoli&party_size=2&limit=10"),
    ("list_offers", {"slug": SLUG}, f"{RECORD}/flow?limit=10"),
    ("list_reviews", {"slug": "unknown"}, "/v1/restaurants/unknown/reviews?limit=10"),
    ("list_photos", {"slug": "unknown"}, "/v1/restaurants/unknown/photos?limit=10"),
    ("get_insight", {"slug": SLUG}, f"{RECORD}/insight"),
    ("get_history", {"slug": "unknown"}, "/v1/restaurants/unknown/history?limit=10"),
    ("get_menu", {"slug": SLUG}, f"{RECORD}?fields=menu"),
    ("get_menu", {"slug": "unknown"}, "/v1/restaurants/unknown?fields=menu"),
]
ADDRESSES = {
    5: "/v1/restaurants?market=copenhagen&cuisine=seafood&rating_min=5&limit=10",
    7: "/v1/restaurants/unknown?fields=reviews,ai_insight",
}
PAIRS = [(tool, body, path or ADDRESSES[number]) for number, (tool, body, path) in enumerate(FREE)]


@pytest.mark.sample(3)
@pytest.mark.usefixtures("_world")
@pytest.mark.parametrize(("tool", "arguments", "path"), PAIRS)
def test_a_free_tool_gives_what_rest_gives_for_the_same_queries(
    client: Client, tool: str, arguments: dict[str, Any], path: str
) -> None:
    with CaptureQueriesContext(connection) as at_rest:
        response = client.get(path)
    with CaptureQueriesContext(connection) as at_mcp:
        result = call(client, tool, **arguments)
    assert (response.status_code, "isError" in result) == (200, False)
    expected = response.json()
    if tool == "search_restaurants":
        stored = [name for name in HIT if name != "open_now" or arguments.get("open", "now") == "now"]
        expected["data"] = [{name: hit[name] for name in stored} for hit in expected["data"]]
        for hit in expected["data"]:
            hit["address"] = Restaurant.objects.get(slug=hit["slug"]).line1
        if expected["data"] and (open_at := expected["query"]["open_at"]):
            expected["query"]["open_at"] = datetime.fromisoformat(open_at).astimezone(COPENHAGEN).isoformat()
    if tool == "list_offers":
        expected = compact_offers(expected)
    if tool == "get_restaurant":
        expected = {name: part for name, part in expected.items() if name not in ("sources", "external_ids")}
        del expected["hours"]["periods"], expected["hours"]["osm"]
    # Results carry a notice, as pages of reviews and photos do at REST.
    assert content_of(result) == {name: part for name, part in expected.items() if name != "notice"}
    assert json.loads(words_of(result)) == result["structuredContent"]
    # The addresses of hits, if there are any, are one query more.
    has_hits = tool == "search_restaurants" and bool(expected["data"])
    # An empty page of offers is searched once more without each filter.
    is_relaxed = tool == "list_offers" and not expected["data"] and "party_size" in arguments
    assert len(at_mcp) == len(at_rest) * (1 + is_relaxed) + has_hits


@pytest.mark.usefixtures("_world")
def test_a_hit_that_is_open_tomorrow_is_not_called_closed(client: Client) -> None:
    open_intervals.refresh_open_intervals(now=NOW)
    result = call(client, "search_restaurants", near="Tivoli", open="2026-11-23T19:30")["structuredContent"]
    assert (result["query"]["open_at"], [hit["slug"] for hit in result["data"]]) == (
        "2026-11-23T19:30:00+01:00",
        [SLUG],
    )
    assert "open_now" not in result["data"][0]
    (hit,) = call(client, "search_restaurants", near="Tivoli", open="now")["structuredContent"]["data"]
    assert hit["open_now"] is True


@pytest.mark.usefixtures("_world")
def test_hits_of_one_name_differ_by_city_address_and_distance(client: Client) -> None:
    builders.landmark("Nyhavn", at=(55.68, 12.59), market="copenhagen")
    for number, line in enumerate(("Vesterbrogade 1", None)):
        builders.restaurant(
            slug=f"joe-{number}", name="Joe", line1=line, latitude=55.68 + number / 1000, longitude=12.59
        )
    result = call(client, "search_restaurants", near="Nyhavn", q="joe")["structuredContent"]
    assert [(hit["name"], hit["market"], hit["address"], hit["distance_m"]) for hit in result["data"]] == [
        ("Joe", "copenhagen", "Vesterbrogade 1", 0),
        ("Joe", "copenhagen", None, 111),
    ]
    assert "address" not in client.get("/v1/restaurants?near=Nyhavn&q=joe").json()["data"][0]


@pytest.mark.usefixtures("_world")
def test_a_hit_is_about_seventy_five_tokens(client: Client) -> None:
    hits = call(client, "search_restaurants", near="Tivoli")["structuredContent"]["data"]
    assert {hit["slug"] for hit in hits} == {SLUG, "unknown"}
    sizes = [len(json.dumps(hit, separators=(",", ":"), ensure_ascii=False)) // LETTERS_A_TOKEN for hit in hits]
    assert max(sizes) <= 90, sizes


@pytest.mark.usefixtures("_world")
def test_cursors_work_in_rest_and_mcp(client: Client) -> None:
    path = "/v1/restaurants?market=copenhagen&limit=1"
    at_rest = client.get(path).json()
    at_mcp = call(client, "search_restaurants", market="copenhagen", limit=1)["structuredContent"]
    assert at_mcp["pagination"] == at_rest["pagination"]
    cursor = at_rest["pagination"]["next_cursor"]
    second = call(client, "search_restaurants", market="copenhagen", limit=1, cursor=cursor)["structuredContent"]
    assert [hit["slug"] for hit in second["data"]] == [
        hit["slug"] for hit in client.get(f"{path}&cursor={cursor}").json()["data"]
    ]
    assert second["data"][0]["slug"] != at_rest["data"][0]["slug"]


SOLD: list[tuple[str, dict[str, Any], str]] = [
    ("buy_parts", {"fields": ["reviews", "photos", "context", "ai_insight", "history"]}, ""),
    ("list_reviews", {"stars": [5, 4], "has_reply": True, "limit": 2}, "/reviews?stars=5,4&has_reply=true&limit=2"),
    ("list_photos", {"kind": "food"}, "/photos?kind=food&limit=10"),
    ("get_surroundings", {"kinds": ["park"], "radius_m": 900}, "/context?kind=park&radius=900"),
    ("get_insight", {}, "/insight?citations=1"),
    ("get_history", {"limit": 2}, "/history?limit=2"),
]
ALL_FIELDS = "?fields=reviews,photos,context,ai_insight,history"
# What says when it was asked, and what each asking signs anew.
OF_THE_MOMENT = ("as_of", "next_cursor", "next_change", "next")


def steady(value: Any) -> Any:
    """An answer without what is of its moment."""
    if isinstance(value, dict):
        return {name: steady(inner) for name, inner in value.items() if name not in OF_THE_MOMENT}
    return [steady(inner) for inner in value] if isinstance(value, list) else value


def offer_of(accepted: PaymentRequirements | PaymentRequirementsV1) -> dict[str, Any]:
    """What is asked for, without the token of the one quote."""
    offer = accepted.model_dump()
    assert offer["extra"].pop("quote")
    return offer


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("ledger_matches_chain")
@pytest.mark.exhaustive
def test_what_is_sold_is_the_same_at_both_doors(wallets: Mapping[str, Wallet]) -> None:
    place = world()
    with transaction.atomic():
        aggregates.update_restaurants([place.pk])
    insights.refresh(now=timezone.now() + timedelta(days=1), max_reviews=100)
    wallet = wallets["premium"]
    client = session_of(wallet)
    for tool, body, path in SOLD:
        address = RECORD + (path or ALL_FIELDS)
        with CaptureQueriesContext(connection) as at_rest:
            asked = client.get(address)
        with CaptureQueriesContext(connection) as at_mcp:
            challenge = price_of(call(client, tool, slug=SLUG, **body))
        assert len(at_mcp) == len(at_rest), tool
        required = decode_payment_required_header(asked["PAYMENT-REQUIRED"])
        assert [offer_of(one) for one in challenge.accepts] == [offer_of(one) for one in required.accepts]
        headers, _ = x402HTTPClientSync(x402_of(wallet)).handle_402_response(
            dict(asked.headers), asked.content, address
        )
        bought = client.get(address, headers=headers)
        assert bought.status_code == 200, bought.content
        result = paid(client, wallet, tool, slug=SLUG, **body)
        assert steady(result["structuredContent"]) == steady({"notice": NOTICE, **bought.json()}), tool
        assert json.loads(words_of(result)) == result["structuredContent"]

"""What agents read by its URI: the very bodies of REST."""

import json
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalogue import places
from catalogue.agent_discovery import x402_manifest
from catalogue.exports.requests.payment_state import PRODUCTS
from catalogue.models import Attribute
from catalogue.responses import NOTICE
from payments.models import Payment
from payments.pricing import default_products
from tests.catalogue import builders
from tests.mcp.client import STATELESS, Era, call, price_of, rpc

ERAS: list[Era] = ["2025-11-25", "2026-07-28"]
BASE = "https://api.example.com"


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch: pytest.MonkeyPatch, settings: LazySettings) -> Any:
    """No test knows what another has read."""
    monkeypatch.setattr(x402_manifest, "MAX_AGE_S", 0.0)
    monkeypatch.setattr(x402_manifest, "EXAMPLES_MAX_AGE_S", 0.0)
    settings.PUBLIC_BASE_URL = BASE
    yield
    x402_manifest.cached_document.clear()
    x402_manifest.cached_prices.clear()
    x402_manifest.cached_examples.clear()


@pytest.fixture
def place(db: None) -> Any:
    """A restaurant that has all that is sold."""
    default_products.create_missing()
    restaurant = builders.restaurant(slug="noma", review_count=800, rating=Decimal("4.5"))
    for _ in range(6):
        builders.review(restaurant)
    builders.photo(restaurant)
    builders.landmark("Tivoli Gardens")
    builders.insight(restaurant)
    return restaurant


def read(client: Client, uri: str, **rest: Any) -> Any:
    """The answer to a read."""
    return rpc(client, "resources/read", {"uri": uri}, **rest)


def text_of(client: Client, uri: str, **rest: Any) -> str:
    """The text at a URI."""
    answer = read(client, uri, **rest)
    (content,) = answer["result"]["contents"]
    assert (content["uri"], content["mimeType"]) == (uri, "application/json")
    return str(content["text"])


@pytest.mark.parametrize("era", ERAS)
def test_six_resources_and_one_template_are_listed(client: Client, era: Era) -> None:
    listed = rpc(client, "resources/list", era=era)["result"]["resources"]
    assert [one["uri"] for one in listed] == [
        "restaurants://prices",
        "restaurants://markets",
        "restaurants://cuisines",
        "restaurants://attributes",
        "restaurants://account",
        "ui://tablewire/view",
    ]
    (template,) = rpc(client, "resources/templates/list", era=era)["result"]["resourceTemplates"]
    assert template["uriTemplate"] == "restaurants://restaurant/{slug}"
    assert all(set(one) == {"uri", "name", "title", "description", "mimeType"} for one in listed)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.usefixtures("place")
def test_markets_are_those_of_rest(client: Client, era: Era) -> None:
    builders.market("lisbon", name="Lisbon")
    theirs = client.get("/v1/markets").json()
    ours = json.loads(text_of(client, "restaurants://markets", era=era))
    assert [one["slug"] for one in ours["data"]] == ["copenhagen", "lisbon"]
    assert ours["pagination"].pop("as_of") >= theirs["pagination"].pop("as_of")
    assert ours == theirs


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", ["cuisines", "attributes"])
@pytest.mark.usefixtures("place")
def test_the_words_that_a_search_takes_are_those_of_rest(client: Client, name: str, era: Era) -> None:
    Attribute.objects.get_or_create(key="outdoor_seating", label="Outdoor seating", kind="amenity")
    theirs = client.get(f"/v1/{name}").json()
    ours = json.loads(text_of(client, f"restaurants://{name}", era=era))
    assert ours["pagination"].pop("as_of") >= theirs["pagination"].pop("as_of")
    assert ours == theirs
    assert ours["data"]


@pytest.mark.usefixtures("place")
def test_a_restaurant_resource_is_the_free_record_with_the_notice_that_its_texts_are_data(client: Client) -> None:
    theirs = client.get("/v1/restaurants/noma").json()
    text = text_of(client, "restaurants://restaurant/noma")
    assert text.startswith(f'{{"notice":"{NOTICE}","slug":"noma",')
    called = call(client, "get_restaurant", slug="noma")
    assert called["structuredContent"] == json.loads(text)
    left_out = {"sources", "external_ids"}
    del theirs["hours"]["periods"], theirs["hours"]["osm"]
    assert json.loads(text) == {
        "notice": NOTICE,
        **{name: value for name, value in theirs.items() if name not in left_out},
    }
    assert Payment.objects.count() == 0


@pytest.mark.usefixtures("place")
def test_a_client_may_keep_for_a_minute_what_is_the_same_for_everybody(client: Client) -> None:
    stored = {
        uri: (body["ttlMs"], body["cacheScope"])
        for uri in ("prices", "markets", "cuisines", "attributes", "account", "restaurant/noma")
        if (body := read(client, f"restaurants://{uri}", era=STATELESS)["result"])
    }
    assert stored == {
        "prices": (60_000, "public"),
        "markets": (60_000, "public"),
        "cuisines": (60_000, "public"),
        "attributes": (60_000, "public"),
        "account": (0, "private"),
        "restaurant/noma": (60_000, "public"),
    }


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.usefixtures("place")
def test_what_is_not_there_is_the_resource_that_is_not_found(client: Client, era: Era) -> None:
    for slug in ("nope", "NOMA", "n" * 121, "noma%2F", "-", "å"):
        uri = f"restaurants://restaurant/{slug}"
        error = read(client, uri, era=era)["error"]
        assert (error["code"], error["data"]["uri"]) == (-32602, uri), uri
    for uri in ("restaurants://nope", "restaurants://restaurant/", "restaurants://restaurant/noma/x", "https://x.dk"):
        error = read(client, uri, era=era)["error"]
        assert (error["code"], error["data"]) == (-32602, {"uri": uri}), uri


@pytest.mark.usefixtures("place")
def test_a_text_that_cannot_be_a_slug_asks_nothing_of_the_catalogue(client: Client) -> None:
    with CaptureQueriesContext(connection) as queries:
        read(client, "restaurants://restaurant/NOMA")
    assert not [query for query in queries if "catalogue_" in query["sql"]]


def test_a_former_slug_says_the_new_one_and_an_erased_one_that_it_is_gone(client: Client, place: Any) -> None:
    places.rename(place, "noma-refshaleoen", actor="tests", now=builders.NOW)
    error = read(client, "restaurants://restaurant/noma")["error"]
    assert error["message"] == "The restaurant of this slug is `noma-refshaleoen` now."
    assert (error["data"]["code"], error["data"]["slug"]) == ("renamed", "noma-refshaleoen")
    assert text_of(client, "restaurants://restaurant/noma-refshaleoen").startswith(
        f'{{"notice":"{NOTICE}","slug":"noma-refshaleoen"'
    )
    place.refresh_from_db()
    places.erase(place, actor="tests", now=builders.NOW)
    error = read(client, "restaurants://restaurant/noma")["error"]
    assert error["data"]["code"] == "gone"


@pytest.mark.usefixtures("place")
def test_the_account_is_that_of_the_caller_and_the_read_counts_as_a_request(client: Client) -> None:
    theirs = client.get("/v1/me").json()
    ours = json.loads(text_of(client, "restaurants://account"))
    assert (theirs["limits"].pop("used"), ours["limits"].pop("used")) == (1, 2)
    assert ours == theirs
    assert (ours["identified_by"], ours["tier"], ours["prices"]["rate"]) == ("anonymous", "free", "standard")


@pytest.mark.usefixtures("place")
def test_prices_are_those_of_the_x402_document_with_the_tools_that_sell(client: Client) -> None:
    document = client.get("/.well-known/x402").json()
    body = json.loads(text_of(client, "restaurants://prices", era=STATELESS))
    for product in document["products"]:
        # How REST is asked is nothing to a reader who has tools.
        assert product.pop("asked_for_by")
        assert product.pop("resources") or product["product"] in PRODUCTS.values()
    about_rest = {"version", "resources", "instructions", "openapi"}
    assert body == {name: value for name, value in document.items() if name not in about_rest}
    assert {"network", "pay_to", "token", "tiers", "products", "mcp"} <= body.keys()
    assert {one["product"]: [tool["name"] for tool in one["tools"]] for one in body["products"]} == {
        "ai_insight": ["buy_parts", "get_insight"],
        "context": ["buy_parts", "get_surroundings"],
        "history": ["buy_parts", "get_history"],
        "photos": ["buy_parts", "list_photos"],
        "reviews": ["buy_parts", "list_reviews", "get_review"],
        **{product: ["start_export"] for product in PRODUCTS.values()},
    }


@pytest.mark.usefixtures("place")
def test_each_tool_of_the_price_list_asks_for_the_price_that_stands_there(client: Client) -> None:
    body = json.loads(text_of(client, "restaurants://prices"))
    asked = 0
    for number, product in enumerate(body["products"]):
        for tool in product["tools"]:
            if tool["name"] in ("start_export", "get_review"):
                # An export has a price for wallets that have signed in (tests/mcp/test_exports_paid.py), and one
                # review is named by its id (tests/mcp/test_natural_arguments.py).
                continue
            headers = {"X-Forwarded-For": f"203.0.113.{number}"}
            result = call(client, tool["name"], headers=headers, slug="noma", **tool["arguments"])
            (accepts,) = price_of(result).accepts
            amount = Decimal(accepts.amount).scaleb(-body["decimals"])
            assert amount == Decimal(product["prices"]["standard"]), tool
            assert (accepts.network, accepts.asset, accepts.pay_to) == (
                body["network"],
                body["asset_address"],
                body["pay_to"],
            )
            asked += 1
    assert asked == 10


@pytest.mark.django_db
def test_a_read_is_refused_where_the_limit_is_reached(client: Client) -> None:
    for _ in range(10):
        assert "result" in read(client, "restaurants://markets")
    error = read(client, "restaurants://markets")["error"]
    assert error["data"]["code"] == "rate_limit_exceeded"
    assert error["message"].startswith("Rate limit: 10 calls a minute on the free tier; next call in ")

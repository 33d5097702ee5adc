"""/.well-known/x402, and the prices in the OpenAPI document: what is listed is sold, there and for so much."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.conf import LazySettings
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from x402.http.utils import decode_payment_required_header
from x402.schemas import PaymentRequired as RequiredV2
from x402.schemas.v1 import PaymentRequiredV1

from catalogue.agent_discovery import x402_manifest
from catalogue.mcp.server import SERVER
from config import urls
from framework.api.openapi import schema as openapi_schema
from framework.public_ids import encode, new_id
from payments.models import Price, Product
from payments.pricing import default_products
from payments.x402.purchase import MAX_URL_LENGTH
from tests.catalogue import builders
from tests.payments.buyer import is_quote_of
from tests.support.live_stack import Up

PATH = "/.well-known/x402"
BASE = "https://api.example.com"
DOCUMENT = openapi_schema.generate("Data", "As the code says it.", urls.data)


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch: pytest.MonkeyPatch, settings: LazySettings) -> Iterator[None]:
    """No test knows what another has read."""
    monkeypatch.setattr(x402_manifest, "MAX_AGE_S", 0.0)
    monkeypatch.setattr(x402_manifest, "EXAMPLES_MAX_AGE_S", 0.0)
    settings.PUBLIC_BASE_URL = BASE
    yield
    x402_manifest.cached_document.clear()
    x402_manifest.cached_prices.clear()
    x402_manifest.cached_examples.clear()
    x402_manifest.cached_openapi.clear()


@pytest.fixture
def place(db: None) -> Any:
    """A well-known restaurant that has all that is sold, beside a better known one that has nothing."""
    default_products.create_missing()
    builders.restaurant(slug="empty", review_count=9000, latitude=55.9, longitude=12.9)
    restaurant = builders.restaurant(slug="noma", review_count=800, rating=Decimal("4.5"))
    for _ in range(6):
        builders.review(restaurant)
    builders.photo(restaurant)
    builders.landmark("Tivoli Gardens")
    builders.insight(restaurant)
    return restaurant


def get_manifest(client: Client) -> Any:
    """The document."""
    response = client.get(PATH)
    assert response.status_code == 200
    return response.json()


@pytest.mark.usefixtures("place")
def test_every_listed_resource_answers_402_in_each_form(client: Client) -> None:
    listed = get_manifest(client)
    assert listed["version"] == 1
    assert {*listed["resources"]} == {
        f"{BASE}/v1/restaurants/noma{rest}"
        for rest in (
            *("?fields=reviews", "?fields=photos", "?fields=context", "?fields=ai_insight", "?fields=history"),
            *("/reviews", "/photos", "/context", "/insight", "/history"),
        )
    } | {f"{BASE}/v1/changes"}
    assert len(listed["resources"]) == 11
    for number, url in enumerate(listed["resources"]):
        response = client.get(url.removeprefix(BASE), REMOTE_ADDR=f"198.51.100.{number}")
        assert (response.status_code, url) == (402, url)
        v2 = decode_payment_required_header(response["PAYMENT-REQUIRED"])
        assert isinstance(v2, RequiredV2)
        assert v2.resource is not None
        assert v2.resource.url == url
        (product,) = [one for one in listed["products"] if url in one["resources"]]
        assert is_quote_of(product["prices"]["standard"], json.loads(response["x402"])["amount"])
        (accepts,) = PaymentRequiredV1.model_validate(response.json()).accepts
        assert accepts.pay_to == v2.accepts[0].pay_to == listed["pay_to"]
        assert (v2.accepts[0].network, v2.accepts[0].asset) == (listed["network"], listed["asset_address"])
        assert response.json()["tier_required"] == (None if product["from_tier"] == "free" else product["from_tier"])
        # Proxies refuse more.
        assert sum(len(name) + len(value) + 4 for name, value in response.headers.items()) < 4096


@pytest.mark.usefixtures("place")
def test_headers_of_a_402_stay_below_4_kb_at_the_maximum_url_length(client: Client, settings: LazySettings) -> None:
    path = "/v1/restaurants/noma?fields=core,context,reviews,photos,ai_insight,history"
    sizes = []
    for max_length in (len(path) + 30, MAX_URL_LENGTH):
        settings.PUBLIC_BASE_URL = "https://".ljust(max_length - len(path), "a")
        response = client.get(path)
        v2 = decode_payment_required_header(response["PAYMENT-REQUIRED"])
        assert isinstance(v2, RequiredV2)
        assert v2.resource is not None
        assert (response.status_code, len(v2.resource.url)) == (402, max_length)
        sizes.append({name: len(name) + len(value) + 4 for name, value in response.headers.items()})
    usual, largest = sizes
    assert usual["PAYMENT-REQUIRED"] < 2800
    assert sum(largest.values()) < 4096


@pytest.mark.django_db
def test_the_token_that_leads_to_a_tier_is_named_with_its_chain_and_the_amounts(
    client: Client, settings: LazySettings
) -> None:
    settings.TOKEN_ADDRESS = "0x8626f6940e2eb28930efb4cef49b2d1f2c9c1199"
    listed = get_manifest(client)
    token = {
        "address": "0x8626f6940E2eb28930eFb4CeF49B2d1F2C9C1199",
        "network": "eip155:84532",
        "network_name": "base-sepolia",
        "chain_id": 84532,
        "stake_function": "stake(uint256)",
    }
    assert listed["token"] == client.get("/v1/me").json()["token"] == token
    assert [(tier["tier"], tier["from_usd"], tier["from_stake"]) for tier in listed["tiers"]] == [
        ("free", "0", None),
        ("pro", "100", None),
        ("premium", "1000", 5000),
        ("enterprise", None, 50_000),
    ]
    settings.TOKEN_ADDRESS = ""
    assert get_manifest(client)["token"] is client.get("/v1/me").json()["token"] is None


@pytest.mark.django_db
def test_a_catalogue_without_content_lists_no_resource_and_every_price(client: Client) -> None:
    default_products.create_missing()
    listed = get_manifest(client)
    assert (listed["version"], listed["resources"]) == (1, [])
    assert {one["product"]: one["prices"] for one in listed["products"]}["reviews"] == {
        "standard": "0.004",
        "discounted": "0.003",
        "best": "0.002",
        "committed": "0.001",
    }
    reviews = next(one for one in listed["products"] if one["product"] == "reviews")
    assert reviews["from_tier"] == "pro"
    assert reviews["asked_for_by"][1] == {
        "method": "GET",
        "url_template": f"{BASE}/v1/restaurants/{{slug}}/reviews",
        "operation_id": "list_reviews",
    }
    assert [one["tier"] for one in listed["tiers"]] == ["free", "pro", "premium", "enterprise"]


@pytest.mark.django_db
def test_it_says_where_mcp_is_and_which_tools_sell_each_product(client: Client) -> None:
    default_products.create_missing()
    listed = get_manifest(client)
    assert listed["mcp"] == {
        "url": f"{BASE}/mcp",
        "transport": "streamable-http",
        "protocol_versions": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"],
        "server_card": f"{BASE}/mcp/server-card",
    }
    reviews = next(one for one in listed["products"] if one["product"] == "reviews")
    assert reviews["tools"] == [
        {"name": "buy_parts", "arguments": {"fields": ["reviews"]}},
        {"name": "list_reviews", "arguments": {}},
        {"name": "get_review", "arguments": {}},
    ]
    assert client.get(listed["mcp"]["server_card"].removeprefix(BASE)).status_code == 200


def test_a_tool_is_listed_beside_the_operation_that_it_shares_if_and_only_if_it_sells() -> None:
    ways = {(way.tool, way.operation) for each in x402_manifest.ENDPOINTS.values() for way in each if way.tool}
    selling = {(tool.name, tool.operation) for tool in SERVER.tools if tool.alternative_output}
    # A deposit is no product: the terms of each time state its amount.
    assert ways | {("book_table", "book_offer")} == selling
    for way in (way for each in x402_manifest.ENDPOINTS.values() for way in each if way.tool):
        tool = SERVER.tools_by_name[way.tool or ""]
        beside = {"slug": "noma"} if "slug" in tool.required else {}
        if "review_id" in tool.required:
            beside = {"review_id": encode("rev", new_id())}
        assert tool.validate_arguments({**beside, **way.arguments}).items() >= beside.items()


@pytest.mark.django_db
def test_changed_price_is_listed_and_unsold_products_are_not(client: Client) -> None:
    default_products.create_missing()
    before = client.get(PATH)["ETag"]
    Price.objects.create(
        product_id="reviews", rate="standard", amount_usdc=Decimal("0.005"), valid_from=timezone.now()
    )
    Product.objects.create(slug="nothing", name="Nothing", description="Without a price")
    listed = get_manifest(client)
    assert client.get(PATH)["ETag"] != before
    assert {one["product"]: one["prices"]["standard"] for one in listed["products"]} == {
        "reviews": "0.005",
        "photos": "0.003",
        "context": "0.002",
        "ai_insight": "0.01",
        "history": "0.01",
        "export_history": "1",
        "export_landmarks": "0.3",
        "export_photos": "0.6",
        "export_restaurants": "0.9",
        "export_reviews": "1",
    }


@pytest.mark.django_db
def test_caches_may_keep_it_and_pages_of_others_read_it(client: Client) -> None:
    default_products.create_missing()
    response = client.get(PATH, headers={"origin": "https://shop.example"})
    assert response["Cache-Control"] == "public, max-age=300"
    assert response["Access-Control-Allow-Origin"] == "*"
    assert response["Content-Type"] == "application/json"
    again = client.get(PATH, headers={"if-none-match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.head(PATH).status_code == 200


@pytest.mark.django_db
def test_it_counts_on_no_limit_and_is_made_once_a_minute(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(x402_manifest, "MAX_AGE_S", 60.0)
    default_products.create_missing()
    first = client.get(PATH)
    with CaptureQueriesContext(connection) as queries:
        for _ in range(50):
            assert client.get(PATH).content == first.content
    assert len(queries) == 0
    assert "X-RateLimit-Remaining" not in first
    assert int(client.get("/v1/markets")["X-RateLimit-Remaining"]) == 9


@pytest.mark.parametrize("path", [PATH, "/openapi.json", "/docs/openapi/data.json", "/docs/openapi/management.json"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_405_in_json(path: str, method: str) -> None:
    # As from outside: without the token that pages send.
    response = Client(enforce_csrf_checks=True).generic(method, path)
    assert (response.status_code, response["Content-Type"]) == (405, "application/json")
    error = response.json()["error"]
    assert (error["code"], error["request_id"][:4]) == ("method_not_allowed", "req_")
    assert response["Allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path",
    [
        *(f"{PATH}/", "/.well-known", "/.well-known/", "/.well-known/nope", "/openapi.json/", "/openapi.json/nope"),
        *("/docs/openapi", "/docs/openapi/nope.json", "/docs/openapi/data.json/"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_is_not_there_beside_the_documents_is_404_in_json(path: str, method: str) -> None:
    response = Client(enforce_csrf_checks=True).generic(method, path)
    assert (response.status_code, response["Content-Type"]) == (404, "application/json")
    error = response.json()["error"]
    assert (error["code"], error["request_id"][:4]) == ("not_found", "req_")


@pytest.mark.usefixtures("place")
def test_the_best_known_restaurants_are_found_by_an_index() -> None:
    with CaptureQueriesContext(connection) as queries:
        assert x402_manifest.find_examples(now=timezone.now())["reviews"] == "noma"
    (asked,) = [query["sql"] for query in queries if 'ORDER BY "catalogue_searchrow"' in query["sql"]]
    with connection.cursor() as cursor:
        # Of a handful of rows all are read and sorted, whatever there is to find them by.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        cursor.execute(f"EXPLAIN {asked}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "Index Scan using search_by_reviews" in plan
    assert "Sort" not in plan


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_without_the_database_the_last_documents_are_served(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    default_products.create_missing()
    content = openapi_schema.render_document(DOCUMENT).encode()
    first, priced = client.get(PATH).content, x402_manifest.with_prices(content)
    away = OperationalError("away")

    def fails(**_: Any) -> Any:
        raise away

    monkeypatch.setattr("catalogue.agent_discovery.x402_manifest.current_prices", fails)
    assert client.get(PATH).content == first
    assert x402_manifest.with_prices(content) == priced
    x402_manifest.cached_document.clear()
    x402_manifest.cached_prices.clear()
    response = client.get(PATH)
    assert (response.status_code, response.json()["error"]["code"]) == (503, "service_unavailable")
    assert json.loads(x402_manifest.with_prices(content)) == DOCUMENT
    assert client.get("/docs/openapi/data.json").status_code == 200


@pytest.mark.stack
def test_with_the_demo_data_every_listed_resource_is_sold(up: Up) -> None:
    base = up.record["base_url"]
    listed = httpx.get(base + PATH, timeout=30).json()
    assert len(listed["resources"]) == sum(len(one["resources"]) for one in listed["products"]) >= 6
    for number, url in enumerate(listed["resources"]):
        response = httpx.get(url, headers={"X-Forwarded-For": f"203.0.113.{number}"}, timeout=30)
        assert (response.status_code, url) == (402, url)
        assert isinstance(decode_payment_required_header(response.headers["PAYMENT-REQUIRED"]), RequiredV2)
        assert sum(len(name) + len(value) + 4 for name, value in response.headers.multi_items()) < 4096


# The OpenAPI document
def operations() -> dict[str, Any]:
    """The operations of the document by their id."""
    return {
        operation["operationId"]: operation
        for each in DOCUMENT["paths"].values()
        for operation in each.values()
        if isinstance(operation, dict) and "operationId" in operation
    }


def test_an_operation_names_its_products_if_and_only_if_it_answers_402() -> None:
    values = {name: one.get("x-products") for name, one in operations().items()}
    selling = {name for name, one in operations().items() if "402" in one["responses"]}
    # A deposit is no product: the terms of each time state its amount.
    assert {name for name, products in values.items() if products} | {"book_table"} == selling
    ways = {(product, way.operation) for product, ways in x402_manifest.ENDPOINTS.items() for way in ways}
    assert {(product, name) for name, products in values.items() for product in products or ()} == ways


def test_what_is_sold_documents_its_headers_and_refusals_once() -> None:
    for operation in operations().values():
        if "x-products" not in operation:
            continue
        refs = {one["$ref"] for one in operation["parameters"] if "$ref" in one}
        assert refs == {
            f"#/components/parameters/{name}"
            for name in ("X-Payment", "PAYMENT-SIGNATURE", "X-Receipt", "SIGN-IN-WITH-X")
        }
        asked = operation["responses"]["402"]
        assert asked["headers"]["x402"] == {"$ref": "#/components/headers/x402"}
        assert asked["headers"]["PAYMENT-REQUIRED"] == {"$ref": "#/components/headers/PAYMENT-REQUIRED"}
        schema = asked["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/PaymentRequiredRecord"}
        assert "tier_required" in operation["responses"]["403"]["description"]
        assert "payment_identifier_reused" in operation["responses"]["409"]["description"]
    assert {"x402", "PAYMENT-REQUIRED", "PAYMENT-RESPONSE"} <= DOCUMENT["components"]["headers"].keys()


@pytest.mark.django_db
def test_an_order_of_an_export_costs_what_one_dataset_costs(client: Client) -> None:
    default_products.create_missing()
    document = json.loads(x402_manifest.with_prices(openapi_schema.render_document(DOCUMENT).encode()))
    order = document["paths"]["/v1/exports"]["post"]
    assert order["x-payment-info"]["price"] == {"mode": "dynamic", "currency": "USD", "min": "0.1", "max": "1"}
    assert order["responses"]["202"]["headers"]["X-Receipt"] == {"$ref": "#/components/headers/X-Receipt"}
    (reviews,) = (one for one in get_manifest(client)["products"] if one["product"] == "export_reviews")
    assert (reviews["from_tier"], reviews["resources"]) == ("enterprise", [])
    assert reviews["asked_for_by"] == [
        {
            "method": "POST",
            "body": {"dataset": "reviews"},
            "url_template": f"{BASE}/v1/exports",
            "operation_id": "create_export",
        }
    ]
    assert reviews["tools"] == [{"name": "start_export", "arguments": {"dataset": "reviews"}}]


@pytest.mark.django_db
def test_the_served_document_carries_the_prices_of_the_moment() -> None:
    default_products.create_missing()
    Price.objects.create(product_id="photos", rate="standard", amount_usdc=Decimal("0.009"), valid_from=timezone.now())
    document = json.loads(x402_manifest.with_prices(openapi_schema.render_document(DOCUMENT).encode()))
    photos = document["paths"]["/v1/restaurants/{slug}/photos"]["get"]
    assert photos["x-payment-info"] == {
        "price": {"mode": "dynamic", "currency": "USD", "min": "0.001", "max": "0.009"},
        "protocols": [{"x402": {}}],
    }
    assert photos["x-prices"] == {
        "photos": {"standard": "0.009", "discounted": "0.002", "best": "0.0015", "committed": "0.001"}
    }
    record = document["paths"]["/v1/restaurants/{slug}"]["get"]
    assert record["x-payment-info"]["price"]["max"] == "0.035"
    assert "x-payment-info" not in document["paths"]["/v1/markets"]["get"]


@pytest.mark.django_db
def test_indexes_find_the_document_where_they_look(client: Client) -> None:
    default_products.create_missing()
    response = client.get("/openapi.json", headers={"origin": "https://shop.example"})
    assert response.json() == client.get("/docs/openapi/data.json").json()
    assert response["Access-Control-Allow-Origin"] == "*"

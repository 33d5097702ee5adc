"""/.well-known/x402: the products, their resources and prices, for x402 indexes; and prices in the OpenAPI document.

Indexes read `version` and `resources`; the other members are extensions. Operations of the OpenAPI document name their
products (`x-products`), and are served with their prices (`x-payment-info`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import orjson
from django.conf import settings
from django.utils import timezone

from catalogue.exports.requests.payment_state import PRODUCTS as EXPORTS
from catalogue.field_groups import GROUPS
from catalogue.models import SearchRow, Version
from framework.api.openapi import schema
from framework.api.urls import public_url
from framework.cache import CachedValue
from framework.errors import ServiceUnavailable
from framework.mcp import protocol_versions
from payments.interface import (
    TIERS,
    current_prices,
    describe_ladder,
    payment_network,
    to_checksum_address,
)
from payments.models import Product

# Prices in both documents may be so old; the price in a challenge is always current.
MAX_AGE_S = 60.0
EXAMPLES_MAX_AGE_S = 600.0
# The example of a product is one of so many restaurants with the most reviews.
MAX_EXAMPLES = 20
RECORD = "/v1/restaurants/{slug}"
# Paths of the MCP endpoint and of its server card.
MCP = "/mcp"
CARD = f"{MCP}/server-card"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An operation of the data API that sells a product. `{slug}` in the path is that of a restaurant, `{id}` that of
    a row and `{slugs}` several for a proven Premium wallet, of which there is no example.

    `tool` is the MCP tool that returns the same with these `arguments`, if any. An operation with a `body` is a POST.
    """

    operation: str
    path: str
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None

    @classmethod
    def group(cls, name: str) -> "Endpoint":
        return cls("get_restaurant", f"{RECORD}?fields={name}", "buy_parts", {"fields": [name]})

    @classmethod
    def batch(cls, name: str) -> "Endpoint":
        return cls("search_restaurants", f"/v1/restaurants?slugs={{slugs}}&fields={name}")

    @classmethod
    def export(cls, dataset: str) -> "Endpoint":
        arguments = {"dataset": dataset}
        return cls("create_export", "/v1/exports", "start_export", arguments, body=arguments)

    @property
    def request(self) -> dict[str, Any]:
        method = {"method": "GET"} if self.body is None else {"method": "POST", "body": dict(self.body)}
        return {**method, "url_template": public_url(self.path), "operation_id": self.operation}


ENDPOINTS: Mapping[str, Sequence[Endpoint]] = {
    "reviews": (
        Endpoint.group("reviews"),
        Endpoint("list_reviews", f"{RECORD}/reviews", "list_reviews"),
        Endpoint("get_review", "/v1/reviews/{id}", "get_review"),
        Endpoint.batch("reviews"),
    ),
    "photos": (
        Endpoint.group("photos"),
        Endpoint("list_photos", f"{RECORD}/photos", "list_photos"),
        Endpoint.batch("photos"),
    ),
    "context": (
        Endpoint.group("context"),
        Endpoint("get_restaurant_context", f"{RECORD}/context", "get_surroundings"),
        Endpoint.batch("context"),
    ),
    "ai_insight": (
        Endpoint.group("ai_insight"),
        Endpoint("get_restaurant_insight", f"{RECORD}/insight", "get_insight"),
        Endpoint.batch("ai_insight"),
    ),
    "history": (
        Endpoint.group("history"),
        Endpoint("get_restaurant_history", f"{RECORD}/history", "get_history"),
        Endpoint("list_changes", "/v1/changes"),
        Endpoint.batch("history"),
    ),
    **{product: (Endpoint.export(dataset),) for dataset, product in EXPORTS.items()},
}


def document(*, now: datetime) -> dict[str, Any]:
    """Build /.well-known/x402. A dozen queries, and up to twenty for each product without an example."""
    network, examples = payment_network(), cached_examples.get(max_age_s=EXAMPLES_MAX_AGE_S)
    prices = current_prices(now=now)
    products = [
        _describe(product, prices.get(product.slug, {}), slug=examples.get(product.slug))
        for product in Product.objects.order_by("slug")
        if prices.get(product.slug)
    ]
    return {
        "version": 1,
        "resources": [url for product in products for url in product["resources"]],
        "instructions": (
            "Ask for a resource with GET: the 402 says what it costs. Put another slug in place of the restaurant"
            " that is named here. What a restaurant does not have is free and empty. Exports are asked for with POST,"
            " by a wallet that has signed in."
        ),
        "network": network.caip2,
        "network_name": network.name,
        "asset": network.asset_name,
        "asset_address": to_checksum_address(network.asset),
        "decimals": network.decimals,
        "pay_to": to_checksum_address(settings.PAY_TO) if settings.PAY_TO else None,
        **describe_ladder(),
        "products": products,
        "mcp": {
            "url": public_url(MCP),
            "transport": "streamable-http",
            "protocol_versions": list(protocol_versions.SUPPORTED_VERSIONS),
            "server_card": public_url(CARD),
        },
        "openapi": public_url("/docs/openapi/data.json"),
    }


def _describe(product: Product, prices: Mapping[str, Decimal], *, slug: str | None) -> dict[str, Any]:
    """A product with its prices in USDC, its REST requests and MCP tools, and the URLs of an example."""
    endpoints = ENDPOINTS.get(product.slug, ())
    return {
        "product": product.slug,
        "name": product.name,
        "description": product.description,
        "from_tier": product.from_tier,
        "prices": {tier.rate: amount(prices.get(tier.rate)) for tier in TIERS.values()},
        "asked_for_by": [endpoint.request for endpoint in endpoints],
        "tools": [
            {"name": endpoint.tool, "arguments": dict(endpoint.arguments)} for endpoint in endpoints if endpoint.tool
        ],
        "resources": [
            public_url(endpoint.path.format(slug=slug))
            for endpoint in endpoints
            if slug and "{id}" not in endpoint.path and "{slugs}" not in endpoint.path
        ],
    }


def find_examples(*, now: datetime) -> Mapping[str, str]:
    """The slug of a restaurant with many reviews that has content of the product, by product."""
    # The order of lists has an index, and excludes merged and erased restaurants.
    rows = SearchRow.objects.order_by("-rank_reviews", "restaurant").select_related(
        "restaurant__market", "restaurant__cuisine"
    )
    restaurants = [row.restaurant for row in rows[:MAX_EXAMPLES]]
    has_changes = Version.objects.exists()
    examples: dict[str, str] = {}
    for group in GROUPS.values():
        if group.product and group.read and (has_changes or group.product != "history"):
            slugs = (place.slug for place in restaurants if next(iter(group.read(place, now).values())) is not None)
            if slug := next(slugs, None):
                examples[group.product] = slug
    return examples


def amount(price: Decimal | None) -> str | None:
    return None if price is None else f"{price.normalize():f}"


def price_ranges(priced: Mapping[str, Mapping[str, Decimal]]) -> list[dict[str, str | None]]:
    """Return the products sold by the call, each with its lowest and highest price in USDC."""
    return [
        {
            "slug": product,
            "product": product.replace("_", " "),
            "low": amount(min(rates.values())),
            "high": amount(max(rates.values())),
        }
        for product, rates in sorted(priced.items())
        if rates and not product.startswith("export_")
    ]


# The OpenAPI document
def with_prices(content: bytes) -> bytes:
    """Add the current prices to the OpenAPI document of the data API; unchanged while they cannot be read."""
    prices = cached_prices.get_or_stale(max_age_s=MAX_AGE_S) or {}
    if cached_openapi and cached_openapi[0][:2] == (content, prices):
        return cached_openapi[0][2]
    openapi: dict[str, Any] = orjson.loads(content)
    for operations in openapi["paths"].values():
        for operation in operations.values():
            if isinstance(operation, dict) and (products := operation.get("x-products")):
                is_one = "x-one-product-a-call" in operation
                operation.update(_payment_info(products, prices, is_one=is_one))
    rendered = schema.render_document(openapi).encode()
    cached_openapi[:] = [(content, prices, rendered)]
    return rendered


def _payment_info(
    products: Sequence[str], prices: Mapping[str, Mapping[str, Decimal]], *, is_one: bool
) -> dict[str, Any]:
    """The price range of an operation for x402 indexes, and the prices of its products by rate.

    A call can buy all products of the operation, or with `is_one` one of them.
    """
    available = [prices[name] for name in products if prices.get(name)]
    if not available:
        return {}
    lowest = min(min(rates.values()) for rates in available)
    maxima = [max(rates.values()) for rates in available]
    highest = max(maxima) if is_one else sum(maxima, Decimal(0))
    return {
        "x-payment-info": {
            "price": {"mode": "dynamic", "currency": "USD", "min": amount(lowest), "max": amount(highest)},
            "protocols": [{"x402": {}}],
        },
        "x-prices": {name: {rate: amount(price) for rate, price in prices.get(name, {}).items()} for name in products},
    }


cached_examples: CachedValue[Mapping[str, str]] = CachedValue(lambda: find_examples(now=timezone.now()))
cached_prices: CachedValue[Mapping[str, Mapping[str, Decimal]]] = CachedValue(
    lambda: current_prices(now=timezone.now())
)
cached_openapi: list[tuple[bytes, Mapping[str, Mapping[str, Decimal]], bytes]] = []


# The document of x402
cached_document: CachedValue[bytes] = CachedValue(lambda: orjson.dumps(document(now=timezone.now())))


def render() -> bytes:
    """The document, at most MAX_AGE_S old or from before a database outage. Raises ServiceUnavailable."""
    content = cached_document.get_or_stale(max_age_s=MAX_AGE_S)
    if content is None:
        raise ServiceUnavailable
    return content


def price_list() -> bytes:
    """The part of the document about prices and tools. Raises ServiceUnavailable."""
    manifest = orjson.loads(render())
    for name in ("version", "resources", "instructions", "openapi"):
        del manifest[name]
    for product in manifest["products"]:
        del product["asked_for_by"], product["resources"]
    return orjson.dumps(manifest)

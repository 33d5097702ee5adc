"""What is sold, where it is asked for and for how much, for programs that look for things to buy.

The document has the shape that indexes of x402 read (`version`, `resources`); all else in it is ours. An operation of
the OpenAPI document names its products (`x-products`), and is served with their prices (`x-payment-info`).
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
from framework.cache import CachedValue
from framework.errors import ServiceUnavailable
from framework.mcp import protocol_versions
from payments.chain import evm
from payments.chain.networks import payment_network
from payments.models import Product
from payments.pricing import price_list as pricing_price_list
from payments.tiers.definitions import TIERS

# So long both documents may tell old prices; a challenge tells the one that counts.
REMEMBERED_S = 60.0
# What restaurants have is looked at less often.
LOOKED_FOR_S = 600.0
# Of so many restaurants with the most reviews the first is shown that has what is sold.
LOOKED_AT = 20
RECORD = "/v1/restaurants/{slug}"
# Where this is read; where agents speak MCP, and where they read of it before they do.
DOCUMENT = "/.well-known/x402"
MCP = "/mcp"
CARD = f"{MCP}/server-card"
# Of the document, what a price list says.
PRICE_LIST = (
    *("network", "network_name", "asset", "asset_address", "decimals", "pay_to"),
    *("tiers", "products", "mcp"),
)
# Of a product, how REST is asked for it.
OF_REST = ("asked_for_by", "resources")


@dataclass(frozen=True, slots=True)
class Way:
    """A way to ask for a product: an operation of the data API, and its address, of a restaurant by `{slug}`.

    `tool` is the tool over MCP that gives the same, with these arguments; None where there is none. Where there is a
    `body`, it is asked for by POST.
    """

    operation: str
    path: str
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None

    @classmethod
    def group(cls, name: str) -> "Way":
        """As a field group of the record."""
        return cls("get_restaurant", f"{RECORD}?fields={name}", "get_restaurant", {"fields": [name]})

    @classmethod
    def export(cls, dataset: str) -> "Way":
        """As files."""
        wanted = {"dataset": dataset}
        return cls("create_export", "/v1/exports", "start_export", wanted, body=wanted)

    @property
    def told(self) -> dict[str, Any]:
        """How REST is asked for it."""
        how = {"method": "GET"} if self.body is None else {"method": "POST", "body": dict(self.body)}
        return {**how, "url_template": absolute(self.path), "operation_id": self.operation}


WAYS: Mapping[str, Sequence[Way]] = {
    "reviews": (
        Way.group("reviews"),
        Way("list_reviews", f"{RECORD}/reviews", "list_reviews"),
    ),
    "photos": (
        Way.group("photos"),
        Way("list_photos", f"{RECORD}/photos", "list_photos"),
    ),
    "context": (
        Way.group("context"),
        Way("get_restaurant_context", f"{RECORD}/context", "get_surroundings"),
    ),
    "ai_insight": (
        Way.group("ai_insight"),
        Way("get_restaurant_insight", f"{RECORD}/insight", "get_insight"),
    ),
    "history": (
        Way.group("history"),
        Way("get_restaurant_history", f"{RECORD}/history", "get_history"),
        Way("list_changes", "/v1/changes"),
    ),
    **{product: (Way.export(dataset),) for dataset, product in EXPORTS.items()},
}


def document(*, now: datetime) -> dict[str, Any]:
    """The content of /.well-known/x402. A dozen queries, and up to twenty for each product that nobody has."""
    network, examples = payment_network(), cached_examples.get(max_age_s=LOOKED_FOR_S)
    priced = pricing_price_list.current_prices(now=now)
    products = [
        described(product, priced.get(product.slug, {}), slug=examples.get(product.slug))
        for product in Product.objects.order_by("slug")
        if priced.get(product.slug)
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
        "asset_address": evm.to_checksum_address(network.asset),
        "decimals": network.decimals,
        "pay_to": evm.to_checksum_address(settings.PAY_TO) if settings.PAY_TO else None,
        "tiers": [
            {
                "tier": tier.name,
                "rate": tier.rate,
                "requests_per_minute": tier.per_minute,
                "from_usd": None if tier.from_usd is None else f"{tier.from_usd:f}",
                "from_stake": tier.from_stake,
            }
            for tier in TIERS.values()
        ],
        "products": products,
        "mcp": {
            "url": absolute(MCP),
            "transport": "streamable-http",
            "protocol_versions": list(protocol_versions.SUPPORTED),
            "server_card": absolute(CARD),
        },
        "openapi": absolute("/docs/openapi/data.json"),
    }


def described(product: Product, priced: Mapping[str, Decimal], *, slug: str | None) -> dict[str, Any]:
    """A product with its prices in USDC, how it is asked for, by tools of MCP too, and a restaurant that has it."""
    ways = WAYS.get(product.slug, ())
    return {
        "product": product.slug,
        "name": product.name,
        "description": product.description,
        "from_tier": product.from_tier,
        "prices": {tier.rate: amount(priced.get(tier.rate)) for tier in TIERS.values()},
        "asked_for_by": [way.told for way in ways],
        "tools": [{"name": way.tool, "arguments": dict(way.arguments)} for way in ways if way.tool],
        "resources": [absolute(way.path.format(slug=slug)) for way in ways] if slug else [],
    }


def with_content(*, now: datetime) -> Mapping[str, str]:
    """The slug of a well-known restaurant that has what is sold, by product."""
    # The order of lists, which has an index; the merged and the erased are not in it.
    rows = SearchRow.objects.order_by("-rank_reviews", "restaurant").select_related(
        "restaurant__market", "restaurant__cuisine"
    )
    known = [row.restaurant for row in rows[:LOOKED_AT]]
    has_changes = Version.objects.exists()
    found: dict[str, str] = {}
    for group in GROUPS.values():
        if group.product and group.read and (has_changes or group.product != "history"):
            has = (place.slug for place in known if next(iter(group.read(place, now).values())) is not None)
            if slug := next(has, None):
                found[group.product] = slug
    return found


def absolute(path: str) -> str:
    """The address of a path of ours, as callers see it."""
    return settings.PUBLIC_BASE_URL.rstrip("/") + path


def amount(of: Decimal | None) -> str | None:
    """A price as text."""
    return None if of is None else f"{of.normalize():f}"


# The OpenAPI document
def with_prices(content: bytes) -> bytes:
    """The document of the data API with what each operation costs now; without prices while there are none to read."""
    priced = cached_prices.get_or_stale(max_age_s=REMEMBERED_S) or {}
    if cached_openapi and cached_openapi[0][:2] == (content, priced):
        return cached_openapi[0][2]
    told: dict[str, Any] = orjson.loads(content)
    for operations in told["paths"].values():
        for operation in operations.values():
            if isinstance(operation, dict) and (products := operation.get("x-products")):
                is_one = "x-one-product-a-call" in operation
                operation.update(payment_of(products, priced, is_one=is_one))
    written = schema.render_document(told).encode()
    cached_openapi[:] = [(content, priced, written)]
    return written


def payment_of(
    products: Sequence[str], priced: Mapping[str, Mapping[str, Decimal]], *, is_one: bool
) -> dict[str, Any]:
    """What an operation costs, as indexes of x402 read it, and each of its products at every rate.

    All that it sells may be asked for in one call, or `is_one` of them.
    """
    each = [priced[name] for name in products if priced.get(name)]
    if not each:
        return {}
    lowest = min(min(rates.values()) for rates in each)
    dearest = [max(rates.values()) for rates in each]
    highest = max(dearest) if is_one else sum(dearest, Decimal(0))
    return {
        "x-payment-info": {
            "price": {"mode": "dynamic", "currency": "USD", "min": amount(lowest), "max": amount(highest)},
            "protocols": [{"x402": {}}],
        },
        "x-prices": {name: {rate: amount(of) for rate, of in priced.get(name, {}).items()} for name in products},
    }


def read_with_content() -> Mapping[str, str]:
    """The restaurants that are shown at this moment."""
    return with_content(now=timezone.now())


def read_prices() -> Mapping[str, Mapping[str, Decimal]]:
    """The price list of this moment."""
    return pricing_price_list.current_prices(now=timezone.now())


cached_examples: CachedValue[Mapping[str, str]] = CachedValue(read_with_content)
cached_prices: CachedValue[Mapping[str, Mapping[str, Decimal]]] = CachedValue(read_prices)
cached_openapi: list[tuple[bytes, Mapping[str, Mapping[str, Decimal]], bytes]] = []


# The document of x402
def read_document() -> bytes:
    """The document of this moment as it is sent."""
    return orjson.dumps(document(now=timezone.now()))


cached_document: CachedValue[bytes] = CachedValue(read_document)


def written() -> bytes:
    """The document as it was at most a minute ago, or before the database went away. Raises ServiceUnavailable."""
    content = cached_document.get_or_stale(max_age_s=REMEMBERED_S)
    if content is None:
        raise ServiceUnavailable
    return content


def price_list() -> bytes:
    """Of the document what is sold to whom for how much, and by which tools. Raises ServiceUnavailable."""
    told = orjson.loads(written())
    for product in told["products"]:
        for name in OF_REST:
            del product[name]
    return orjson.dumps({name: told[name] for name in PRICE_LIST})

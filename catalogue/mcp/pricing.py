"""What tools cost, as tools/list says it: a sentence for the model, and the price list in `_meta`."""

from collections.abc import Mapping, Sequence
from typing import Any

from catalogue.agent_discovery.x402_manifest import MAX_AGE_S, amount, cached_prices
from framework.cache import CachedValue
from framework.mcp.tools import Pricing
from payments.interface import FREE, TIERS
from payments.models import Product

PRICES_META = "tablewire/prices"
UNKNOWN = Pricing("Paid by x402: an unpaid call tells the price.", {})

cached_tiers: CachedValue[Mapping[str, str]] = CachedValue(
    lambda: dict(Product.objects.values_list("slug", "from_tier"))
)


def tool_pricing(products: Sequence[str], unit: str) -> Pricing:
    """The current price of a tool that sells one of these products for each `unit`, at most MAX_AGE_S old.

    The last known ones while the database is down.
    """
    prices = cached_prices.get_or_stale(max_age_s=MAX_AGE_S) or {}
    tiers = cached_tiers.get_or_stale(max_age_s=MAX_AGE_S) or {}
    sold = [product for product in products if prices.get(product)]
    if not sold:
        return UNKNOWN
    amounts = sorted({price for product in sold for price in prices[product].values()})
    low, high = amount(amounts[0]), amount(amounts[-1])
    span = high if low == high else f"{low} to {high}"
    first = min((TIERS[tiers.get(product, FREE.name)] for product in sold), key=lambda tier: tier.rank)
    tier = f", from the {first.name} tier" if first != FREE else ""
    return Pricing(
        f"Costs {span} USDC {unit} by x402{tier}.",
        {PRICES_META: [_describe(each, prices[each], tiers) for each in sold]},
    )


def _describe(product: str, rates: Mapping[str, Any], tiers: Mapping[str, str]) -> dict[str, Any]:
    """A product with its price in USDC for each tier that may buy it."""
    first = TIERS[tiers.get(product, FREE.name)]
    usdc = {tier.name: amount(rates.get(tier.rate)) for tier in TIERS.values() if tier >= first}
    return {"product": product, "from_tier": first.name, "currency": "USDC", "amounts": usdc}

"""The price list at a time, and quotes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_UP, Decimal
from typing import NamedTuple

from django.conf import settings

from framework.cache import CachedValue
from framework.db import prepared_statements
from framework.errors import ServiceUnavailable
from payments.models import Price
from payments.tiers.definitions import FREE, TIERS, Tier
from payments.tiers.terms import Terms

# An old price is accepted for as long as a 402 response says that it can be paid.
PRICE_GRACE = timedelta(seconds=60)
# The smallest unit of USDC. A factor rounds up to it, so that no price becomes zero.
USDC_UNIT = Decimal("0.000001")
# Less if tiers are cached for less (TIER_CACHE_S).
CACHE_TTL_S = 1.0

PRICE_ROWS = """
SELECT price.product_id, price.rate, price.amount_usdc, price.valid_from,
    lead(price.valid_from) OVER (PARTITION BY price.product_id, price.rate ORDER BY price.valid_from),
    product.from_tier, product.name
FROM payments_price AS price JOIN payments_product AS product ON product.slug = price.product_id
"""


class NotSold(ServiceUnavailable):
    """A product has no price at this rate now."""


@dataclass(frozen=True, slots=True)
class Quote:
    """The total price of some products in USDC, and the lowest tier that all of them are sold to."""

    products: tuple[str, ...]
    amount: Decimal
    from_tier: Tier
    description: str


class PriceSpan(NamedTuple):
    """A price of a product at a rate, from `since` until the next price starts; without an amount it is not sold."""

    product: str
    rate: str
    amount: Decimal | None
    since: datetime
    until: datetime | None
    from_tier: str
    name: str

    def is_valid_at(self, at: datetime) -> bool:
        return self.since <= at and (self.until is None or at < self.until)


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of some products at every rate: current ones, and old ones that are still accepted.

    `quantities` says how often each product is bought. A fixed price is the same for everybody: no tier, plan or
    quote of a caller changes it. `is_for_anyone` says that the purchase is the same whoever pays it, as an order is.
    """

    products: tuple[str, ...]
    quantities: Mapping[str, int]
    from_tier: Tier
    description: str
    spans: tuple[PriceSpan, ...]
    now: datetime
    is_fixed: bool = False
    is_for_anyone: bool = False

    def quote(self, terms: Terms) -> Quote:
        """Return the current price. Raises NotSold if a product has no price at the rate of these terms."""
        amount = self._total(terms, self.now)
        if amount is None:
            raise NotSold(f"Of {', '.join(self.products)} not everything has a {terms.tier.rate} price at the moment.")
        return Quote(self.products, amount, self.from_tier, self.description)

    def acceptable(self, several: Iterable[Terms]) -> frozenset[Decimal]:
        """Return all amounts that were the price on one of these terms, now or within PRICE_GRACE.

        Without zero: products that a plan includes are not paid for (checkout.is_free_by_plan).
        """
        earliest = self.now - PRICE_GRACE
        moments = {earliest, self.now, *(span.since for span in self.spans if span.since > earliest)}
        totals = (self._total(terms, moment) for terms in several for moment in moments)
        return frozenset(total for total in totals if total)

    def _total(self, terms: Terms, at: datetime) -> Decimal | None:
        rate = terms.tier.rate
        valid = (span for span in self.spans if span.rate == rate and span.is_valid_at(at))
        amounts = {span.product: span.amount for span in valid if span.amount is not None}
        if len(amounts) != len(self.products):
            return None
        total = sum((amount * self.quantities[product] for product, amount in amounts.items()), Decimal(0))
        return total if self.is_fixed else apply_factor(terms, total)


def apply_factor(terms: Terms, amount: Decimal | None) -> Decimal | None:
    """Multiply a price with the factor of these terms, rounded up to USDC_UNIT; None stays None."""
    return None if amount is None else (amount * terms.factor).quantize(USDC_UNIT, ROUND_UP)


def load_price_list(products: Sequence[str], *, now: datetime) -> PriceList:
    """Return the price list of these products; a repeated one is bought so many times. Raises NotSold.

    One query if the cache is older than CACHE_TTL_S.
    A cached price may be outdated; PRICE_GRACE, which accepts old prices, is longer.
    """
    quantities = Counter(products)
    slugs = tuple(quantities)
    cached = cached_price_rows.get(max_age_s=min(CACHE_TTL_S, settings.TIER_CACHE_S))
    found = [
        row
        for slug in slugs
        for row in cached.get(slug, ())
        if row.since <= now and (row.until is None or row.until > now - PRICE_GRACE)
    ]
    names = {row.product: row.name for row in found}
    missing = [slug for slug in slugs if slug not in names]
    if missing or not slugs:
        raise NotSold(f"{', '.join(missing) or 'Nothing'} is not sold at the moment.")
    return PriceList(
        products=slugs,
        quantities=quantities,
        from_tier=max(TIERS[row.from_tier] for row in found),
        description=", ".join(
            names[slug] if number == 1 else f"{number} x {names[slug]}" for slug, number in quantities.items()
        ),
        spans=tuple(found),
        now=now,
    )


def fixed_price(
    product: str, amount: Decimal, *, description: str, is_for_anyone: bool = False, now: datetime
) -> PriceList:
    """Return the price list of money that is not for a product of ours, such as a deposit: this amount in USDC."""
    spans = tuple(PriceSpan(product, tier.rate, amount, now, None, FREE.name, description) for tier in TIERS.values())
    return PriceList(
        products=(product,),
        quantities={product: 1},
        from_tier=FREE,
        description=description,
        spans=spans,
        now=now,
        is_fixed=True,
        is_for_anyone=is_for_anyone,
    )


def _load_price_rows() -> Mapping[str, list[PriceSpan]]:
    found: dict[str, list[PriceSpan]] = {}
    for row in map(PriceSpan._make, prepared_statements.fetch_all(PRICE_ROWS)):
        found.setdefault(row.product, []).append(row)
    return found


cached_price_rows = CachedValue(_load_price_rows)


def current_prices(*, now: datetime) -> Mapping[str, Mapping[str, Decimal]]:
    """Return the whole price list, {product: {rate: amount}}. One query."""
    rows = Price.objects.filter(valid_from__lte=now).order_by("product_id", "rate", "valid_from", "pk")
    found: dict[str, dict[str, Decimal]] = {}
    for product, rate, amount in rows.values_list("product_id", "rate", "amount_usdc"):
        amounts = found.setdefault(product, {})
        if amount is None:
            amounts.pop(rate, None)
        else:
            amounts[rate] = amount
    return found

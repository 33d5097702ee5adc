"""What products cost: the price list at a moment, and the quotes that are made from it."""

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
from payments.tiers.definitions import TIERS, Tier
from payments.tiers.terms import Terms

# A price that has changed is honoured for as long as a challenge says that it can be paid.
HONOURED = timedelta(seconds=60)
# The smallest unit of USDC: what a factor leaves of one is rounded up, so that nothing is free.
LEAST = Decimal("0.000001")
# At most; where tiers are believed for less time, so are prices.
REMEMBERED_S = 1.0

TAGS = """
SELECT price.product_id, price.rate, price.amount_usdc, price.valid_from,
    lead(price.valid_from) OVER (PARTITION BY price.product_id, price.rate ORDER BY price.valid_from),
    product.from_tier, product.name
FROM payments_price AS price JOIN payments_product AS product ON product.slug = price.product_id
"""


class NotSold(ServiceUnavailable):
    """Nobody has set a price for this."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What some products cost together, in whole USDC, and the lowest tier that all of them are sold to."""

    products: tuple[str, ...]
    amount: Decimal
    from_tier: Tier
    description: str


@dataclass(frozen=True, slots=True)
class Span:
    """One price of a product at a rate, from a moment on and until the next one takes its place."""

    product: str
    rate: str
    amount: Decimal
    since: datetime
    until: datetime | None

    def holds(self, at: datetime) -> bool:
        """Whether this is the price at that moment."""
        return self.since <= at and (self.until is None or at < self.until)


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of some products at every rate: those of now, and those that are still honoured."""

    products: tuple[str, ...]
    from_tier: Tier
    description: str
    spans: tuple[Span, ...]
    now: datetime

    def quote(self, terms: Terms) -> Quote:
        """The price now. Raises NotSold where a product has none at the rate of these terms."""
        amount = self._total(terms, self.now)
        if amount is None:
            raise NotSold(f"Of {', '.join(self.products)} not everything has a {terms.tier.rate} price at the moment.")
        return Quote(self.products, amount, self.from_tier, self.description)

    def acceptable(self, several: Iterable[Terms]) -> frozenset[Decimal]:
        """Every amount that was the price on one of these terms, now or within the last minute.

        Nothing is no amount: what a plan gives away is not paid for (gate.is_given).
        """
        begun = self.now - HONOURED
        moments = {begun, self.now, *(span.since for span in self.spans if span.since > begun)}
        totals = (self._total(terms, moment) for terms in several for moment in moments)
        return frozenset(total for total in totals if total)

    def _total(self, terms: Terms, at: datetime) -> Decimal | None:
        rate = terms.tier.rate
        amounts = {span.product: span.amount for span in self.spans if span.rate == rate and span.holds(at)}
        if len(amounts) != len(self.products):
            return None
        return on(terms, sum(amounts.values(), Decimal(0)))


def on(terms: Terms, amount: Decimal | None) -> Decimal | None:
    """An amount of the price list on these terms, in whole USDC; None stays None."""
    return None if amount is None else (amount * terms.factor).quantize(LEAST, ROUND_UP)


def listed(products: Sequence[str], *, now: datetime) -> PriceList:
    """The price list of these products. One query where the last is a second old. Raises NotSold for what is not sold.

    Within that second it may be what it was before a change, which is honoured for a minute anyway.
    """
    wanted = tuple(dict.fromkeys(products))
    known = cached_tags.get(max_age_s=min(REMEMBERED_S, settings.TIER_CACHE_S))
    found = [
        tag
        for product in wanted
        for tag in known.get(product, ())
        if tag.since <= now and (tag.until is None or tag.until > now - HONOURED)
    ]
    names = {tag.product: tag.name for tag in found}
    missing = [product for product in wanted if product not in names]
    if missing or not wanted:
        raise NotSold(f"{', '.join(missing) or 'Nothing'} is not sold at the moment.")
    return PriceList(
        products=wanted,
        from_tier=max(TIERS[tag.from_tier] for tag in found),
        description=", ".join(names[product] for product in wanted),
        spans=tuple(
            Span(product=tag.product, rate=tag.rate, amount=tag.amount, since=tag.since, until=tag.until)
            for tag in found
            # Without an amount it is not sold at this rate in that span.
            if tag.amount is not None
        ),
        now=now,
    )


class Tag(NamedTuple):
    """A row of the whole price list, those of the past and of the future among them."""

    product: str
    rate: str
    amount: Decimal | None
    since: datetime
    until: datetime | None
    from_tier: str
    name: str


def _tags() -> Mapping[str, list[Tag]]:
    """All of them, by the product."""
    found: dict[str, list[Tag]] = {}
    for tag in map(Tag._make, prepared_statements.fetch_all(TAGS)):
        found.setdefault(tag.product, []).append(tag)
    return found


cached_tags = CachedValue(_tags)


def current(*, now: datetime) -> Mapping[str, Mapping[str, Decimal]]:
    """The whole price list, {product: {rate: amount}}. One query."""
    rows = Price.objects.filter(valid_from__lte=now).order_by("product_id", "rate", "valid_from", "pk")
    found: dict[str, dict[str, Decimal]] = {}
    for product, rate, amount in rows.values_list("product_id", "rate", "amount_usdc"):
        priced = found.setdefault(product, {})
        if amount is None:
            priced.pop(rate, None)
        else:
            priced[rate] = amount
    return found

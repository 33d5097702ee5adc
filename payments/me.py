"""What a caller has: tier, limit and prices, and what leads to the next tier."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from config.api.limits import Usage
from payments import evm, prices
from payments.callers import Caller
from payments.models import Product, TierTerms, Wallet
from payments.terms import Terms
from payments.tiers import TIERS, Tier


@dataclass(frozen=True, slots=True)
class Priced:
    """A product at one rate: `amount` in USDC, None where it is not sold at that rate."""

    product: str
    amount: Decimal | None
    from_tier: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a caller stands. The holdings are None without a session."""

    wallet: str | None
    tier: Tier
    next_tier: Tier | None
    holdings_usd: Decimal | None
    staked: Decimal | None
    read_at: datetime | None
    usage: Usage
    rate: str
    products: tuple[Priced, ...]
    promised: TierTerms


def standing(caller: Caller, *, usage: Usage, now: datetime) -> Standing:
    """Where the caller stands now. Three queries, with a session four."""
    wallet = Wallet.objects.get(pk=caller.wallet) if caller.wallet else None
    tier = caller.tier
    return Standing(
        wallet=evm.checksummed(wallet.address) if wallet else None,
        tier=tier,
        next_tier=next((above for above in TIERS.values() if above > tier), None),
        holdings_usd=wallet.holdings_usd if wallet else None,
        staked=wallet.staked if wallet else None,
        read_at=wallet.read_at if wallet else None,
        usage=usage,
        rate=tier.rate,
        products=price_list(caller.terms, now=now),
        promised=TierTerms.objects.filter(pk=tier.name).first() or TierTerms(tier=tier.name, priority="standard"),
    )


def price_list(terms: Terms, *, now: datetime) -> tuple[Priced, ...]:
    """What each product costs on these terms, by slug. Two queries."""
    amounts = prices.current(now=now)
    products = Product.objects.order_by("slug").values_list("slug", "from_tier")
    return tuple(
        Priced(
            product=slug,
            amount=prices.on(terms, amounts.get(slug, {}).get(terms.tier.rate)),
            from_tier=from_tier,
        )
        for slug, from_tier in products
    )

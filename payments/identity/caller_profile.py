"""What a caller has: who they are to us, tier, limit and prices, and what leads to the next tier."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from accounts.models import Account
from framework.api.rate_limits.middleware import Usage
from payments.chain import evm
from payments.identity.caller import By, Caller
from payments.models import Plan, Product, TierTerms, Wallet
from payments.pricing import price_list as pricing_price_list
from payments.tiers import terms
from payments.tiers.definitions import TIERS, Tier
from payments.tiers.terms import Rise, Terms


@dataclass(frozen=True, slots=True)
class Priced:
    """A product at one rate: `amount` in USDC, None where it is not sold at that rate."""

    product: str
    amount: Decimal | None
    from_tier: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a caller stands. The holdings are of `wallet`, and None without one."""

    by: By
    account: Account | None
    wallet: str | None
    wallets: tuple[str, ...]
    tier: Tier
    next_tier: Tier | None
    rising: Rise | None
    holdings_usd: Decimal | None
    staked: Decimal | None
    read_at: datetime | None
    plan: Plan | None
    usage: Usage
    rate: str
    products: tuple[Priced, ...]
    promised: TierTerms
    sla: str


@dataclass(frozen=True, slots=True)
class Held:
    """What was last read of one wallet, and on which tier it would be by itself."""

    address: str
    tier: Tier
    rising: Rise | None
    holdings_usd: Decimal
    staked: Decimal
    read_at: datetime | None


def held(wallet: Wallet) -> Held:
    """What is known of a wallet that was found `with_plan`."""
    agreed = terms.of_wallet(wallet)
    return Held(
        address=evm.to_checksum_address(wallet.address),
        tier=agreed.tier,
        rising=agreed.rise,
        holdings_usd=wallet.holdings_usd,
        staked=wallet.staked,
        read_at=wallet.read_at,
    )


def standing(caller: Caller, *, usage: Usage, now: datetime) -> Standing:
    """Where the caller stands now, by what the doorway has read. Three queries, and one each for account and plan."""
    wallet = next((each for each in caller.known if each.address == caller.wallet), None)
    tier = caller.tier
    plan = Plan.objects.filter(pk=caller.terms.plan).first() if caller.terms.plan else None
    promised = TierTerms.objects.filter(pk=tier.name).first() or TierTerms(tier=tier.name, priority="standard")
    return Standing(
        by=caller.by,
        account=account_of(caller, wallet),
        wallet=evm.to_checksum_address(wallet.address) if wallet else None,
        wallets=tuple(evm.to_checksum_address(each.address) for each in caller.known),
        tier=tier,
        next_tier=next((above for above in TIERS.values() if above > tier), None),
        rising=caller.terms.rise,
        holdings_usd=wallet.holdings_usd if wallet else None,
        staked=wallet.staked if wallet else None,
        read_at=wallet.read_at if wallet else None,
        plan=plan,
        usage=usage,
        rate=tier.rate,
        products=price_list(caller.terms, now=now),
        promised=promised,
        sla=(plan.sla if plan else "") or promised.sla,
    )


def account_of(caller: Caller, wallet: Wallet | None) -> Account | None:
    """The account of the caller's key, or that to which their wallet is linked."""
    account = caller.account or (wallet.account_id if wallet else None)
    return Account.objects.filter(pk=account).first() if account else None


def price_list(agreed: Terms, *, now: datetime) -> tuple[Priced, ...]:
    """What each product costs on these terms, by slug. Two queries."""
    amounts = pricing_price_list.current(now=now)
    products = Product.objects.order_by("slug").values_list("slug", "from_tier")
    return tuple(
        Priced(
            product=slug,
            amount=pricing_price_list.on(agreed, amounts.get(slug, {}).get(agreed.tier.rate)),
            from_tier=from_tier,
        )
        for slug, from_tier in products
    )

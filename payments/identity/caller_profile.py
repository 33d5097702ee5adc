"""The profile of a caller at /v1/me: account, wallets, tier, rate limit, prices and the next tier."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.models import Account
from framework.api.rate_limits.middleware import Usage
from payments.identity.caller import Caller
from payments.models import Plan, Product, TierTerms, Wallet
from payments.pricing.price_list import apply_factor, current_prices
from payments.tiers.definitions import TIERS, Tier
from payments.tiers.terms import Terms


@dataclass(frozen=True, slots=True)
class CallerProfile:
    """The profile of a caller; `wallet` is the row of `caller.wallet`.

    Each of `products` has its slug, the lowest tier that it is sold to, and its price in USDC at the caller's rate,
    None if it is not sold at that rate.
    """

    caller: Caller
    wallet: Wallet | None
    account: Account | None
    plan: Plan | None
    tier_terms: TierTerms
    next_tier: Tier | None
    usage: Usage
    products: Sequence[Mapping[str, Any]]

    @property
    def wallet_addresses(self) -> list[str]:
        return [wallet.address for wallet in self.caller.loaded_wallets]

    @property
    def sla(self) -> str:
        return (self.plan.sla if self.plan else "") or self.tier_terms.sla


@dataclass(frozen=True, slots=True)
class WalletProfile:
    """A wallet (loaded `with_plan`) and its terms without other wallets."""

    wallet: Wallet
    terms: Terms


def load_profile(caller: Caller, *, usage: Usage, now: datetime) -> CallerProfile:
    """Load the profile of an identified caller. Three queries, and one each for account and plan."""
    amounts = current_prices(now=now)
    wallet = next((each for each in caller.loaded_wallets if each.address == caller.wallet), None)
    account = caller.account or (wallet.account_id if wallet else None)
    tier = caller.tier
    tier_terms = TierTerms.objects.filter(pk=tier.name).first() or TierTerms(tier=tier.name, priority="standard")
    return CallerProfile(
        caller=caller,
        wallet=wallet,
        account=Account.objects.filter(pk=account).first() if account else None,
        plan=Plan.objects.filter(pk=caller.terms.plan).first() if caller.terms.plan else None,
        tier_terms=tier_terms,
        next_tier=next((above for above in TIERS.values() if above > tier), None),
        usage=usage,
        products=[
            {
                "product": slug,
                "amount": apply_factor(caller.terms, amounts.get(slug, {}).get(tier.rate)),
                "from_tier": from_tier,
            }
            for slug, from_tier in Product.objects.order_by("slug").values_list("slug", "from_tier")
        ],
    )

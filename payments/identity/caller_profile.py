"""The profile of a caller at /v1/me: account, wallets, tier, rate limit, prices and the next tier."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from accounts.models import Account
from framework.api.rate_limits.middleware import Usage
from payments.identity.caller import Caller
from payments.models import Plan, Product, TierTerms
from payments.pricing.price_list import apply_factor, current_prices
from payments.tiers.definitions import TIERS, describe_token


def load_profile(caller: Caller, *, usage: Usage, now: datetime) -> Mapping[str, Any]:
    """Load what MeRecord serializes of an identified caller. Three queries, and one each for account and plan.

    `wallet` is the row of `caller.wallet`. The amount of a product is in USDC at the caller's rate, None if it is not
    sold at that rate.
    """
    wallet = next((each for each in caller.loaded_wallets if each.address == caller.wallet), None)
    account = caller.account or (wallet.account_id if wallet else None)
    plan = Plan.objects.filter(pk=caller.terms.plan).first() if caller.terms.plan else None
    tier = caller.tier
    tier_terms = TierTerms.objects.filter(pk=tier.name).first() or TierTerms(tier=tier.name, priority="standard")
    amounts = current_prices(now=now)
    products = Product.objects.order_by("slug").values("slug", "from_tier")
    return {
        "caller": caller,
        "wallet": wallet,
        "wallet_addresses": [each.address for each in caller.loaded_wallets],
        "account": Account.objects.filter(pk=account).first() if account else None,
        "plan": plan,
        "tier_terms": tier_terms,
        "sla": (plan.sla if plan else "") or tier_terms.sla,
        "next_tier": next((above for above in TIERS.values() if above > tier), None),
        "token": describe_token(),
        "usage": usage,
        "products": [
            {**each, "amount": apply_factor(caller.terms, amounts.get(each["slug"], {}).get(tier.rate))}
            for each in products
        ],
    }

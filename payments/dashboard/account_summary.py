"""An account's data service: linked wallets as last read, the resulting terms, its plan and its prices."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import pgettext_lazy

from accounts.models import Account
from payments.identity import sessions
from payments.identity.caller import Caller, IdentifiedBy, account_bucket
from payments.models import Plan, Product, TierTerms, Wallet
from payments.pricing import price_list
from payments.tiers import terms
from payments.tiers.definitions import FREE, TIERS
from payments.tiers.terms import Terms

RATE_LABELS = {
    "standard": pgettext_lazy("rate", "standard"),
    "discounted": pgettext_lazy("rate", "discounted"),
    "best": pgettext_lazy("rate", "best"),
    "committed": pgettext_lazy("rate", "committed"),
}
PRIORITY_LABELS = {
    "standard": pgettext_lazy("priority", "standard"),
    "elevated": pgettext_lazy("priority", "elevated"),
    "priority": pgettext_lazy("priority", "priority"),
    "dedicated": pgettext_lazy("priority", "dedicated"),
}


def list_addresses(account: Account) -> list[str]:
    """The wallet addresses of an account in lower case. One query."""
    return list(Wallet.objects.filter(account=account).order_by("address").values_list("address", flat=True))


def list_wallets(account: Account, *, now: datetime) -> list[Wallet]:
    """The wallets of an account `with_plan`, the best first, as last read. One query, no chain access."""
    found = Wallet.objects.with_plan(now).filter(account=account)
    return sorted(found, key=lambda wallet: (-terms.wallet_terms(wallet).tier.rank, wallet.address))


def build_caller(wallet: Wallet, account: Account) -> Caller:
    """Return the caller for requests with one of the account's wallets (loaded `with_plan`), on its terms."""
    return Caller(
        bucket=account_bucket(account.pk),
        terms=terms.wallet_terms(wallet),
        wallet=wallet.address,
        wallets=frozenset({wallet.address}),
        account=account.pk,
        identified_by=IdentifiedBy.KEY,
        loaded_wallets=(wallet,),
    )


def load_summary(account: Account, *, now: datetime) -> dict[str, Any]:
    """Return the context of the data service page. Five queries, no chain access.

    `terms` are the best of the plan and the wallets: those of the account's API keys.
    """
    wallets = list_wallets(account, now=now)
    plan = wallets[0].account_plan if wallets else Plan.objects.current(now).filter(account=account).first()
    account_terms = terms.apply_plans(plan, tier=FREE)
    agreed = terms.best_terms([account_terms, *map(terms.wallet_terms, wallets)])
    terms_of_tiers = {row.tier: row for row in TierTerms.objects.all()}
    tiers: list[dict[str, Any]] = [
        {
            "tier": tier,
            "tier_terms": terms_of_tiers.get(tier.name) or TierTerms(tier=tier.name, priority="standard"),
            "rate": RATE_LABELS[tier.rate],
            "is_ours": tier == agreed.tier,
        }
        for tier in TIERS.values()
    ]
    for row in tiers:
        row["priority"] = PRIORITY_LABELS[row["tier_terms"].priority]
    ours = tiers[agreed.tier.rank]
    tier_terms: TierTerms = ours["tier_terms"]
    addresses = [wallet.address for wallet in wallets]
    return {
        "wallets": [wallet_row(wallet) for wallet in wallets],
        "terms": agreed,
        "plan": plan,
        "tier_terms": tier_terms,
        "rate": ours["rate"],
        "priority": ours["priority"],
        "sla": (plan.sla if plan and agreed.plan == plan.pk else "") or tier_terms.sla,
        "tiers": tiers,
        "prices": price_rows(agreed, now=now),
        "sessions": sessions.list_open_sessions(addresses, now=now) if addresses else [],
    }


def wallet_row(wallet: Wallet) -> dict[str, Any]:
    """Return a wallet with its terms, the next tier, and what is missing for it, or None if that is no way to it."""
    agreed = terms.wallet_terms(wallet)
    above = next((tier for tier in TIERS.values() if tier > agreed.tier), None)
    return {
        "wallet": wallet,
        "terms": agreed,
        "next_tier": above,
        "missing_usd": max(Decimal(0), above.from_usd - wallet.holdings_usd) if above and above.from_usd else None,
        "missing_stake": max(Decimal(0), above.from_stake - wallet.staked) if above and above.from_stake else None,
    }


def price_rows(agreed: Terms, *, now: datetime) -> list[dict[str, Any]]:
    """Return the products with their prices: standard, and for the account; None if one is not for sale."""
    amounts = price_list.current_prices(now=now)
    rows = []
    for product in Product.objects.order_by("slug"):
        rates = amounts.get(product.slug, {})
        standard = rates.get(FREE.rate)
        ours = price_list.apply_factor(agreed, rates.get(agreed.tier.rate))
        rows.append(
            {
                "product": product,
                "standard": standard,
                "ours": ours,
                "is_open": agreed.tier >= TIERS[product.from_tier],
                "percent_off": int((1 - ours / standard) * 100) if standard and ours is not None else None,
            }
        )
    return rows

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
from payments.tiers.definitions import FREE, TIERS, Tier
from payments.tiers.terms import Terms

# The products that are sold per set of files, not per call: the pages of exports have their prices.
EXPORT_PREFIX = "export_"
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
            "is_ours": tier == agreed.tier,
        }
        for tier in TIERS.values()
    ]
    for row in tiers:
        row["priority"] = PRIORITY_LABELS[row["tier_terms"].priority]
    ours = tiers[agreed.tier.rank]
    tier_terms: TierTerms = ours["tier_terms"]
    addresses = [wallet.address for wallet in wallets]
    prices = price_rows(agreed, now=now)
    return {
        "wallets": [wallet_row(wallet) for wallet in wallets],
        "terms": agreed,
        "plan": plan,
        "tier_terms": tier_terms,
        "priority": ours["priority"],
        "sla": (plan.sla if plan and agreed.plan == plan.pk else "") or tier_terms.sla,
        "tiers": tiers,
        "prices": prices,
        "our_prices": sorted(price["ours"] for price in prices if price["is_open"] and price["ours"] is not None),
        "open_products": [price["product"].name for price in prices if price["is_open"] and price["ours"] is not None],
        "next": describe_next_tier(agreed, prices, wallets),
        "sessions": sessions.list_open_sessions(addresses, now=now) if addresses else [],
    }


def next_tier(tier: Tier) -> Tier | None:
    return next((each for each in TIERS.values() if each > tier), None)


def describe_missing(wallet: Wallet | None, tier: Tier | None) -> dict[str, Decimal | None]:
    """Return what a wallet lacks for a tier, in USD of the token and in staked tokens; None: not that way."""
    held, staked = (wallet.holdings_usd, wallet.staked) if wallet else (Decimal(0), Decimal(0))
    return {
        "missing_usd": max(Decimal(0), tier.from_usd - held) if tier and tier.from_usd else None,
        "missing_stake": max(Decimal(0), tier.from_stake - staked) if tier and tier.from_stake else None,
    }


def describe_next_tier(agreed: Terms, prices: list[dict[str, Any]], wallets: list[Wallet]) -> dict[str, Any] | None:
    """Return what the tier after the account's brings, and what its best wallet lacks for it. None at the highest."""
    above = next_tier(agreed.tier)
    if above is None:
        return None
    # A plan can have lower prices than the next tier.
    ours = [(price["ours"], price["cells"][above.rank]["amount"]) for price in prices if price["is_open"]]
    savings = [int((1 - next_price / our_price) * 100) for our_price, next_price in ours if our_price and next_price]
    # What the next tier opens is compared with the list price, as in the table below.
    opened = [cell for price in prices if not price["is_open"] and (cell := price["cells"][above.rank])["is_open"]]
    savings += [cell["percent_off"] for cell in opened]
    return {
        "tier": above,
        "percent_off": max(savings, default=0),
        "opens": [price["product"].name for price in prices if price["product"].from_tier == above.name],
        **describe_missing(wallets[0] if wallets else None, above),
    }


def wallet_row(wallet: Wallet) -> dict[str, Any]:
    """Return a wallet with its terms, the next tier, and what is missing for it, or None if that is no way to it."""
    agreed = terms.wallet_terms(wallet)
    above = next_tier(agreed.tier)
    return {"wallet": wallet, "terms": agreed, "next_tier": above, **describe_missing(wallet, above)}


def price_rows(agreed: Terms, *, now: datetime) -> list[dict[str, Any]]:
    """Return the products that are sold per call with their prices: for the account, and in each tier.

    A price is None if the product is not for sale at that rate. Two queries.
    """
    amounts = price_list.current_prices(now=now)
    rows = []
    for product in Product.objects.exclude(slug__startswith=EXPORT_PREFIX):
        rates = amounts.get(product.slug, {})
        standard = rates.get(FREE.rate)
        ours = price_list.apply_factor(agreed, rates.get(agreed.tier.rate))
        from_tier = TIERS[product.from_tier]
        cells = []
        for tier in TIERS.values():
            is_ours = tier == agreed.tier
            amount = ours if is_ours else rates.get(tier.rate)
            off = int((1 - amount / standard) * 100) if standard and amount is not None else 0
            cells.append(
                {"tier": tier, "amount": amount, "percent_off": off, "is_open": tier >= from_tier, "is_ours": is_ours}
            )
        rows.append(
            {
                "product": product,
                "ours": ours,
                "is_open": agreed.tier >= from_tier,
                "from_tier": from_tier,
                "cells": cells,
            }
        )
    return sorted(rows, key=lambda row: (row["from_tier"].rank, row["product"].slug))

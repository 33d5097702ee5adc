"""An account's data service: linked wallets as last read, the resulting terms, its plan and its prices."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from accounts.models import Account
from payments.identity import caller, caller_profile, sessions
from payments.identity.caller import By, Caller
from payments.identity.caller_profile import Held
from payments.models import Plan, Product, TierTerms, Wallet, WalletSession
from payments.pricing import price_list
from payments.tiers import terms
from payments.tiers.definitions import FREE, TIERS, Tier
from payments.tiers.terms import STANDARD, Terms


@dataclass(frozen=True, slots=True)
class NextTier:
    """What is missing for the next tier: USD of the token, or staked tokens; None if not possible that way."""

    tier: Tier
    missing_usd: Decimal | None
    missing_stake: Decimal | None


@dataclass(frozen=True, slots=True)
class WalletRow:
    """A linked wallet; `address` is in lower case, `next` is None for the highest tier."""

    address: str
    holding: Held
    next: NextTier | None


@dataclass(frozen=True, slots=True)
class TierRow:
    """A tier with its terms."""

    tier: Tier
    promised: TierTerms
    is_ours: bool


@dataclass(frozen=True, slots=True)
class PriceRow:
    """The prices of a product: standard, and for the account; None if it is not for sale."""

    product: Product
    standard: Decimal | None
    ours: Decimal | None
    is_open: bool

    @property
    def percent_off(self) -> int | None:
        """The discount to the standard price in whole percent; None without both prices."""
        if self.standard is None or self.ours is None:
            return None
        return int((1 - self.ours / self.standard) * 100)


@dataclass(frozen=True, slots=True)
class Portfolio:
    """The data service of an account. `terms` are the best of the plan and the wallets."""

    wallets: tuple[WalletRow, ...]
    terms: Terms
    plan: Plan | None
    promised: TierTerms
    sla: str
    tiers: tuple[TierRow, ...]
    prices: tuple[PriceRow, ...]
    sessions: tuple[WalletSession, ...]

    @property
    def addresses(self) -> tuple[str, ...]:
        """The wallet addresses in lower case."""
        return tuple(wallet.address for wallet in self.wallets)


def addresses_of(account: Account) -> list[str]:
    """The wallet addresses of an account in lower case. One query."""
    return list(Wallet.objects.filter(account=account).order_by("address").values_list("address", flat=True))


def wallets_of(account: Account, *, now: datetime) -> list[Wallet]:
    """The wallets of an account `with_plan`, the best first, as last read. One query, no chain access."""
    found = Wallet.objects.with_plan(now).filter(account=account)
    return sorted(found, key=lambda wallet: (-terms.of_wallet(wallet).tier.rank, wallet.address))


def caller_of(wallet: Wallet, account: Account) -> Caller:
    """Return the caller for requests with one of the account's wallets (loaded `with_plan`), on its terms."""
    return Caller(
        bucket=caller.account_bucket(account.pk),
        terms=terms.of_wallet(wallet),
        wallet=wallet.address,
        wallets=frozenset({wallet.address}),
        account=account.pk,
        by=By.KEY,
        known=(wallet,),
    )


def terms_of(account: Account, wallets: list[Wallet], *, now: datetime) -> tuple[Terms, Plan | None]:
    """Return the terms of the account's API keys from these wallets (of `wallets_of`), and its plan.

    No query with wallets, one without.
    """
    plan = wallets[0].account_plan if wallets else Plan.objects.current(now).filter(account=account).first()
    by_account = terms.by_plan(plan, tier=FREE) if plan else STANDARD
    return terms.best([by_account, *map(terms.of_wallet, wallets)]), plan


def of(account: Account, *, now: datetime) -> Portfolio:
    """Return the account's data service. Five queries, no chain access."""
    wallets = wallets_of(account, now=now)
    agreed, plan = terms_of(account, wallets, now=now)
    promised = {row.tier: row for row in TierTerms.objects.all()}
    tier_rows = tuple(
        TierRow(tier, promised.get(tier.name) or TierTerms(tier=tier.name, priority="standard"), tier == agreed.tier)
        for tier in TIERS.values()
    )
    ours = next(row.promised for row in tier_rows if row.is_ours)
    return Portfolio(
        wallets=tuple(_wallet_row(wallet) for wallet in wallets),
        terms=agreed,
        plan=plan,
        promised=ours,
        sla=(plan.sla if plan and agreed.plan == plan.pk else "") or ours.sla,
        tiers=tier_rows,
        prices=_price_rows(agreed, price_list.current(now=now)),
        sessions=tuple(sessions.open_of([wallet.address for wallet in wallets], now=now)) if wallets else (),
    )


def _wallet_row(wallet: Wallet) -> WalletRow:
    held = caller_profile.held(wallet)
    above = next((tier for tier in TIERS.values() if tier > held.tier), None)
    if above is None:
        return WalletRow(wallet.address, held, None)
    by_usd = None if above.from_usd is None else max(Decimal(0), above.from_usd - held.holdings_usd)
    by_stake = None if above.from_stake is None else max(Decimal(0), above.from_stake - held.staked)
    return WalletRow(wallet.address, held, NextTier(above, by_usd, by_stake))


def _price_rows(agreed: Terms, amounts: Mapping[str, Mapping[str, Decimal]]) -> tuple[PriceRow, ...]:
    rows = []
    for product in Product.objects.order_by("slug"):
        rates = amounts.get(product.slug, {})
        is_open = agreed.tier >= TIERS[product.from_tier]
        rows.append(
            PriceRow(product, rates.get(FREE.rate), price_list.on(agreed, rates.get(agreed.tier.rate)), is_open)
        )
    return tuple(rows)

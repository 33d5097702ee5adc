"""An account's data service: linked wallets as last read, the resulting terms, its plan and its prices."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from accounts.models import Account
from payments.identity import sessions
from payments.identity.caller import Caller, IdentifiedBy, account_bucket
from payments.models import Plan, Product, TierTerms, Wallet, WalletSession
from payments.pricing import price_list
from payments.tiers import terms
from payments.tiers.definitions import FREE, TIERS, Tier
from payments.tiers.terms import STANDARD, Terms


@dataclass(frozen=True, slots=True)
class WalletRow:
    """A linked wallet with its terms, the next tier, and what is missing for it.

    `missing_usd` of the token and `missing_stake` are None if the tier cannot be reached that way.
    """

    wallet: Wallet
    terms: Terms
    next_tier: Tier | None = None
    missing_usd: Decimal | None = None
    missing_stake: Decimal | None = None


@dataclass(frozen=True, slots=True)
class TierRow:
    """A tier with its terms."""

    tier: Tier
    tier_terms: TierTerms
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
class AccountSummary:
    """The data service of an account. `terms` are the best of the plan and the wallets."""

    wallets: tuple[WalletRow, ...]
    terms: Terms
    plan: Plan | None
    tier_terms: TierTerms
    sla: str
    tiers: tuple[TierRow, ...]
    prices: tuple[PriceRow, ...]
    sessions: tuple[WalletSession, ...]

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(row.wallet.address for row in self.wallets)


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


def load_terms(account: Account, wallets: list[Wallet], *, now: datetime) -> tuple[Terms, Plan | None]:
    """Return the terms of the account's API keys from these wallets (of `wallets_of`), and its plan.

    No query with wallets, one without.
    """
    plan = wallets[0].account_plan if wallets else Plan.objects.current(now).filter(account=account).first()
    account_terms = terms.apply_plans(plan, tier=FREE) if plan else STANDARD
    return terms.best_terms([account_terms, *map(terms.wallet_terms, wallets)]), plan


def load_summary(account: Account, *, now: datetime) -> AccountSummary:
    """Return the account's data service. Five queries, no chain access."""
    wallets = list_wallets(account, now=now)
    agreed, plan = load_terms(account, wallets, now=now)
    tier_terms = {row.tier: row for row in TierTerms.objects.all()}
    tier_rows = tuple(
        TierRow(tier, tier_terms.get(tier.name) or TierTerms(tier=tier.name, priority="standard"), tier == agreed.tier)
        for tier in TIERS.values()
    )
    ours = next(row.tier_terms for row in tier_rows if row.is_ours)
    return AccountSummary(
        wallets=tuple(_wallet_row(wallet) for wallet in wallets),
        terms=agreed,
        plan=plan,
        tier_terms=ours,
        sla=(plan.sla if plan and agreed.plan == plan.pk else "") or ours.sla,
        tiers=tier_rows,
        prices=_price_rows(agreed, price_list.current_prices(now=now)),
        sessions=tuple(sessions.list_open_sessions([wallet.address for wallet in wallets], now=now))
        if wallets
        else (),
    )


def _wallet_row(wallet: Wallet) -> WalletRow:
    agreed = terms.wallet_terms(wallet)
    above = next((tier for tier in TIERS.values() if tier > agreed.tier), None)
    if above is None:
        return WalletRow(wallet, agreed)
    missing_usd = None if above.from_usd is None else max(Decimal(0), above.from_usd - wallet.holdings_usd)
    missing_stake = None if above.from_stake is None else max(Decimal(0), above.from_stake - wallet.staked)
    return WalletRow(wallet, agreed, above, missing_usd, missing_stake)


def _price_rows(agreed: Terms, amounts: Mapping[str, Mapping[str, Decimal]]) -> tuple[PriceRow, ...]:
    rows = []
    for product in Product.objects.order_by("slug"):
        rates = amounts.get(product.slug, {})
        is_open = agreed.tier >= TIERS[product.from_tier]
        rows.append(
            PriceRow(
                product, rates.get(FREE.rate), price_list.apply_factor(agreed, rates.get(agreed.tier.rate)), is_open
            )
        )
    return tuple(rows)

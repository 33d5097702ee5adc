"""What an account has at the data service: its wallets as they were last read, the terms that they give, its plan."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from accounts.models import Account
from payments.api import caller_profile
from payments.api.caller_profile import Held
from payments.identity import caller, sessions
from payments.identity.caller import By, Caller
from payments.models import Plan, Product, TierTerms, Wallet, WalletSession
from payments.pricing import price_list
from payments.tiers import terms
from payments.tiers.definitions import FREE, TIERS, Tier
from payments.tiers.terms import STANDARD, Terms


@dataclass(frozen=True, slots=True)
class Step:
    """What is missing to the next tier: dollars of the token, or whole tokens staked; None: no way."""

    tier: Tier
    missing_usd: Decimal | None
    missing_stake: Decimal | None


@dataclass(frozen=True, slots=True)
class Kept:
    """One linked wallet; `address` is in small letters, `next` None on the highest tier."""

    address: str
    held: Held
    next: Step | None


@dataclass(frozen=True, slots=True)
class Rung:
    """A tier as it is promised: what leads to it, what it gives."""

    tier: Tier
    promised: TierTerms
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Tag:
    """The price of a product: at the standard rate, and for the account; None where it is not sold so."""

    product: Product
    standard: Decimal | None
    ours: Decimal | None
    is_open: bool

    @property
    def percent_off(self) -> int | None:
        """How much less than the standard price, in whole percent; None where there is nothing to compare."""
        if self.standard is None or self.ours is None:
            return None
        return int((1 - self.ours / self.standard) * 100)


@dataclass(frozen=True, slots=True)
class Portfolio:
    """All of it. `terms` are the best of the plan's and the wallets'."""

    wallets: tuple[Kept, ...]
    terms: Terms
    plan: Plan | None
    promised: TierTerms
    sla: str
    ladder: tuple[Rung, ...]
    tags: tuple[Tag, ...]
    sessions: tuple[WalletSession, ...]

    @property
    def addresses(self) -> tuple[str, ...]:
        """Of the wallets, in small letters."""
        return tuple(kept.address for kept in self.wallets)


def addresses_of(account: Account) -> list[str]:
    """The wallets of an account, in small letters. One query."""
    return list(Wallet.objects.filter(account=account).order_by("address").values_list("address", flat=True))


def wallets_of(account: Account, *, now: datetime) -> list[Wallet]:
    """The wallets of an account `with_plan`, the best first, as they were last read. One query, and no chain."""
    found = Wallet.objects.with_plan(now).filter(account=account)
    return sorted(found, key=lambda wallet: (-terms.of_wallet(wallet).tier.rank, wallet.address))


def caller_of(wallet: Wallet, account: Account) -> Caller:
    """The account as one of its wallets, found `with_plan`, would call: on the terms of that wallet."""
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
    """On what terms the account's keys are served, by these wallets of `wallets_of`, and its plan.

    No query with wallets, one without.
    """
    plan = wallets[0].account_plan if wallets else Plan.objects.current(now).filter(account=account).first()
    by_account = terms.by_plan(plan, tier=FREE) if plan else STANDARD
    return terms.best([by_account, *map(terms.of_wallet, wallets)]), plan


def of(account: Account, *, now: datetime) -> Portfolio:
    """What the account has now. Five queries, and no trip to the chain."""
    wallets = wallets_of(account, now=now)
    agreed, plan = terms_of(account, wallets, now=now)
    promised = {row.tier: row for row in TierTerms.objects.all()}
    ladder = tuple(
        Rung(tier, promised.get(tier.name) or TierTerms(tier=tier.name, priority="standard"), tier == agreed.tier)
        for tier in TIERS.values()
    )
    ours = next(rung.promised for rung in ladder if rung.is_ours)
    return Portfolio(
        wallets=tuple(_kept(wallet) for wallet in wallets),
        terms=agreed,
        plan=plan,
        promised=ours,
        sla=(plan.sla if plan and agreed.plan == plan.pk else "") or ours.sla,
        ladder=ladder,
        tags=_tags(agreed, price_list.current(now=now)),
        sessions=tuple(sessions.open_of([wallet.address for wallet in wallets], now=now)) if wallets else (),
    )


def _kept(wallet: Wallet) -> Kept:
    held = caller_profile.held(wallet)
    above = next((tier for tier in TIERS.values() if tier > held.tier), None)
    if above is None:
        return Kept(wallet.address, held, None)
    by_usd = None if above.from_usd is None else max(Decimal(0), above.from_usd - held.holdings_usd)
    by_stake = None if above.from_stake is None else max(Decimal(0), above.from_stake - held.staked)
    return Kept(wallet.address, held, Step(above, by_usd, by_stake))


def _tags(agreed: Terms, amounts: Mapping[str, Mapping[str, Decimal]]) -> tuple[Tag, ...]:
    tags = []
    for product in Product.objects.order_by("slug"):
        rates = amounts.get(product.slug, {})
        is_open = agreed.tier >= TIERS[product.from_tier]
        tags.append(Tag(product, rates.get(FREE.rate), price_list.on(agreed, rates.get(agreed.tier.rate)), is_open))
    return tuple(tags)

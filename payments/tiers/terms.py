"""On what terms somebody is served: those of a tier, or what staff have agreed with them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from payments.models import Plan, TierTerms, Wallet
from payments.tiers.definitions import FREE, PRIORITIES, TIERS, Tier


@dataclass(frozen=True, slots=True)
class Rise:
    """The tier that a holding leads to once it has lasted, and the first moment at which it counts if it stays."""

    tier: Tier
    at: datetime


@dataclass(frozen=True, slots=True)
class Terms:
    """A tier, its rate of requests, and what the prices of its rate are multiplied with; `plan` has agreed on it."""

    tier: Tier
    per_minute: int
    factor: Decimal = Decimal(1)
    plan: UUID | None = None
    rise: Rise | None = None


def plain(tier: Tier, *, rise: Rise | None = None) -> Terms:
    """Those of the tier, which nobody had to agree on."""
    return Terms(tier=tier, per_minute=tier.per_minute, rise=rise)


STANDARD = plain(FREE)


def by_plan(*plans: Plan | None, tier: Tier, rise: Rise | None = None) -> Terms:
    """What plans give to somebody of this tier by holding: the best of them, by tier and then by price.

    A tier by holding above theirs stays, and so do its prices and rate.
    """
    best = max(filter(None, plans), key=lambda plan: (TIERS[plan.tier], -plan.price_factor), default=None)
    if best is None or TIERS[best.tier] < tier:
        return plain(tier, rise=rise)
    agreed = TIERS[best.tier]
    return Terms(
        tier=agreed,
        per_minute=best.per_minute or agreed.per_minute,
        factor=best.price_factor,
        plan=best.pk,
        rise=rise if rise and rise.tier > agreed else None,
    )


def worth(agreed: Terms) -> tuple[Tier, Decimal, int]:
    """By what terms are compared: the tier, then the price, then the rate."""
    return agreed.tier, -agreed.factor, agreed.per_minute


def best(several: Iterable[Terms]) -> Terms:
    """The best of those that hold for somebody, with the first rise among all of them to a tier above it."""
    agreed = sorted(several, key=worth, reverse=True)
    higher = [each.rise for each in agreed if each.rise and each.rise.tier > agreed[0].tier]
    return replace(agreed[0], rise=min(higher, key=lambda rise: rise.at, default=None))


def of_wallet(wallet: Wallet) -> Terms:
    """Those of a wallet that was found `with_plan`: by the last reading of its holding, and its plans. No query."""
    rise = Rise(tier=TIERS[wallet.rising_tier], at=wallet.rises_at) if wallet.rises_at else None
    return by_plan(wallet.own_plan, wallet.account_plan, tier=TIERS[wallet.tier], rise=rise)


def without_holding(wallet: Wallet) -> Terms:
    """Those of a wallet that was found `with_plan`, whatever it holds. No query."""
    return by_plan(wallet.own_plan, wallet.account_plan, tier=FREE)


def queue_of(tier: Tier) -> str:
    """The queue that takes the jobs of this tier. One query."""
    promised = TierTerms.objects.filter(pk=tier.name).first()
    return promised.priority if promised else PRIORITIES[tier.rank]

"""On what terms somebody is served: those of a tier, or what staff have agreed with them."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from payments.models import Plan, TierTerms
from payments.tiers import FREE, PRIORITIES, TIERS, Tier


@dataclass(frozen=True, slots=True)
class Terms:
    """A tier, its rate of requests, and what the prices of its rate are multiplied with; `plan` has agreed on it."""

    tier: Tier
    per_minute: int
    factor: Decimal = Decimal(1)
    plan: UUID | None = None


def plain(tier: Tier) -> Terms:
    """Those of the tier, which nobody had to agree on."""
    return Terms(tier=tier, per_minute=tier.per_minute)


STANDARD = plain(FREE)


def by_plan(plan: Plan | None, *, tier: Tier) -> Terms:
    """What a plan gives to somebody of this tier by holding; a higher tier stays, and so do its prices and rate."""
    if plan is None or TIERS[plan.tier] < tier:
        return plain(tier)
    agreed = TIERS[plan.tier]
    return Terms(tier=agreed, per_minute=plan.per_minute or agreed.per_minute, factor=plan.price_factor, plan=plan.pk)


def of_wallet(address: str, *, tier: Tier, now: datetime) -> Terms:
    """Those of the wallet at this address, of this tier by holding. One query."""
    return by_plan(Plan.objects.current(now).filter(wallet=address).first(), tier=tier)


def queue_of(tier: Tier) -> str:
    """The queue that takes the jobs of this tier. One query."""
    promised = TierTerms.objects.filter(pk=tier.name).first()
    return promised.priority if promised else PRIORITIES[tier.rank]

"""The access tiers of the data API, and what each of them gives (seed 001, "States and transitions" and "Limits")."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import total_ordering

from django.conf import settings


@total_ordering
@dataclass(frozen=True, slots=True)
class Tier:
    """What a caller of this tier gets; tiers are ordered by rank.

    `per_minute` calls; `from_usd` of the token held, None where holding does not lead here; `from_stake` whole tokens
    staked; `rate` is the kind of price that is paid. What else it promises is data: models.TierTerms.
    """

    name: str
    rank: int
    per_minute: int
    rate: str
    from_usd: Decimal | None = None
    from_stake: int | None = None

    def __lt__(self, other: "Tier") -> bool:
        return self.rank < other.rank


FREE = Tier(
    name="free",
    rank=0,
    per_minute=10,
    rate="standard",
    from_usd=Decimal(0),
)
PRO = Tier(
    name="pro",
    rank=1,
    per_minute=120,
    rate="discounted",
    from_usd=Decimal(100),
)
PREMIUM = Tier(
    name="premium",
    rank=2,
    per_minute=600,
    rate="best",
    from_usd=Decimal(1000),
    from_stake=settings.PREMIUM_STAKE,
)
ENTERPRISE = Tier(
    name="enterprise",
    rank=3,
    # Until staff agree on another rate by contract.
    per_minute=6_000,
    rate="committed",
    from_stake=settings.ENTERPRISE_STAKE,
)

# Also the names of the queues that take the jobs, the last one first (config/celery.py).
PRIORITIES = ("standard", "elevated", "priority", "dedicated")

TIERS: Mapping[str, Tier] = {tier.name: tier for tier in (FREE, PRO, PREMIUM, ENTERPRISE)}


def reached(*, holdings_usd: Decimal, staked: Decimal) -> Tier:
    """The highest tier that so much held (in USD) and so many whole tokens staked lead to."""
    found = FREE
    for tier in TIERS.values():
        by_holding = tier.from_usd is not None and holdings_usd >= tier.from_usd
        by_stake = tier.from_stake is not None and staked >= tier.from_stake
        if by_holding or by_stake:
            found = tier
    return found

"""The access tiers of the data API (seed 001, "States and transitions" and "Limits")."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import total_ordering
from typing import Any

from django.conf import settings

from payments.chain.evm import to_checksum_address
from payments.chain.networks import payment_network


@total_ordering
@dataclass(frozen=True, slots=True)
class Tier:
    """A tier; tiers are ordered by rank. What staff can edit of a tier is in models.TierTerms.

    `per_minute` requests; `from_usd` of the token held or `from_stake` whole tokens staked lead to it (None: not that
    way); `rate` is its column of the price list.
    """

    name: str
    rank: int
    per_minute: int
    rate: str
    from_usd: Decimal | None = None
    from_stake: int | None = None

    def __lt__(self, other: "Tier") -> bool:
        return self.rank < other.rank


FREE = Tier("free", rank=0, per_minute=10, rate="standard", from_usd=Decimal(0))
PRO = Tier("pro", rank=1, per_minute=120, rate="discounted", from_usd=Decimal(100))
PREMIUM = Tier(
    "premium", rank=2, per_minute=600, rate="best", from_usd=Decimal(1000), from_stake=settings.PREMIUM_STAKE
)
# A plan can agree on another rate limit.
ENTERPRISE = Tier("enterprise", rank=3, per_minute=6_000, rate="committed", from_stake=settings.ENTERPRISE_STAKE)

# Also the names of the Celery queues, lowest priority first (config/celery.py).
PRIORITIES = ("standard", "elevated", "priority", "dedicated")

# Of the token's contract, with an amount in the token's smallest unit (docs/settings.md, TOKEN_ADDRESS).
STAKE_FUNCTION = "stake(uint256)"

TIERS: Mapping[str, Tier] = {tier.name: tier for tier in (FREE, PRO, PREMIUM, ENTERPRISE)}


def describe_token() -> dict[str, Any] | None:
    """Return where the utility token is: its contract, which also stakes it, and its chain. None if there is none."""
    if not settings.TOKEN_ADDRESS:
        return None
    network = payment_network()
    return {
        "address": to_checksum_address(settings.TOKEN_ADDRESS),
        "network": network.caip2,
        "network_name": network.name,
        "chain_id": network.chain_id,
        "stake_function": STAKE_FUNCTION,
    }


def describe_requirements(tier: Tier) -> dict[str, Any]:
    """Return the holding in USD or the stake in whole tokens that leads to a tier; None: not that way."""
    return {"from_usd": None if tier.from_usd is None else f"{tier.from_usd:f}", "from_stake": tier.from_stake}


def describe_ways(tier: Tier) -> str:
    """Return a sentence about the holding or stake that leads to the tier; empty without a token."""
    token = describe_token()
    ways = [f"holding {tier.from_usd:f} USD worth"] if tier.from_usd else []
    ways += [f"staking {tier.from_stake}"] if tier.from_stake else []
    if token is None or not ways:
        return ""
    stake = f", whose contract stakes by {STAKE_FUNCTION}" if tier.from_stake else ""
    return f" It takes {' or '.join(ways)} of the token {token['address']} on {token['network']}{stake}."


def tier_for_holdings(*, holdings_usd: Decimal, staked: Decimal) -> Tier:
    """Return the highest tier for these holdings: USD of the token held, and whole tokens staked."""
    return max(
        tier
        for tier in TIERS.values()
        if (tier.from_usd is not None and holdings_usd >= tier.from_usd)
        or (tier.from_stake is not None and staked >= tier.from_stake)
    )

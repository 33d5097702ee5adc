"""The terms of a caller: those of the tier by holdings, or those of a plan; and saving and ending of plans."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db import IntegrityError, OperationalError, transaction
from psycopg.errors import DeadlockDetected, ExclusionViolation

from framework.errors import InvalidRequest
from payments.models import Plan, TierTerms, Wallet
from payments.tiers.definitions import FREE, PRIORITIES, TIERS, Tier


class PlansOverlap(InvalidRequest):
    """The wallet or account has another plan at that time."""


@dataclass(frozen=True, slots=True)
class PendingTier:
    """A higher tier that the holdings qualify for, and when it applies if they do not decrease."""

    tier: Tier
    at: datetime


@dataclass(frozen=True, slots=True)
class Terms:
    """A tier, requests a minute, and the factor of the prices; `plan` is the plan that they come from."""

    tier: Tier
    per_minute: int
    factor: Decimal = Decimal(1)
    plan: UUID | None = None
    pending_tier: PendingTier | None = None


def tier_terms(tier: Tier, *, pending_tier: PendingTier | None = None) -> Terms:
    return Terms(tier=tier, per_minute=tier.per_minute, pending_tier=pending_tier)


STANDARD = tier_terms(FREE)


def apply_plans(*plans: Plan | None, tier: Tier, pending_tier: PendingTier | None = None) -> Terms:
    """Return the terms of the best plan, by tier and then by price; those of `tier` if it is above the plan's tier."""
    best = max(filter(None, plans), key=lambda plan: (TIERS[plan.tier], -plan.price_factor), default=None)
    if best is None or TIERS[best.tier] < tier:
        return tier_terms(tier, pending_tier=pending_tier)
    agreed = TIERS[best.tier]
    return Terms(
        tier=agreed,
        per_minute=best.per_minute or agreed.per_minute,
        factor=best.price_factor,
        plan=best.pk,
        pending_tier=pending_tier if pending_tier and pending_tier.tier > agreed else None,
    )


def best_terms(several: Iterable[Terms]) -> Terms:
    """Return the best terms, by tier, price and rate, with the earliest pending tier above that tier."""
    agreed = sorted(several, key=lambda terms: (terms.tier, -terms.factor, terms.per_minute), reverse=True)
    pending = [terms.pending_tier for terms in agreed if terms.pending_tier]
    higher = [each for each in pending if each.tier > agreed[0].tier]
    return replace(agreed[0], pending_tier=min(higher, key=lambda each: each.at, default=None))


def wallet_terms(wallet: Wallet) -> Terms:
    """Return the terms of a wallet (loaded `with_plan`) by its last reading and its plans. No query."""
    pending = PendingTier(TIERS[wallet.pending_tier], wallet.pending_tier_at) if wallet.pending_tier_at else None
    return apply_plans(wallet.own_plan, wallet.account_plan, tier=TIERS[wallet.tier], pending_tier=pending)


def plan_terms(wallet: Wallet) -> Terms:
    """Return the terms of a wallet (loaded `with_plan`) by its plans only. No query."""
    return apply_plans(wallet.own_plan, wallet.account_plan, tier=FREE)


def job_queue(tier: Tier) -> str:
    """Return the queue for the jobs of a tier. One query."""
    row = TierTerms.objects.filter(pk=tier.name).first()
    return row.priority if row else PRIORITIES[tier.rank]


def save_plan(plan: Plan) -> None:
    """Save a validated plan. Raises PlansOverlap if a concurrent transaction has written an overlapping one."""
    try:
        with transaction.atomic():
            plan.save()
    except (IntegrityError, OperationalError) as error:
        # The exclusion constraint makes two concurrent inserts wait for each other: one is the deadlock victim.
        if not isinstance(error.__cause__, ExclusionViolation | DeadlockDetected):
            raise
        raise PlansOverlap("Somebody has just written another plan for that time.") from error


def end_plans(plans: Iterable[UUID], *, now: datetime) -> int:
    """End the plans that are in effect now, and return their number. One statement."""
    return Plan.objects.current(now).filter(pk__in=list(plans), valid_from__lt=now).update(valid_until=now)

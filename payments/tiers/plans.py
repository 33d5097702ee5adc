"""Saves and ends plans."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, OperationalError, transaction
from psycopg.errors import DeadlockDetected, ExclusionViolation

from framework.errors import InvalidRequest
from payments.models import Plan


class PlansOverlap(InvalidRequest):
    """The wallet or account has another plan at that time."""


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

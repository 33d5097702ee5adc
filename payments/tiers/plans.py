"""How plans begin and end: what staff have agreed on holds until then, and stays written down."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, OperationalError, transaction
from psycopg.errors import DeadlockDetected, ExclusionViolation

from framework.errors import InvalidRequest
from payments.models import Plan


class PlansOverlap(InvalidRequest):
    """Another plan of the same wallet or account holds at that time."""


def agree(plan: Plan) -> None:
    """Store a plan that was found in order. Raises PlansOverlap where somebody else was faster, or as fast."""
    try:
        with transaction.atomic():
            plan.save()
    except (IntegrityError, OperationalError) as error:
        # Two that are written at once wait for each other, each to learn whether it overlaps.
        if not isinstance(error.__cause__, ExclusionViolation | DeadlockDetected):
            raise
        raise PlansOverlap("Somebody has just written another plan for that time.") from error


def end(plans: Iterable[UUID], *, now: datetime) -> int:
    """End those of these plans that hold now; how many. One statement: others have ended, or not begun."""
    return Plan.objects.current(now).filter(pk__in=list(plans), valid_from__lt=now).update(valid_until=now)

"""How plans end: what staff have agreed on holds until then, and stays written down."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from payments.models import Plan


def end(plans: Iterable[UUID], *, now: datetime) -> int:
    """End those of these plans that hold now; how many. One statement: others have ended, or not begun."""
    return Plan.objects.current(now).filter(pk__in=list(plans), valid_from__lt=now).update(valid_until=now)

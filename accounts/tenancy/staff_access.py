"""The record of dashboards that our own staff opened, which their owners can read."""

from datetime import datetime

from django.db.models import QuerySet

from accounts.models import StaffAccess
from accounts.tenancy.permissions import Access

# The newest openings that a page lists.
MAX_SHOWN = 50


def record(access: Access, *, now: datetime) -> None:
    """Store that a user without a role opened the dashboard, once an hour (UTC). One statement."""
    if access.role is None:
        opening = StaffAccess(venue=access.venue, email=access.user.email, opened_at=now)
        StaffAccess.objects.bulk_create([opening], ignore_conflicts=True)


def list_newest(accesses: QuerySet[StaffAccess]) -> QuerySet[StaffAccess]:
    return accesses.select_related("venue").order_by("-opened_at", "-id")[:MAX_SHOWN]

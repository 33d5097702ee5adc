"""Which sandboxes have demo data."""

from datetime import datetime, timedelta
from typing import ClassVar
from zoneinfo import ZoneInfo

from django.db import models

from accounts.models.venues import Venue


class DemoData(models.Model):
    """The demo data of a sandbox (accounts.demo). A sandbox that never had any has no row."""

    # Today's orders and reservations are made around the present time, so some hours later they look abandoned.
    MAX_AGE: ClassVar[timedelta] = timedelta(hours=3)

    venue = models.OneToOneField(Venue, on_delete=models.CASCADE, primary_key=True, related_name="demo_data")
    filled_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was added, or last moved to the current day; empty: it was removed"
    )

    def __str__(self) -> str:
        return f"Demo data of {self.venue}"

    def is_current(self, now: datetime) -> bool:
        """Whether it is of the venue's current day, and at most MAX_AGE old."""
        if self.filled_at is None:
            return False
        zone = ZoneInfo(self.venue.timezone)
        is_same_day = self.filled_at.astimezone(zone).date() == now.astimezone(zone).date()
        return is_same_day and abs(now - self.filled_at) < self.MAX_AGE

"""When our own staff opened the dashboard of a venue."""

import pgtrigger
from django.db import models
from django.db.models.functions import TruncHour

from accounts.models.venues import Venue
from framework.public_ids import new_id


class StaffAccess(models.Model):
    """The first opening in an hour. Rows are only added, and deleted with the venue."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="staff_accesses", db_index=False)
    # Not a foreign key: the row outlives the user.
    email = models.EmailField()
    opened_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "staff accesses"
        constraints = [
            # Migrations run in settings.TIME_ZONE, which is UTC.
            models.UniqueConstraint("venue", "email", TruncHour("opened_at"), name="staff_access_once_an_hour")
        ]
        indexes = [models.Index(fields=["venue", "-opened_at"], name="staff_access_newest_of_venue")]
        triggers = [pgtrigger.Protect(name="staff_access_never_changes", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return f"{self.email} on {self.opened_at:%Y-%m-%d %H:%M}"

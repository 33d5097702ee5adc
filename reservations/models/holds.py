"""Holds: tables that are kept for somebody who has not reserved yet."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from accounts.models import Venue
from framework.public_ids import PublicId, new_id

PREFIX = "hold"
MAX_MINUTES = 15
DEFAULT_MINUTES = 10


class HoldQuerySet(models.QuerySet["Hold"]):
    def active(self, *, now: datetime) -> Self:
        """Those that have not expired. The rows of the others are deleted a little later."""
        return self.filter(expires_at__gt=now)


class Hold(models.Model):
    """Tables held for a party for some minutes.

    A hold that ended is deleted: it was released, has expired, or was turned into a reservation.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="holds", db_index=False)
    owner = models.CharField(max_length=64, help_text="Who made it, as an opaque text: limits count by it")
    date = models.DateField(help_text="In the venue's time zone")
    time = models.TimeField(help_text="In the venue's time zone")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    party_size = models.PositiveSmallIntegerField()
    area = models.ForeignKey(
        "reservations.Area", on_delete=models.SET_NULL, related_name="+", null=True, db_index=False
    )
    tables = ArrayField(models.CharField(max_length=20), default=list, help_text="Table names")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    objects = HoldQuerySet.as_manager()
    public_id = PublicId(PREFIX)

    class Meta:
        constraints = [
            models.CheckConstraint(name="hold_party_size_in_1_to_500", condition=Q(party_size__range=(1, 500))),
            models.CheckConstraint(name="hold_ends_after_it_starts", condition=Q(ends_at__gt=F("starts_at"))),
            models.CheckConstraint(name="hold_expires_after_creation", condition=Q(expires_at__gt=F("created_at"))),
        ]
        indexes = [
            models.Index(fields=["venue", "expires_at"], name="hold_by_venue_expiry"),
            models.Index(fields=["expires_at"], name="hold_by_expiry"),
        ]

    def __str__(self) -> str:
        return f"{self.party_size} on {self.date} at {self.time:%H:%M}"

"""Mail to guests that is to be sent: written in the transaction of what it tells of, sent by a worker."""

from django.db import models
from django.db.models import Q

from framework.public_ids import new_id
from reservations.models.reservations import Reservation


class Notice(models.Model):
    """One mail to one guest. Claimed through `leased_until`, tried until it is sent or given up."""

    class Kind(models.TextChoices):
        CONFIRMED = "confirmed", "confirmed"
        REQUESTED = "requested", "request received"
        WAITLISTED = "waitlisted", "added to the waiting list"
        OFFERED = "offered", "table offered"
        CANCELLED = "cancelled", "cancelled"
        PROOF = "proof", "confirm the booking"
        MOVED = "moved", "changed"
        REMINDER = "reminder", "reminder"

    class State(models.TextChoices):
        PENDING = "pending"
        SENT = "sent"
        FAILED = "failed"
        DROPPED = "dropped", "outdated"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    reservation = models.ForeignKey(Reservation, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=12, choices=Kind)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField()
    leased_until = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["reservation"], name="guest_is_reminded_once", condition=Q(kind="reminder")
            ),
            models.CheckConstraint(
                name="notice_says_when_it_was_sent",
                condition=Q(state="sent", sent_at__isnull=False) | (~Q(state="sent") & Q(sent_at__isnull=True)),
            ),
        ]
        indexes = [models.Index(fields=["next_try_at"], name="notice_due", condition=Q(state="pending"))]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.reservation}"

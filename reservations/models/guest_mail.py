"""The outbox of emails to guests."""

from django.db import models
from django.db.models import Q

from framework.public_ids import new_id
from reservations.models.reservations import Reservation


class GuestMail(models.Model):
    """One email to one guest, inserted in the transaction of the change and sent by reservations.mail.queue."""

    class Kind(models.TextChoices):
        CONFIRMED = "confirmed", "confirmed"
        REQUESTED = "requested", "request received"
        WAITLISTED = "waitlisted", "added to the waiting list"
        OFFERED = "offered", "table offered"
        CANCELLED = "cancelled", "cancelled"
        EMAIL_CONFIRMATION = "email_confirmation", "confirm the booking"
        CHANGED = "changed", "changed"
        REMINDER = "reminder", "reminder"

    class State(models.TextChoices):
        PENDING = "pending"
        SENT = "sent"
        FAILED = "failed"
        DROPPED = "dropped", "outdated"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    reservation = models.ForeignKey(Reservation, on_delete=models.CASCADE, related_name="guest_mails")
    kind = models.CharField(max_length=20, choices=Kind)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    leased_until = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["reservation"], name="guest_mail_one_reminder", condition=Q(kind="reminder")
            ),
            models.CheckConstraint(
                name="guest_mail_sent_at_if_sent",
                condition=Q(state="sent", sent_at__isnull=False) | (~Q(state="sent") & Q(sent_at__isnull=True)),
            ),
        ]
        indexes = [models.Index(fields=["next_attempt_at"], name="guest_mail_due", condition=Q(state="pending"))]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.reservation}"

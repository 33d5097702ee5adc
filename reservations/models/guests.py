"""The guests of a venue: emails to them, staff notes about them, and their bookings on the booking page."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models import Venue
from framework.public_ids import PublicId, new_id
from reservations.models.reservations import Reservation


class GuestMail(models.Model):
    """One email to one guest, inserted in the transaction of the change and sent by reservations.mail.queue."""

    class Kind(models.TextChoices):
        CONFIRMED = "confirmed", pgettext_lazy("email about a reservation", "confirmed")
        REQUESTED = "requested", _("request received")
        WAITLISTED = "waitlisted", _("added to the waiting list")
        OFFERED = "offered", _("table offered")
        CANCELLED = "cancelled", pgettext_lazy("email about a reservation", "cancelled")
        EMAIL_CONFIRMATION = "email_confirmation", _("confirm the booking")
        CHANGED = "changed", pgettext_lazy("email about a reservation", "changed")
        REMINDER = "reminder", _("reminder")

    class State(models.TextChoices):
        PENDING = "pending", pgettext_lazy("email", "Pending")
        SENT = "sent", pgettext_lazy("email", "Sent")
        FAILED = "failed", pgettext_lazy("email", "Failed")
        DROPPED = "dropped", pgettext_lazy("email", "outdated")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    reservation = models.ForeignKey(Reservation, on_delete=models.CASCADE, related_name="guest_mails")
    kind = models.CharField(max_length=20, choices=Kind)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    leased_until = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True, default="")
    former = models.JSONField(
        null=True, blank=True, help_text="Date, time and party size before the change that the email is about"
    )
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


class GuestProfile(models.Model):
    """Notes and tags of a guest. A guest without notes has no row (reservations.guests.profiles)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="guest_profiles")
    note = models.TextField(max_length=2000, blank=True, default="")
    tags = ArrayField(models.CharField(max_length=30), default=list, blank=True, help_text="Allergies, regular, VIP")
    merged_into = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="merged")
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="guest_profile_not_merged_into_itself",
                condition=Q(merged_into__isnull=True) | ~Q(merged_into=F("id")),
            )
        ]

    def __str__(self) -> str:
        return self.public_id

    public_id = PublicId("gst")


class GuestContact(models.Model):
    """A lower-case email address or a phone number of a guest profile."""

    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="+", db_index=False)
    profile = models.ForeignKey(GuestProfile, on_delete=models.CASCADE, related_name="contacts")
    address = models.CharField(max_length=254)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["venue", "address"], name="guest_contact_unique_per_venue")]

    def __str__(self) -> str:
        return f"contact {self.pk}"


class OnlineBooking(models.Model):
    """A submitted booking form. The primary key is the key of the form, so that a form books once."""

    form_key = models.UUIDField(primary_key=True, default=new_id, editable=False)
    reservation = models.OneToOneField(Reservation, on_delete=models.CASCADE, related_name="online_booking")
    content_hash = models.CharField(max_length=64, help_text="Hash of the submitted values")
    contact_hash = models.CharField(max_length=64, help_text="Keyed hash of the guest's email address or number")
    ip_hash = models.CharField(max_length=64, help_text="Keyed hash of the client's IP address")
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["contact_hash"], name="online_booking_by_contact"),
            models.Index(fields=["ip_hash", "created_at"], name="online_booking_by_ip"),
        ]

    def __str__(self) -> str:
        return str(self.reservation)

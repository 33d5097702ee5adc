"""Bookings made on the booking page, for deduplication and rate limits."""

from django.db import models

from framework.public_ids import new_id
from reservations.models.reservations import Reservation


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

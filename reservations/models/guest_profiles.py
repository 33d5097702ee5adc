"""What the staff of a venue know of a guest beyond the reservations."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from accounts.models import Venue
from framework.public_ids import encode, new_id


class Visitor(models.Model):
    """A guest of whom the staff have noted something. Who was merged into another is shown as that one.

    Guests without a row are known by their reservations alone (reservations.guests.profiles).
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="visitors")
    note = models.TextField(max_length=2000, blank=True, default="")
    tags = ArrayField(models.CharField(max_length=30), default=list, blank=True, help_text="Allergies, regular, VIP")
    merged_into = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="merged")
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="visitor_is_not_merged_into_itself",
                condition=Q(merged_into__isnull=True) | ~Q(merged_into=F("id")),
            )
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def public_id(self) -> str:
        """`gst_` and 26 letters."""
        return encode("gst", self.pk)


class Contact(models.Model):
    """A mail address in small letters, or a phone number, by which one guest of a venue is known."""

    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="+", db_index=False)
    visitor = models.ForeignKey(Visitor, on_delete=models.CASCADE, related_name="contacts")
    address = models.CharField(max_length=254)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["venue", "address"], name="contact_of_one_guest_of_a_venue")]

    def __str__(self) -> str:
        return f"contact {self.pk}"

"""Staff notes on the guests of a venue."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from accounts.models import Venue
from framework.public_ids import encode, new_id


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

    @property
    def public_id(self) -> str:
        return encode("gst", self.pk)


class GuestContact(models.Model):
    """A lower-case email address or a phone number of a guest profile."""

    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="+", db_index=False)
    profile = models.ForeignKey(GuestProfile, on_delete=models.CASCADE, related_name="contacts")
    address = models.CharField(max_length=254)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["venue", "address"], name="guest_contact_unique_per_venue")]

    def __str__(self) -> str:
        return f"contact {self.pk}"

"""Claims of restaurants by venues."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from accounts.models import Venue
from catalogue.models.restaurants import Restaurant
from framework.public_ids import PublicId, new_id


class RestaurantClaim(models.Model):
    """A venue says that a restaurant of the catalogue is its own; a code or our staff verify it (catalogue.claims)."""

    class Method(models.TextChoices):
        MAIL = "mail", "Code to the record's domain"
        STAFF = "staff", "Our staff"
        LISTING = "listing", "Listing by our staff"

    class State(models.TextChoices):
        CODE_SENT = "code_sent"
        OPEN = "open", "Waiting for staff"
        VERIFIED = "verified"
        REFUSED = "refused"
        ENDED = "ended"

    # Of these a venue has one at a time.
    CURRENT = (State.CODE_SENT, State.OPEN, State.VERIFIED)
    PENDING = (State.CODE_SENT, State.OPEN)

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, related_name="claims")
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="claims")
    method = models.CharField(max_length=10, choices=Method)
    state = models.CharField(max_length=10, choices=State)
    note = models.CharField(max_length=500, blank=True, help_text="What the claimant tells our staff")
    address = models.EmailField(max_length=254, blank=True, help_text="To which the code was sent")
    code_hash = models.CharField(max_length=64, blank=True, editable=False, help_text="Keyed hash; empty once used")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="With the last code")
    code_expires_at = models.DateTimeField(null=True, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=300, blank=True, help_text="Why it was refused or ended")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["restaurant"], condition=Q(state="verified"), name="unique_verified_claim_of_restaurant"
            ),
            models.UniqueConstraint(
                fields=["venue"],
                condition=Q(state__in=["code_sent", "open", "verified"]),
                name="unique_current_claim_of_venue",
            ),
            models.CheckConstraint(
                name="decided_claim_requires_timestamp",
                condition=Q(state__in=["code_sent", "open"], decided_at__isnull=True)
                | (~Q(state__in=["code_sent", "open"]) & Q(decided_at__isnull=False)),
            ),
        ]
        indexes = [models.Index(fields=["state", "created_at"], name="claim_oldest_of_state")]

    def __str__(self) -> str:
        return self.public_id

    public_id = PublicId("clm")

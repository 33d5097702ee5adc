"""What staff decide: possible duplicates, and reports of errors in the data."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import MD5

from catalogue.models.restaurants import Restaurant
from framework.public_ids import new_id


class MatchCandidate(models.Model):
    """Two similar restaurants; staff decide whether they are the same."""

    class State(models.TextChoices):
        OPEN = "open"
        MERGED = "merged"
        DISTINCT = "distinct"

    first = models.ForeignKey(Restaurant, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Restaurant, on_delete=models.CASCADE, related_name="+")
    score = models.FloatField(help_text="0 to 1")
    reasons = models.JSONField(default=dict, help_text="Similarities: name, address, phone, metres")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    found_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            # A fixed order, so that the pair is unique.
            models.CheckConstraint(name="match_candidate_ids_ordered", condition=Q(first__lt=F("second"))),
            models.UniqueConstraint(fields=["first", "second"], name="unique_match_candidate_pair"),
        ]
        indexes = [models.Index(fields=["state", "-score", "id"], name="match_candidate_by_score")]

    def __str__(self) -> str:
        return f"{self.first} / {self.second}"


class Report(models.Model):
    """A report of a reader that something is wrong."""

    class Kind(models.TextChoices):
        CLOSED = "closed"
        MOVED = "moved"
        HOURS_WRONG = "hours_wrong"
        PHONE_WRONG = "phone_wrong"
        ADDRESS_WRONG = "address_wrong"
        LOCATION_WRONG = "location_wrong"
        DUPLICATE = "duplicate"
        NOT_A_RESTAURANT = "not_a_restaurant"
        OTHER = "other"

    class State(models.TextChoices):
        OPEN = "open"
        APPLIED = "applied"
        DISMISSED = "dismissed"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, related_name="reports")
    kind = models.CharField(max_length=20, choices=Kind)
    text = models.CharField(max_length=1000, blank=True)
    same_as = models.ForeignKey(
        Restaurant, on_delete=models.CASCADE, null=True, blank=True, related_name="+", help_text="Of a duplicate"
    )
    contact = models.CharField(max_length=254, blank=True, help_text="Email address for questions")
    reporter = models.CharField(max_length=64, help_text="Hash of the origin, to count each reporter once")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "restaurant",
                "kind",
                "reporter",
                MD5("text"),
                "same_as",
                condition=Q(state="open"),
                name="unique_open_report",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                name="decided_report_requires_timestamp",
                condition=Q(state="open", decided_at__isnull=True) | (~Q(state="open") & Q(decided_at__isnull=False)),
            ),
        ]
        indexes = [models.Index(fields=["state", "created_at"], name="report_oldest_of_state")]

    def __str__(self) -> str:
        return self.get_kind_display()

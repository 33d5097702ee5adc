"""Possible duplicate restaurants."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from catalogue.models.restaurants import Restaurant


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
        return f"{self.first_id} / {self.second_id}"

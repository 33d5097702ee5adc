"""Generated texts about restaurants."""

from django.db import models
from django.db.models import Q

from catalogue.models.places import Restaurant


class Insight(models.Model):
    """What the reviews of a restaurant say, written by a provider, with the reviews that each claim cites."""

    restaurant = models.OneToOneField(Restaurant, on_delete=models.CASCADE, primary_key=True, related_name="insight")
    text = models.CharField(max_length=600)
    detail = models.JSONField(help_text="Best time, dishes, aspects, watch-outs, each with its citations")
    provider = models.CharField(max_length=40)
    provider_version = models.CharField(max_length=20)
    input_hash = models.CharField(max_length=64, help_text="SHA-256 of what it was written from")
    review_count = models.PositiveIntegerField(help_text="Reviews that it was written from")
    restaurant_review_count = models.PositiveIntegerField(help_text="What the restaurant counted then")
    reviews_through = models.DateTimeField(help_text="The newest of them")
    rating = models.FloatField(null=True, blank=True)
    generated_at = models.DateTimeField()
    failed_at = models.DateTimeField(
        null=True, blank=True, help_text="When the provider failed, if it has not written since"
    )
    hidden = models.BooleanField(default=False, help_text="Not served")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="insight_has_enough_reviews",
                condition=Q(review_count__gte=5) | Q(text=""),
                violation_error_message="Fewer than five reviews say too little.",
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]

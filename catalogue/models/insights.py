"""Generated texts about restaurants."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from catalogue.models.restaurants import Restaurant
from framework.public_ids import new_id


class Insight(models.Model):
    """What the reviews of a restaurant say, written by a provider, with the reviews that each claim cites."""

    restaurant = models.OneToOneField(Restaurant, on_delete=models.CASCADE, primary_key=True, related_name="insight")
    text = models.CharField(max_length=600)
    detail = models.JSONField(help_text="Best time, dishes, aspects, watch-outs, each with its citations")
    provider = models.CharField(max_length=40)
    provider_version = models.CharField(max_length=20)
    input_hash = models.CharField(max_length=64, help_text="SHA-256 of the input")
    review_count = models.PositiveIntegerField(help_text="Reviews used")
    restaurant_review_count = models.PositiveIntegerField(help_text="Review count of the restaurant at that time")
    reviews_through = models.DateTimeField(help_text="Newest review used")
    rating = models.FloatField(null=True, blank=True)
    generated_at = models.DateTimeField()
    failed_at = models.DateTimeField(
        null=True, blank=True, help_text="Last failure of the provider, if there was no success since"
    )
    is_outdated = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="The input has changed since",
    )
    hidden = models.BooleanField(default=False, help_text="Not served")
    model = models.CharField(max_length=80, blank=True, help_text="Model of the provider")
    cost_usd = models.DecimalField("cost in USD", max_digits=12, decimal_places=6, default=0)
    approved_at = models.DateTimeField(null=True, blank=True, help_text="When staff approved it")
    approved_by = models.CharField(max_length=150, blank=True)
    updated_at = models.DateTimeField(db_default=Now(), editable=False, help_text="Set by a trigger")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="insight_has_enough_reviews",
                condition=Q(review_count__gte=5) | Q(text=""),
                violation_error_message="Fewer than five reviews say too little.",
            ),
        ]
        indexes = [
            models.Index(fields=["provider"], condition=Q(approved_at=None) & ~Q(text=""), name="insight_not_approved")
        ]

    def __str__(self) -> str:
        return self.text[:80]


class InsightDemand(models.Model):
    """A restaurant whose insight somebody has asked for while there was none, or a stale one: it is written first."""

    restaurant = models.OneToOneField(
        Restaurant, on_delete=models.CASCADE, primary_key=True, related_name="insight_demand"
    )
    asked = models.PositiveIntegerField(default=1, help_text="How often")
    first_asked_at = models.DateTimeField()
    last_asked_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["-asked", "first_asked_at"], name="insight_demand_by_weight")]

    def __str__(self) -> str:
        return f"asked for {self.asked} times"


class InsightCall(models.Model):
    """One request to a provider that costs money, written before it is sent: its cost is taken off the day's budget.

    Until it has ended `cost_usd` is the most that it can cost; one whose worker died keeps that.
    """

    class Outcome(models.TextChoices):
        ASKED = "asked", "no response yet"
        WRITTEN = "written"
        REFUSED = "refused", "the model declined"
        REJECTED = "rejected", "text not supported by the reviews"
        FAILED = "failed", "no response, or an invalid one"
        DROPPED = "dropped", "the reviews or the insight changed in the meantime"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, related_name="insight_calls")
    provider = models.CharField(max_length=40)
    provider_version = models.CharField(max_length=20, default="")
    model = models.CharField(max_length=80)
    input_hash = models.CharField(max_length=64, default="", help_text="SHA-256 of the input")
    outcome = models.CharField(max_length=10, choices=Outcome, default=Outcome.ASKED)
    reason = models.CharField(max_length=500, blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost_usd = models.DecimalField("cost in USD", max_digits=12, decimal_places=6)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="insight_call_outcome_is_known",
                condition=Q(outcome__in=["asked", "written", "refused", "rejected", "failed", "dropped"]),
            ),
            models.CheckConstraint(name="insight_call_costs_no_less_than_nothing", condition=Q(cost_usd__gte=0)),
            models.CheckConstraint(
                name="an_insight_call_that_ended_says_when",
                condition=Q(outcome="asked", ended_at__isnull=True) | ~Q(outcome="asked") & Q(ended_at__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["restaurant"],
                name="one_open_insight_call_of_a_restaurant",
                condition=Q(outcome="asked"),
            ),
        ]
        indexes = [
            models.Index(fields=["started_at"], name="insight_call_by_day"),
            models.Index(fields=["restaurant", "-started_at"], name="insight_call_of_restaurant"),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.model}: {self.outcome}"

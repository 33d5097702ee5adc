"""Where staff word what a tier promises."""

from django.contrib import admin
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.http import HttpRequest

from payments.models import TierTerms
from payments.tiers.definitions import TIERS


@admin.register(TierTerms)
class TierTermsAdmin(admin.ModelAdmin[TierTerms]):
    """Support, priority and service level of the four tiers; their rates and prices stand elsewhere."""

    list_display = ["tier", "support", "priority", "sla", "per_minute", "rate"]
    sortable_by = ()
    fieldsets = [
        (
            None,
            {
                "fields": ["tier", "support", "priority", "sla"],
                "description": "Callers read this at /v1/me, each of the tier that they have. The priority is the "
                "queue that takes their exports, and holds for those that are asked for from now on. A plan may have "
                "words of its own on the service level.",
            },
        ),
        ("Fixed", {"fields": ["per_minute", "rate"]}),
    ]
    readonly_fields = ["tier", "per_minute", "rate"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[TierTerms]:
        """From the lowest tier to the highest."""
        ranks = [When(tier=name, then=Value(tier.rank)) for name, tier in TIERS.items()]
        return super().get_queryset(request).order_by(Case(*ranks, output_field=IntegerField()))

    @admin.display(description="Requests a minute")
    def per_minute(self, terms: TierTerms) -> int:
        """Without a plan."""
        return TIERS[terms.tier].per_minute

    @admin.display(description="Rate of prices")
    def rate(self, terms: TierTerms) -> str:
        """Which column of the price list."""
        return TIERS[terms.tier].rate

    def has_add_permission(self, request: HttpRequest) -> bool:
        """The tiers are those of the contract."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: TierTerms | None = None) -> bool:
        """The tiers are those of the contract."""
        return False

"""The admin of tier terms."""

from django.contrib import admin
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.http import HttpRequest

from payments.models import TierTerms
from payments.tiers.definitions import TIERS


@admin.register(TierTerms)
class TierTermsAdmin(admin.ModelAdmin[TierTerms]):
    """Support, priority and service level of the four tiers, which are fixed."""

    list_display = ["tier", "support", "priority", "sla", "per_minute", "rate"]
    sortable_by = ()
    fieldsets = [
        (
            None,
            {
                "fields": ["tier", "support", "priority", "sla"],
                "description": "API clients see the terms of their tier at /v1/me. The priority is the queue of their "
                "exports; a change applies to new exports. A plan can have its own service-level agreement.",
            },
        ),
        ("Fixed", {"fields": ["per_minute", "rate"]}),
    ]
    readonly_fields = ["tier", "per_minute", "rate"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[TierTerms]:
        ranks = [When(tier=name, then=Value(tier.rank)) for name, tier in TIERS.items()]
        return super().get_queryset(request).order_by(Case(*ranks, output_field=IntegerField()))

    @admin.display(description="Requests a minute")
    def per_minute(self, terms: TierTerms) -> int:
        return TIERS[terms.tier].per_minute

    @admin.display(description="Price rate")
    def rate(self, terms: TierTerms) -> str:
        return TIERS[terms.tier].rate

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: TierTerms | None = None) -> bool:
        return False

"""The admin of plans, which are custom terms for a wallet or an account, and of the terms of the tiers."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from framework.admin.action_confirmation import confirmed_action
from framework.admin.badges import badge
from framework.admin.domain_error_forms import DomainErrorAdmin, DomainErrorForm
from framework.admin.large_tables import LargeTableAdmin
from framework.admin.list_filters import option_filter
from payments.admin.columns import AddressSearch, report_changes, short_with_title
from payments.formatting import format_amount
from payments.models import Plan, TierTerms
from payments.tiers import terms
from payments.tiers.definitions import TIERS

# The terms of a plan that has started are read-only.
TERMS = ["wallet", "account", "tier", "per_minute", "price_factor", "valid_from"]


class PlanForm(DomainErrorForm):
    """A plan. Its end cannot be set to a past time."""

    class Meta:
        model = Plan
        fields = [
            *("name", "wallet", "account", "tier", "per_minute", "price_factor", "sla"),
            *("valid_from", "valid_until", "note"),
        ]

    def clean_valid_until(self) -> Any:
        until = self.cleaned_data["valid_until"]
        if until is not None and "valid_until" in self.changed_data and until < timezone.now():
            raise forms.ValidationError(
                "This time is in the past. To end a plan now, use the list action “End the selected plans now”."
            )
        return until


@admin.register(Plan)
class PlanAdmin(AddressSearch, DomainErrorAdmin, LargeTableAdmin):
    """Plans. A plan that has started can only be ended; its terms are replaced by a new plan."""

    form = PlanForm
    empty_hint = "“Add plan” creates custom terms for a wallet or an account."
    list_display = ["name", "state", "customer", "tier", "rate", "period"]
    sortable_by = None
    # There are few rows: exact counts are cheap.
    paginator = Paginator
    list_select_related = ["account"]
    list_filter = [
        option_filter(
            "time",
            "time",
            {
                "current": ("Current", lambda rows: rows.current(timezone.now())),
                "upcoming": ("Upcoming", lambda rows: rows.filter(valid_from__gt=timezone.now())),
                "ended": ("Ended", lambda rows: rows.filter(valid_until__lte=timezone.now())),
            },
        ),
        "tier",
    ]
    search_fields = ["name", "account__name__unaccent", "wallet__address__startswith"]
    search_help_text = "Part of the plan's or the account's name, or the beginning of the wallet address"
    autocomplete_fields = ["wallet", "account"]
    ordering = ["-valid_from", "-pk"]
    actions = ["end"]
    fieldsets = [
        (None, {"fields": ["name", "wallet", "account"], "description": "Select a wallet or an account, not both."}),
        ("Terms", {"fields": ["tier", "per_minute", "price_factor", "sla"]}),
        ("Period (UTC)", {"fields": ["valid_from", "valid_until"]}),
        (None, {"fields": ["note"]}),
    ]

    @admin.display(description="Customer", ordering="account")
    def customer(self, plan: Plan) -> str:
        return str(plan.account) if plan.account else short_with_title(plan.wallet_id or "")

    @admin.display(description="Requests a minute, price factor")
    def rate(self, plan: Plan) -> str:
        return f"{plan.per_minute or '-'}, {'-' if plan.price_factor is None else format_amount(plan.price_factor)}"

    @admin.display(description="Period (UTC)", ordering="valid_from")
    def period(self, plan: Plan) -> str:
        return f"{plan.valid_from:%Y-%m-%d} {f'to {plan.valid_until:%Y-%m-%d}' if plan.valid_until else 'with no end'}"

    @admin.display(description="State")
    def state(self, plan: Plan) -> SafeString:
        now = timezone.now()
        if plan.valid_from > now:
            return badge("upcoming", "info")
        is_current = plan.valid_until is None or plan.valid_until > now
        return badge("current", "good") if is_current else badge("ended", "soft")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"valid_from": timezone.now(), **super().get_changeform_initial_data(request)}

    def get_readonly_fields(self, request: HttpRequest, obj: Plan | None = None) -> list[str]:
        now = timezone.now()
        if obj is None or obj.valid_from > now:
            return []
        return [
            *TERMS,
            *(["name", "sla", "valid_until"] if obj.valid_until is not None and obj.valid_until <= now else []),
        ]

    def has_delete_permission(self, request: HttpRequest, obj: Plan | None = None) -> bool:
        return obj is not None and obj.valid_from > timezone.now() and super().has_delete_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Plan, form: Any, change: bool) -> None:
        terms.save_plan(obj)

    @confirmed_action(
        "End the selected plans now",
        message="These plans end now. Their customers have the terms of their tier again.",
        confirm_label="End plans",
        applies_to=lambda plans: plans.current(timezone.now()),
    )
    def end(self, request: HttpRequest, queryset: QuerySet[Plan]) -> None:
        selected = list(queryset.values_list("pk", flat=True))
        ended = terms.end_plans(selected, now=timezone.now())
        unchanged = len(selected) - ended
        report_changes(self, request, ended, "ended.", unchanged=unchanged, reason="were not in effect.")


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
    def per_minute(self, row: TierTerms) -> int:
        return TIERS[row.tier].per_minute

    @admin.display(description="Price rate")
    def rate(self, row: TierTerms) -> str:
        return TIERS[row.tier].rate

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: TierTerms | None = None) -> bool:
        return False

"""Where staff write down what they have agreed with whom."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from framework.admin.domain_error_forms import RefusedForm, RefusedFormAdmin
from framework.admin.large_tables import LargeTableAdmin
from payments.admin.formats import in_short
from payments.models import Plan
from payments.pricing.price_changes import told
from payments.tiers import plans

# What callers were served on stays as it was.
AGREED = ["wallet", "account", "tier", "per_minute", "price_factor", "valid_from"]


class PlanForm(RefusedForm):
    """A plan. It is never said to have ended before now: it held until now."""

    class Meta:
        model = Plan
        fields = [
            "name",
            "wallet",
            "account",
            "tier",
            "per_minute",
            "price_factor",
            "sla",
            "valid_from",
            "valid_until",
            "note",
        ]

    def clean_valid_until(self) -> Any:
        """An end that is to come, or none."""
        until = self.cleaned_data["valid_until"]
        if until is not None and "valid_until" in self.changed_data and until < timezone.now():
            raise forms.ValidationError("This moment has passed: the action “End” of the list ends a plan now.")
        return until


class TimeFilter(admin.SimpleListFilter):
    """Plans that hold, that are to come, and that have ended."""

    title = "time"
    parameter_name = "time"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Three stretches of time."""
        return [("current", "Current"), ("coming", "To come"), ("ended", "Ended")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Those of the chosen stretch."""
        now = timezone.now()
        match self.value():
            case "current":
                return queryset.current(now)
            case "coming":
                return queryset.filter(valid_from__gt=now)
            case "ended":
                return queryset.filter(valid_until__lte=now)
        return queryset


@admin.register(Plan)
class PlanAdmin(RefusedFormAdmin, LargeTableAdmin):
    """Terms by contract. One that has begun is ended and followed by another; only its end and words are edited."""

    form = PlanForm
    nothing_yet = "“Add plan” writes down what was agreed with the owner of a wallet or an account."
    list_display = ["name", "whose", "is_current", "tier", "rate", "holds"]
    sortable_by = None
    # They are few: counted exactly.
    paginator = Paginator
    list_select_related = ["account"]
    list_filter = [TimeFilter, "tier"]
    search_fields = ["name", "account__name", "wallet__address__startswith"]
    search_help_text = "A part of its name or of the account's, or the beginning of the wallet's address"
    autocomplete_fields = ["wallet", "account"]
    ordering = ["-valid_from", "-pk"]
    actions = ["end"]
    fieldsets = [
        (None, {"fields": ["name", "wallet", "account"], "description": "Of a wallet or of an account, not of both."}),
        ("Terms", {"fields": ["tier", "per_minute", "price_factor", "sla"]}),
        ("Time, in UTC", {"fields": ["valid_from", "valid_until"]}),
        (None, {"fields": ["note"]}),
    ]

    @admin.display(description="Of", ordering="account")
    def whose(self, plan: Plan) -> str:
        """The account, or the wallet in short."""
        return str(plan.account) if plan.account else in_short(plan.wallet_id or "")

    @admin.display(description="A minute, and prices times")
    def rate(self, plan: Plan) -> str:
        """Requests a minute, and the factor of prices, where these were agreed."""
        return f"{plan.per_minute or '-'}, {'-' if plan.price_factor is None else told(plan.price_factor)}"

    @admin.display(description="Holds (UTC)", ordering="valid_from")
    def holds(self, plan: Plan) -> str:
        """From when to when."""
        return f"{plan.valid_from:%Y-%m-%d} {f'to {plan.valid_until:%Y-%m-%d}' if plan.valid_until else 'on'}"

    @admin.display(description="Current", boolean=True)
    def is_current(self, plan: Plan) -> bool:
        """Whether it holds now."""
        now = timezone.now()
        return plan.valid_from <= now and (plan.valid_until is None or plan.valid_until > now)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Plan], search_term: str
    ) -> tuple[QuerySet[Plan], bool]:
        """Addresses are kept in small letters, and names are found in any."""
        return super().get_search_results(request, queryset, search_term.lower())

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """From now on, unless somebody says otherwise."""
        return {"valid_from": timezone.now(), **super().get_changeform_initial_data(request)}

    def get_readonly_fields(self, request: HttpRequest, obj: Plan | None = None) -> list[str]:
        """What has begun has been served on; what has ended is history."""
        now = timezone.now()
        if obj is None or obj.valid_from > now:
            return []
        return [*AGREED, *(["name", "sla", "valid_until"] if has_ended(obj) else [])]

    def has_delete_permission(self, request: HttpRequest, obj: Plan | None = None) -> bool:
        """Only one that nobody was served on, from its own page."""
        return obj is not None and obj.valid_from > timezone.now() and super().has_delete_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Plan, form: Any, change: bool) -> None:
        """Store what was agreed."""
        plans.agree(obj)

    @admin.action(description="End the selected plans now", permissions=["change"])
    def end(self, request: HttpRequest, queryset: QuerySet[Plan]) -> None:
        """End those that hold, and say how many did not."""
        chosen = list(queryset.values_list("pk", flat=True))
        ended = plans.end(chosen, now=timezone.now())
        self.message_user(request, f"{ended} ended.", messages.SUCCESS if ended else messages.ERROR)
        if ended < len(chosen):
            self.message_user(request, f"{len(chosen) - ended} did not hold.", messages.ERROR)


def has_ended(plan: Plan) -> bool:
    """Whether it holds no more."""
    return plan.valid_until is not None and plan.valid_until <= timezone.now()

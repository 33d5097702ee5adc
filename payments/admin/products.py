"""The admin of products and prices."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminSplitDateTime
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.forms import BaseInlineFormSet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.api_keys.authentication import get_staff_actor
from framework.admin.action_confirmation import confirmed_action
from framework.admin.domain_error_forms import DomainErrorAdmin
from framework.admin.list_filters import option_filter
from framework.admin.read_only import ReadOnlyAdmin
from framework.errors import ApiError
from payments.admin.columns import Column, column, report_changes
from payments.formatting import format_amount, format_time
from payments.models import Price, Product
from payments.pricing import price_changes
from payments.pricing.price_changes import NewPrice
from payments.tiers.definitions import TIERS

CONFIRM_LABEL = "Confirm unusual price"
FIELDS = ["slug", "name", "description", "from_tier"]


class PriceForm(forms.ModelForm[Price]):
    valid_from = forms.SplitDateTimeField(
        label="Valid from (UTC)", required=False, widget=AdminSplitDateTime(), help_text="Empty: now"
    )
    is_confirmed = forms.BooleanField(label=CONFIRM_LABEL, required=False, help_text="Only if the form asks for it")

    class Meta:
        model = Price
        fields = ("rate", "amount_usdc", "valid_from")

    def _get_validation_exclusions(self) -> set[str]:
        # PriceFormSet.clean validates with payments.pricing.price_changes.
        return {field.name for field in Price._meta.get_fields()}

    def new_price(self) -> NewPrice:
        values = self.cleaned_data
        return NewPrice(rate=values["rate"], amount=values.get("amount_usdc"), valid_from=values.get("valid_from"))


class PriceFormSet(BaseInlineFormSet[Price, Product, forms.ModelForm[Price]]):
    """The new prices of one page, validated together."""

    def clean(self) -> None:
        super().clean()
        self.now = timezone.now()
        if any(self.errors) or self.instance._state.adding:
            return
        try:
            price_changes.validate_changes(
                self.instance, self.new_prices(), now=self.now, is_confirmed=self.is_confirmed()
            )
        except price_changes.ConfirmationRequired as required:
            raise ValidationError([*required.warnings, f"Select “{CONFIRM_LABEL}” to set it anyway."]) from required
        except ApiError as refusal:
            raise ValidationError(refusal.message) from refusal

    def new_prices(self) -> list[NewPrice]:
        return [form.new_price() for form in self.extra_forms if isinstance(form, PriceForm) and form.has_changed()]

    def is_confirmed(self) -> bool:
        return any(form.cleaned_data.get("is_confirmed") for form in self.extra_forms if form.has_changed())


class PriceInline(admin.TabularInline[Price, Product]):
    """All past, current and future prices, which are never changed or deleted: another one replaces a price."""

    model = Price
    form = PriceForm
    formset = PriceFormSet
    extra = 0
    fields = ["rate", "amount_usdc", "valid_from", "by", "created_at", "is_confirmed"]
    readonly_fields = ["by", "created_at"]
    ordering = ["rate", "-valid_from", "-pk"]
    verbose_name_plural = (
        "Prices: past, current and future. To change a price, add another; an empty amount ends the sale"
    )

    @admin.display(description=CONFIRM_LABEL)
    def is_confirmed(self, price: Price) -> str:
        return ""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def rate_column(rate: str) -> Column:
    @admin.display(description=rate.capitalize())
    def show(self: Any, product: Product) -> SafeString:
        return price_cell(product, rate)

    return show


@admin.register(Product)
class ProductAdmin(DomainErrorAdmin):
    """Products with minimum tier and prices; they are not deleted, for their price history."""

    list_display = ["name", "slug", "from_tier", "standard", "discounted", "best", "committed"]
    search_fields = ["slug", "name"]
    ordering = ["slug"]
    inlines = [PriceInline]
    show_full_result_count = False
    standard, discounted, best, committed = (rate_column(tier.rate) for tier in TIERS.values())

    def get_queryset(self, request: HttpRequest) -> QuerySet[Product]:
        return super().get_queryset(request).prefetch_related("prices")

    @admin.display(description="Current prices in USDC")
    def current_prices(self, product: Product) -> SafeString:
        rates = (
            (f"{tier.rate.capitalize()} ({name})", price_cell(product, tier.rate)) for name, tier in TIERS.items()
        )
        return format_html(
            '{}<a href="{}?product__slug__exact={}">All prices of this product</a>: '
            "future prices can be cancelled there.",
            format_html_join("", "{}: {}<br>", rates),
            reverse("admin:payments_price_changelist"),
            product.pk,
        )

    def get_fields(self, request: HttpRequest, obj: Product | None = None) -> Any:
        return [*FIELDS, "current_prices"] if obj else FIELDS

    def get_readonly_fields(self, request: HttpRequest, obj: Product | None = None) -> list[str]:
        # Payments and requests reference the slug.
        return ["slug", "current_prices"] if obj else ["current_prices"]

    def get_inlines(self, request: HttpRequest, obj: Product | None) -> list[Any]:
        return [PriceInline] if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Product | None = None) -> bool:
        return False

    def save_formset(
        self, request: HttpRequest, form: Any, formset: BaseInlineFormSet[Any, Any, Any], change: bool
    ) -> None:
        formset.save(commit=False)
        if isinstance(formset, PriceFormSet):
            formset.new_objects = price_changes.set_prices(
                form.instance,
                formset.new_prices(),
                by=get_staff_actor(request),
                now=formset.now,
                is_confirmed=formset.is_confirmed(),
            )


@admin.register(Price)
class PriceAdmin(ReadOnlyAdmin):
    sortable_by = None
    # There are few rows: exact counts are cheap.
    paginator = Paginator
    list_display = ["product", "rate_label", "amount", "start", "by", "created_at"]
    list_select_related = ["product"]
    list_filter = [
        option_filter(
            "time",
            "time",
            {
                "started": ("In effect or past", lambda rows: rows.filter(valid_from__lte=timezone.now())),
                "upcoming": ("Future", lambda rows: rows.filter(valid_from__gt=timezone.now())),
            },
        ),
        *("rate", "product"),
    ]
    search_fields = ["product__slug", "by"]
    search_help_text = "Slug of the product, or user who set the price"
    ordering = ["-valid_from", "-pk"]
    actions = ["cancel_prices"]
    amount = column("amount_usdc", "USDC", format_amount, ordering="amount_usdc", empty="not sold")
    rate_label = column("rate", "Rate", str.capitalize, ordering="rate")

    @admin.display(description="From", ordering="valid_from")
    def start(self, price: Price) -> str:
        return f"{'from' if price.valid_from > timezone.now() else 'since'} {format_time(price.valid_from)}"

    @confirmed_action(
        "Cancel the selected future prices",
        message="These future prices are deleted. Prices that have started are kept.",
        confirm_label="Cancel prices",
        applies_to=lambda prices: prices.filter(valid_from__gt=timezone.now()),
    )
    def cancel_prices(self, request: HttpRequest, queryset: QuerySet[Price]) -> None:
        selected = list(queryset.values_list("pk", flat=True))
        cancelled = price_changes.cancel_prices(selected, now=timezone.now())
        unchanged, reason = len(selected) - cancelled, "have already started and were kept."
        report_changes(self, request, cancelled, "cancelled.", unchanged=unchanged, reason=reason)


def price_cell(product: Product, rate: str) -> SafeString:
    prices, now = product.prices.all(), timezone.now()
    upcoming = price_changes.upcoming(prices, rate, now)
    lines = ((format_amount(price.amount_usdc), format_time(price.valid_from)) for price in upcoming)
    current = format_amount(price_changes.amount_at(prices, rate, now))
    return format_html("{}{}", current, format_html_join("", "<br>{} from {}", lines))

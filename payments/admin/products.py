"""Products and prices in the back office."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
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
from framework.admin.domain_error_forms import DomainErrorAdmin
from framework.admin.read_only import ReadOnlyAdmin
from framework.errors import ApiError
from payments.models import Price, Product
from payments.pricing import price_changes
from payments.pricing.price_changes import NewPrice, Offered, moment_told, told
from payments.tiers.definitions import TIERS

CONFIRM_LABEL = "Confirm unusual price"
FIELDS = ["slug", "name", "description", "from_tier"]


class PriceForm(forms.ModelForm[Price]):
    """A new price."""

    valid_from = forms.SplitDateTimeField(
        label="Valid from (UTC)",
        required=False,
        widget=AdminSplitDateTime(),
        help_text="Empty: now",
    )
    is_sure = forms.BooleanField(label=CONFIRM_LABEL, required=False, help_text="Only if the form asks for it")

    class Meta:
        model = Price
        fields = ("rate", "amount_usdc", "valid_from")

    def _get_validation_exclusions(self) -> set[str]:
        """The formset validates with payments.pricing.price_changes."""
        return {field.name for field in Price._meta.get_fields()}

    def wanted(self) -> NewPrice:
        """Return the new price."""
        values = self.cleaned_data
        return NewPrice(rate=values["rate"], amount=values.get("amount_usdc"), valid_from=values.get("valid_from"))


class PriceForms(BaseInlineFormSet[Price, Product, forms.ModelForm[Price]]):
    """The new prices of one page, validated together."""

    def clean(self) -> None:
        """Validate with payments.pricing.price_changes."""
        super().clean()
        self.now = timezone.now()
        if any(self.errors) or self.instance._state.adding:
            return
        try:
            price_changes.check(self.instance, self.wanted(), now=self.now, is_sure=self.is_sure())
        except price_changes.Doubtful as doubtful:
            raise ValidationError([*doubtful.doubts, f"Select “{CONFIRM_LABEL}” to set it anyway."]) from doubtful
        except ApiError as refusal:
            raise ValidationError(refusal.message) from refusal

    def wanted(self) -> list[NewPrice]:
        """The prices to set."""
        return [form.wanted() for form in self.extra_forms if isinstance(form, PriceForm) and form.has_changed()]

    def is_sure(self) -> bool:
        """Whether the user confirmed unusual prices."""
        return any(form.cleaned_data.get("is_sure") for form in self.extra_forms if form.has_changed())


class PriceInline(admin.TabularInline[Price, Product]):
    """All past, current and future prices. A price is changed by adding another."""

    model = Price
    form = PriceForm
    formset = PriceForms
    extra = 0
    fields = ["rate", "amount_usdc", "valid_from", "by", "created_at", "is_sure"]
    readonly_fields = ["by", "created_at"]
    ordering = ["rate", "-valid_from", "-pk"]
    verbose_name_plural = (
        "Prices: past, current and future. To change a price, add another; an empty amount ends the sale"
    )

    @admin.display(description=CONFIRM_LABEL)
    def is_sure(self, price: Price) -> str:
        """Empty for existing prices."""
        return ""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Prices are kept for the audit trail."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Prices are kept for the audit trail."""
        return False


@admin.register(Product)
class ProductAdmin(DomainErrorAdmin):
    """Products with minimum tier and prices."""

    list_display = ["name", "slug", "from_tier", "standard", "discounted", "best", "committed"]
    search_fields = ["slug", "name"]
    ordering = ["slug"]
    inlines = [PriceInline]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Product]:
        """Prefetch the prices."""
        return super().get_queryset(request).prefetch_related("prices")

    @admin.display(description="Standard")
    def standard(self, product: Product) -> SafeString:
        """The price for Free."""
        return cell(product, "standard")

    @admin.display(description="Discounted")
    def discounted(self, product: Product) -> SafeString:
        """The price for Pro."""
        return cell(product, "discounted")

    @admin.display(description="Best")
    def best(self, product: Product) -> SafeString:
        """The price for Premium."""
        return cell(product, "best")

    @admin.display(description="Committed")
    def committed(self, product: Product) -> SafeString:
        """The price for Enterprise."""
        return cell(product, "committed")

    @admin.display(description="Current prices in USDC")
    def now(self, product: Product) -> SafeString:
        """The prices at the four rates, with a link to all prices."""
        rates = ((f"{tier.rate.capitalize()} ({name})", cell(product, tier.rate)) for name, tier in TIERS.items())
        return format_html(
            '{}<a href="{}?product__slug__exact={}">All prices of this product</a>: '
            "future prices can be cancelled there.",
            format_html_join("", "{}: {}<br>", rates),
            reverse("admin:payments_price_changelist"),
            product.pk,
        )

    def get_fields(self, request: HttpRequest, obj: Product | None = None) -> Any:
        """A new product has no prices yet."""
        return [*FIELDS, "now"] if obj else FIELDS

    def get_readonly_fields(self, request: HttpRequest, obj: Product | None = None) -> list[str]:
        """The slug is fixed: payments and requests reference it."""
        return ["slug", "now"] if obj else ["now"]

    def get_inlines(self, request: HttpRequest, obj: Product | None) -> list[Any]:
        """Prices can be added after the product is saved."""
        return [PriceInline] if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Product | None = None) -> bool:
        """Products are kept for their price history."""
        return False

    def save_formset(
        self, request: HttpRequest, form: Any, formset: BaseInlineFormSet[Any, Any, Any], change: bool
    ) -> None:
        """Add the new prices; unchanged ones are skipped."""
        formset.save(commit=False)
        if isinstance(formset, PriceForms):
            formset.new_objects = price_changes.change(
                form.instance,
                formset.wanted(),
                by=get_staff_actor(request),
                now=formset.now,
                is_sure=formset.is_sure(),
            )


class BegunFilter(admin.SimpleListFilter):
    """Filters current and future prices."""

    title = "time"
    parameter_name = "time"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The choices."""
        return [("begun", "In effect or past"), ("coming", "Future")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Filter by start time."""
        match self.value():
            case "begun":
                return queryset.filter(valid_from__lte=timezone.now())
            case "coming":
                return queryset.filter(valid_from__gt=timezone.now())
        return queryset


@admin.register(Price)
class PriceAdmin(ReadOnlyAdmin):
    """All prices, newest first."""

    sortable_by = None
    # They are few: counted exactly.
    paginator = Paginator
    list_display = ["product", "at_rate", "amount", "begins", "by", "created_at"]
    list_select_related = ["product"]
    list_filter = [BegunFilter, "rate", "product"]
    search_fields = ["product__slug", "by"]
    search_help_text = "Slug of the product, or user who set the price"
    ordering = ["-valid_from", "-pk"]
    actions = ["take_back"]

    @admin.display(description="Rate", ordering="rate")
    def at_rate(self, price: Price) -> str:
        """The rate."""
        return str(price.rate).capitalize()

    @admin.display(description="USDC", ordering="amount_usdc")
    def amount(self, price: Price) -> str:
        """Without trailing zeros."""
        return told(price.amount_usdc)

    @admin.display(description="From", ordering="valid_from")
    def begins(self, price: Price) -> str:
        """The start time."""
        moment = moment_told(price.valid_from)
        return f"from {moment}" if price.valid_from > timezone.now() else f"since {moment}"

    @admin.action(description="Cancel the selected future prices", permissions=["change"])
    def take_back(self, request: HttpRequest, queryset: QuerySet[Price]) -> None:
        """Delete future prices, and report those that have started."""
        chosen = list(queryset.values_list("pk", flat=True))
        cancelled = price_changes.take_back(chosen, now=timezone.now())
        self.message_user(request, f"{cancelled} cancelled.", messages.SUCCESS if cancelled else messages.ERROR)
        if cancelled < len(chosen):
            self.message_user(
                request, f"{len(chosen) - cancelled} have already started and were kept.", messages.ERROR
            )


def cell(product: Product, rate: str, now: datetime | None = None) -> SafeString:
    """Return the current price at a rate, with future prices below."""
    offered = Offered(product, tuple(product.prices.all()), now or timezone.now())
    coming = ((told(price.amount_usdc), moment_told(price.valid_from)) for price in offered.coming(rate))
    return format_html("{}{}", told(offered.amount(rate)), format_html_join("", "<br>{} from {}", coming))

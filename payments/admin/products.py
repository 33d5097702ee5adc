"""Where staff set prices, and see what they were and will be."""

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

from accounts.api_keys.authentication import staff
from framework.admin.domain_error_forms import RefusedFormAdmin
from framework.admin.read_only import ReadOnlyAdmin
from framework.errors import Refusal
from payments.models import Price, Product
from payments.pricing import price_changes
from payments.pricing.price_changes import NewPrice, Offered, moment_told, told
from payments.tiers.definitions import TIERS

SURE = "I mean it"
FIELDS = ["slug", "name", "description", "from_tier"]


class PriceForm(forms.ModelForm[Price]):
    """One price to set. What is left empty is said beside the field."""

    valid_from = forms.SplitDateTimeField(
        label="Valid from (UTC)",
        required=False,
        widget=AdminSplitDateTime(),
        help_text="Empty: now",
    )
    is_sure = forms.BooleanField(label=SURE, required=False, help_text="Only where you are asked")

    class Meta:
        model = Price
        fields = ("rate", "amount_usdc", "valid_from")

    def _get_validation_exclusions(self) -> set[str]:
        """The rules stand in payments.pricing.price_changes, which the whole set of forms asks."""
        return {field.name for field in Price._meta.get_fields()}

    def wanted(self) -> NewPrice:
        """What was filled in."""
        told = self.cleaned_data
        return NewPrice(rate=told["rate"], amount=told.get("amount_usdc"), valid_from=told.get("valid_from"))


class PriceForms(BaseInlineFormSet[Price, Product, forms.ModelForm[Price]]):
    """The prices that are added on one page; they are looked at together, as they will be set."""

    def clean(self) -> None:
        """Refuse what payments.pricing.price_changes refuses, beside the forms."""
        super().clean()
        self.now = timezone.now()
        if any(self.errors) or self.instance._state.adding:
            return
        try:
            price_changes.check(self.instance, self.wanted(), now=self.now, is_sure=self.is_sure())
        except price_changes.Doubtful as doubtful:
            raise ValidationError([*doubtful.doubts, f"Tick “{SURE}” to set it all the same."]) from doubtful
        except Refusal as refusal:
            raise ValidationError(refusal.message) from refusal

    def wanted(self) -> list[NewPrice]:
        """The prices to set."""
        return [form.wanted() for form in self.extra_forms if isinstance(form, PriceForm) and form.has_changed()]

    def is_sure(self) -> bool:
        """Whether somebody says that they mean it."""
        return any(form.cleaned_data.get("is_sure") for form in self.extra_forms if form.has_changed())


class PriceInline(admin.TabularInline[Price, Product]):
    """Every price that was, is and will be. To change one is to add another."""

    model = Price
    form = PriceForm
    formset = PriceForms
    extra = 0
    fields = ["rate", "amount_usdc", "valid_from", "by", "created_at", "is_sure"]
    readonly_fields = ["by", "created_at"]
    ordering = ["rate", "-valid_from", "-pk"]
    verbose_name_plural = (
        "Prices: all that were, are and will be. To change one, add another; an empty amount ends the sale"
    )

    @admin.display(description=SURE)
    def is_sure(self, price: Price) -> str:
        """Nobody is asked about a price that is set."""
        return ""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was once asked for stays explainable."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was once asked for stays explainable."""
        return False


@admin.register(Product)
class ProductAdmin(RefusedFormAdmin):
    """What is sold, from which tier on and for how much."""

    list_display = ["name", "slug", "from_tier", "standard", "discounted", "best", "committed"]
    search_fields = ["slug", "name"]
    ordering = ["slug"]
    inlines = [PriceInline]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Product]:
        """With all of their prices."""
        return super().get_queryset(request).prefetch_related("prices")

    @admin.display(description="Standard")
    def standard(self, product: Product) -> SafeString:
        """What Free pays."""
        return cell(product, "standard")

    @admin.display(description="Discounted")
    def discounted(self, product: Product) -> SafeString:
        """What Pro pays."""
        return cell(product, "discounted")

    @admin.display(description="Best")
    def best(self, product: Product) -> SafeString:
        """What Premium pays."""
        return cell(product, "best")

    @admin.display(description="Committed")
    def committed(self, product: Product) -> SafeString:
        """What Enterprise pays."""
        return cell(product, "committed")

    @admin.display(description="Prices now, in USDC")
    def now(self, product: Product) -> SafeString:
        """At the four rates, and where what is to come can be taken back."""
        rates = ((f"{tier.rate.capitalize()} ({name})", cell(product, tier.rate)) for name, tier in TIERS.items())
        return format_html(
            '{}<a href="{}?product__slug__exact={}">All prices of this product</a>: '
            "what has not begun can be taken back there.",
            format_html_join("", "{}: {}<br>", rates),
            reverse("admin:payments_price_changelist"),
            product.pk,
        )

    def get_fields(self, request: HttpRequest, obj: Product | None = None) -> Any:
        """A product that is being added has no prices yet."""
        return [*FIELDS, "now"] if obj else FIELDS

    def get_readonly_fields(self, request: HttpRequest, obj: Product | None = None) -> list[str]:
        """Payments and requests know a product by its slug."""
        return ["slug", "now"] if obj else ["now"]

    def get_inlines(self, request: HttpRequest, obj: Product | None) -> list[Any]:
        """Prices are set once the product is there."""
        return [PriceInline] if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Product | None = None) -> bool:
        """Its prices are history."""
        return False

    def save_formset(
        self, request: HttpRequest, form: Any, formset: BaseInlineFormSet[Any, Any, Any], change: bool
    ) -> None:
        """Set the prices; what is so already is not set again."""
        formset.save(commit=False)
        if isinstance(formset, PriceForms):
            formset.new_objects = price_changes.change(
                form.instance, formset.wanted(), by=staff(request), now=formset.now, is_sure=formset.is_sure()
            )


class BegunFilter(admin.SimpleListFilter):
    """Prices that hold, and those to come."""

    title = "time"
    parameter_name = "time"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Two sides of this moment."""
        return [("begun", "Begun"), ("coming", "To come")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Those on the chosen side."""
        match self.value():
            case "begun":
                return queryset.filter(valid_from__lte=timezone.now())
            case "coming":
                return queryset.filter(valid_from__gt=timezone.now())
        return queryset


@admin.register(Price)
class PriceAdmin(ReadOnlyAdmin):
    """The history of all prices, the newest first."""

    sortable_by = None
    # They are few: counted exactly.
    paginator = Paginator
    list_display = ["product", "at_rate", "amount", "begins", "by", "created_at"]
    list_select_related = ["product"]
    list_filter = [BegunFilter, "rate", "product"]
    search_fields = ["product__slug", "by"]
    search_help_text = "A product's slug, or who has set it"
    ordering = ["-valid_from", "-pk"]
    actions = ["take_back"]

    @admin.display(description="Rate", ordering="rate")
    def at_rate(self, price: Price) -> str:
        """In one word."""
        return str(price.rate).capitalize()

    @admin.display(description="USDC", ordering="amount_usdc")
    def amount(self, price: Price) -> str:
        """As people write it."""
        return told(price.amount_usdc)

    @admin.display(description="From", ordering="valid_from")
    def begins(self, price: Price) -> str:
        """Since when, or from when on."""
        moment = moment_told(price.valid_from)
        return f"from {moment}" if price.valid_from > timezone.now() else f"since {moment}"

    @admin.action(description="Take back the selected prices that have not begun", permissions=["change"])
    def take_back(self, request: HttpRequest, queryset: QuerySet[Price]) -> None:
        """Forget them, and say how many had begun."""
        chosen = list(queryset.values_list("pk", flat=True))
        taken = price_changes.take_back(chosen, now=timezone.now())
        self.message_user(request, f"{taken} taken back.", messages.SUCCESS if taken else messages.ERROR)
        if taken < len(chosen):
            self.message_user(request, f"{len(chosen) - taken} had begun, and stay.", messages.ERROR)


def cell(product: Product, rate: str, now: datetime | None = None) -> SafeString:
    """What a product costs at a rate, and below it what it will cost."""
    offered = Offered(product, tuple(product.prices.all()), now or timezone.now())
    coming = ((told(price.amount_usdc), moment_told(price.valid_from)) for price in offered.coming(rate))
    return format_html("{}{}", told(offered.amount(rate)), format_html_join("", "<br>{} from {}", coming))

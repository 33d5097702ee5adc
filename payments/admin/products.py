"""Where staff set prices."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.forms import BaseModelFormSet
from django.http import HttpRequest
from django.utils import timezone

from payments.models import Price, Product


class PriceInline(admin.TabularInline[Price, Product]):
    """Every price that was and is. To change one is to add another, which holds from then on."""

    model = Price
    extra = 0
    fields = ["rate", "amount_usdc", "valid_from"]
    readonly_fields = ["valid_from"]
    ordering = ["rate", "-valid_from", "-pk"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was once asked for stays explainable."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was once asked for stays explainable."""
        return False


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin[Product]):
    """What is sold, from which tier on and for how much."""

    list_display = ["name", "slug", "from_tier", "standard", "discounted", "best", "committed"]
    fields = ["slug", "name", "description", "from_tier"]
    ordering = ["slug"]
    inlines = [PriceInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Product]:
        """With the prices of this moment."""
        valid = Price.objects.filter(product=OuterRef("pk"), valid_from__lte=timezone.now())
        newest = valid.order_by("-valid_from", "-pk").values("amount_usdc")
        current = {f"{rate}_price": Subquery(newest.filter(rate=rate)[:1]) for rate in Price.Rate.values}
        return super().get_queryset(request).annotate(**current)

    @admin.display(description="Standard, USDC")
    def standard(self, product: Any) -> Any:
        """What Free pays."""
        return product.standard_price

    @admin.display(description="Discounted, USDC")
    def discounted(self, product: Any) -> Any:
        """What Pro pays."""
        return product.discounted_price

    @admin.display(description="Best, USDC")
    def best(self, product: Any) -> Any:
        """What Premium pays."""
        return product.best_price

    @admin.display(description="Committed, USDC")
    def committed(self, product: Any) -> Any:
        """What Enterprise pays."""
        return product.committed_price

    def get_readonly_fields(self, request: HttpRequest, obj: Product | None = None) -> list[str]:
        """Payments and requests know a product by its slug."""
        return ["slug"] if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Product | None = None) -> bool:
        """Its prices are history."""
        return False

    def save_formset(self, request: HttpRequest, form: Any, formset: BaseModelFormSet[Any, Any], change: bool) -> None:
        """A new price holds from now on."""
        for price in formset.save(commit=False):
            price.valid_from = timezone.now()
            price.save()

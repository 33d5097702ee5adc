"""Where staff find and move orders."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone

from accounts.authentication import staff
from orders import ordering
from orders.models import IllegalMove, Order, OrderItem, OrderNumber


class OrderItemInline(admin.TabularInline[OrderItem, Order]):
    """The lines, as they were ordered."""

    model = OrderItem
    extra = 0
    ordering = ["position"]
    can_delete = False
    readonly_fields = ["position", "menu_item_id", "name", "quantity", "notes", "unit_price", "line_total"]

    def has_add_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        """An order is what the customer asked for."""
        return False


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin[Order]):
    """Orders. Their status changes by the same rule as in the API, through the actions of the list."""

    list_display = [
        "number",
        "status",
        "business_date",
        "venue",
        "customer_id",
        "payment_method",
        "total",
        "created_at",
    ]
    list_display_links = ["number", "business_date"]
    list_select_related = ["venue"]
    list_filter = ["status", "business_date"]
    search_fields = ["customer_id", "venue__name"]
    search_help_text = "Customer or venue"
    ordering = ["-created_at", "-id"]
    date_hierarchy = "business_date"
    show_full_result_count = False
    list_per_page = 50
    inlines = [OrderItemInline]
    actions = ["complete", "cancel"]
    fields = [
        ("number", "business_date", "venue"),
        ("status", "version"),
        ("customer_id", "payment_method"),
        "delivery_address",
        ("currency", "subtotal", "tax", "total"),
        "metadata",
        ("created_at", "updated_at", "completed_at", "cancelled_at"),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Order | None = None) -> list[str]:
        """Staff mend an address; what was ordered stays."""
        named = [name for row in self.fields or () for name in ([row] if isinstance(row, str) else row)]
        return [name for name in named if name != "delivery_address"]

    def save_model(self, request: HttpRequest, obj: Order, form: ModelForm[Order], change: bool) -> None:
        """Store the address alone: the row as it was read may be older than a move."""
        if "delivery_address" in form.changed_data:
            obj.deliver_to(obj.delivery_address, now=timezone.now())

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Orders come through the API."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        """An order is cancelled, never deleted."""
        return False

    @admin.action(description="Complete the selected orders", permissions=["change"])
    def complete(self, request: HttpRequest, queryset: QuerySet[Order]) -> None:
        """Move to completed."""
        self.move(request, queryset, Order.Status.COMPLETED)

    @admin.action(description="Cancel the selected orders", permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Order]) -> None:
        """Move to cancelled."""
        self.move(request, queryset, Order.Status.CANCELLED)

    def move(self, request: HttpRequest, queryset: QuerySet[Order], status: Order.Status) -> None:
        """Move each order that may still move, and say which may not."""
        for order in queryset:
            try:
                ordering.move(order, status, now=timezone.now(), actor=staff(request))
            except IllegalMove as refusal:
                self.message_user(request, f"{order}: {refusal.message}", messages.ERROR)
            else:
                self.message_user(request, f"{order} is {status.value}.", messages.SUCCESS)


@admin.register(OrderNumber)
class OrderNumberAdmin(admin.ModelAdmin[OrderNumber]):
    """The last number of each day; for looking only."""

    list_display = ["venue", "business_date", "last"]
    list_select_related = ["venue"]
    ordering = ["-business_date", "venue_id"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Counted by orders alone."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Counted by orders alone."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A number that is given twice would be called out twice."""
        return False

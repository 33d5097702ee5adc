"""Where staff find and move orders."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Sum
from django.forms import CharField, Textarea
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from accounts.admin.venue_scoping import OfVenues
from accounts.api_keys.authentication import staff
from accounts.models import Event, Tally
from framework.admin.action_confirmation import ask_about
from framework.admin.large_tables import LargeTableAdmin
from framework.admin.pending_counts import PendingCount
from framework.forms.optimistic_concurrency import StaleForm
from orders import commands, pricing
from orders.models import IllegalMove, Order, OrderItem, OrderNumber, Orders


def amount(row: Order | OrderItem, name: str) -> str | None:
    """An amount of the row as a bill writes it; None where nothing was priced."""
    value = getattr(row, name)
    return None if value is None else pricing.written(value, row.currency)


class Lines(CharField):
    """Text of several lines, which browsers send with CR LF at each end."""

    def to_python(self, value: Any) -> Any:
        """Return it with line feeds."""
        return super().to_python(value.replace("\r\n", "\n") if isinstance(value, str) else value)


class OrderForm(StaleForm):
    """The address in as many lines as it has."""

    class Meta:
        model = Order
        fields = ["delivery_address"]
        field_classes = {"delivery_address": Lines}
        widgets = {"delivery_address": Textarea(attrs={"rows": 3, "class": "vLargeTextField"})}


class BecauseForm(forms.Form):
    """Why orders are cancelled."""

    because = forms.CharField(
        label="Why", max_length=300, help_text="For the venue's people alone; callers of the API are not told"
    )


class OrderItemInline(admin.TabularInline[OrderItem, Order]):
    """The lines, as they were ordered."""

    model = OrderItem
    extra = 0
    ordering = ["position"]
    can_delete = False
    fields = ["position", "menu_item_id", "name", "quantity", "notes", "each", "tax", "of_line"]
    readonly_fields = ["position", "menu_item_id", "name", "quantity", "notes", "each", "tax", "of_line"]

    @admin.display(description="Unit price")
    def each(self, line: OrderItem) -> str | None:
        """As it was when it was ordered."""
        return amount(line, "unit_price")

    @admin.display(description="Tax")
    def tax(self, line: OrderItem) -> str | None:
        """In percent."""
        return None if line.tax_percent is None else f"{line.tax_percent.normalize():f} %"

    @admin.display(description="Line total")
    def of_line(self, line: OrderItem) -> str | None:
        """All of the line."""
        return amount(line, "line_total")

    def has_add_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        """An order is what the customer asked for."""
        return False


@admin.register(Order)
class OrderAdmin(OfVenues, LargeTableAdmin):
    """Orders. Their status changes by the same rule as in the API, through the actions of the list."""

    form = OrderForm
    list_display = [
        "number",
        "status",
        "business_date",
        "venue",
        "customer_id",
        "payment_method",
        "in_total",
        "currency",
        "created_at",
    ]
    list_display_links = ["number", "business_date"]
    list_select_related = ["venue"]
    list_filter = ["status", "business_date"]
    search_fields = ["customer_id", "venue__name"]
    search_help_text = "Customer or venue"
    ordering = ["-created_at", "-id"]
    date_hierarchy = "business_date"
    inlines = [OrderItemInline]
    actions = ["complete", "cancel", "reopen"]
    fields = [
        ("number", "business_date", "venue"),
        ("status", "version"),
        ("customer_id", "payment_method"),
        "delivery_address",
        ("currency", "before_tax", "of_tax", "in_total"),
        "metadata",
        ("created_at", "updated_at", "completed_at", "cancelled_at"),
        "cancelled_because",
        "events",
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Order | None = None) -> list[str]:
        """Staff mend an address; what was ordered stays."""
        named = [name for row in self.fields or () for name in ([row] if isinstance(row, str) else row)]
        return [name for name in named if name != "delivery_address"]

    def save_model(self, request: HttpRequest, obj: Order, form: OrderForm, change: bool) -> None:
        """Store the address alone: the row as it was read may be older than a move."""
        if "delivery_address" in form.changed_data:
            commands.deliver_to(obj, obj.delivery_address, now=timezone.now(), actor=staff(request))

    @admin.display(description="Subtotal")
    def before_tax(self, order: Order) -> str | None:
        """Without tax."""
        return amount(order, "subtotal")

    @admin.display(description="Tax")
    def of_tax(self, order: Order) -> str | None:
        """All taxes of the lines."""
        return amount(order, "tax")

    @admin.display(description="Total", ordering="total")
    def in_total(self, order: Order) -> str | None:
        """What the customer pays."""
        return amount(order, "total")

    @admin.display(description="What has happened")
    def events(self, order: Order) -> SafeString:
        """The events of the order, the newest last."""
        found = Event.objects.filter(subject=order.pk, venue_id=order.venue_id).order_by("created_at", "id")
        return render_to_string("admin/orders/order/events.html", {"events": found})

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """Orders to be made. Read from the tallies, as there are many orders and few that are pending."""
        pending = Tally.objects.filter(noun=Tally.Noun.ORDER, status=Order.Status.PENDING)
        number = self.within(request, pending, "change", path="venue").aggregate(sum=Sum("total"))["sum"] or 0
        address = f"{reverse('admin:orders_order_changelist')}?status__exact={Order.Status.PENDING}"
        return [PendingCount("pending orders", int(number), address)]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Orders come through the API."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        """An order is cancelled, never deleted."""
        return False

    @admin.action(description="Complete the selected orders", permissions=["change"])
    def complete(self, request: HttpRequest, queryset: Orders) -> HttpResponse | None:
        """Ask; then move to completed."""
        if "confirmed" not in request.POST:
            asked: dict[str, Any] = {"action": "complete", "title": "Complete orders?", "yes": "Yes, complete them"}
            words = "These orders will be completed, and the venue's webhooks are told. Others stay as they are."
            return ask_about(self, request, still_pending(queryset), words=words, **asked)
        self.move(request, queryset, Order.Status.COMPLETED)
        return None

    @admin.action(description="Cancel the selected orders", permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: Orders) -> HttpResponse | None:
        """Ask, and for the reason; then move to cancelled."""
        is_confirmed = "confirmed" in request.POST
        form = BecauseForm(request.POST if is_confirmed else None)
        if not form.is_valid():
            asked: dict[str, Any] = {"action": "cancel", "title": "Cancel orders?", "yes": "Yes, cancel them"}
            words = (
                "These orders will be cancelled for good, and the venue's webhooks are told. Others stay as they are."
            )
            rows, status = still_pending(queryset), 400 if is_confirmed else 200
            return ask_about(self, request, rows, words=words, form=form, status=status, **asked)
        self.move(request, queryset, Order.Status.CANCELLED, because=form.cleaned_data["because"])
        return None

    @admin.action(description="Reopen the selected orders: they were completed by mistake", permissions=["change"])
    def reopen(self, request: HttpRequest, queryset: Orders) -> HttpResponse | None:
        """Ask; then take back what was completed, and say what was not."""
        if "confirmed" not in request.POST:
            completed = queryset.filter(status=Order.Status.COMPLETED).select_related("venue")
            asked: dict[str, Any] = {"action": "reopen", "title": "Reopen orders?", "yes": "Yes, reopen them"}
            words = (
                "These completed orders will be pending again. This is written down as an event with your name, and"
                " told to the venue's webhooks. What is cancelled stays cancelled."
            )
            return ask_about(self, request, completed, words=words, **asked)
        for order in queryset.with_items():
            try:
                commands.reopen(order, now=timezone.now(), actor=staff(request))
            except IllegalMove as refusal:
                self.message_user(request, f"{order}: {refusal.message}", messages.ERROR)
            else:
                self.message_user(request, f"{order} is pending again.", messages.SUCCESS)
        return None

    def move(self, request: HttpRequest, queryset: Orders, status: Order.Status, *, because: str = "") -> None:
        """Move each order that may still move, and say which may not."""
        for order in queryset.with_items():
            try:
                commands.move(order, status, now=timezone.now(), actor=staff(request), because=because)
            except IllegalMove as refusal:
                self.message_user(request, f"{order}: {refusal.message}", messages.ERROR)
            else:
                self.message_user(request, f"{order} is {status.value}.", messages.SUCCESS)


def still_pending(orders: Orders) -> Orders:
    """Those that can still be completed or cancelled, with their venue."""
    return orders.filter(status=Order.Status.PENDING).select_related("venue")


@admin.register(OrderNumber)
class OrderNumberAdmin(OfVenues, admin.ModelAdmin[OrderNumber]):
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

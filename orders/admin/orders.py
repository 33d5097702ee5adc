"""Orders in the back office."""

import re
from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.db.models import Min, QuerySet, Sum
from django.forms import CharField, Textarea
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.api_keys.authentication import get_staff_actor
from accounts.models import Event, RecordCount
from framework.admin.action_confirmation import confirmed_action, render_rows_confirmation, run_on_each
from framework.admin.badges import badge, badge_column
from framework.admin.large_tables import LargeTableAdmin
from framework.admin.pending_counts import PendingCount
from framework.admin.read_only import ReadOnlyAdmin
from framework.forms.optimistic_concurrency import ChangedFieldsForm
from framework.timezones import zone
from orders import commands, pricing
from orders.models import Order, OrderItem, OrderNumber, Orders


def amount_column(name: str, description: str, ordering: str | None = None) -> Callable[..., str]:
    """Return a column with this formatted amount of the row."""

    def show(_: Any, row: Order | OrderItem) -> str:
        amount = pricing.format_if_priced(getattr(row, name), row.currency)
        return "" if amount is None else f"{amount} {row.currency}"

    return admin.display(show, description=description, ordering=ordering)


class Lines(CharField):
    """Multi-line text; browsers send CR LF line endings."""

    def to_python(self, value: Any) -> Any:
        return super().to_python(value.replace("\r\n", "\n") if isinstance(value, str) else value)


class OrderForm(ChangedFieldsForm):
    class Meta:
        model = Order
        fields = ["delivery_address"]
        field_classes = {"delivery_address": Lines}
        widgets = {"delivery_address": Textarea(attrs={"rows": 3, "class": "vLargeTextField"})}


class CancelForm(forms.Form):
    reason = forms.CharField(
        label="Reason", max_length=300, help_text="Visible to the venue's team only; the API does not return it"
    )


class OrderItemInline(admin.TabularInline[OrderItem, Order]):
    model = OrderItem
    extra = 0
    ordering = ["position"]
    can_delete = False
    fields: ClassVar[Any] = [
        *("position", "menu_item_id", "name", "quantity", "notes"),
        *("unit_price_shown", "tax", "line_total_shown"),
    ]
    readonly_fields = fields

    unit_price_shown = amount_column("unit_price", "Unit price")
    line_total_shown = amount_column("line_total", "Line total")

    @admin.display(description="Tax")
    def tax(self, line: OrderItem) -> str | None:
        return None if line.tax_percent is None else f"{pricing.format_percent(line.tax_percent)} %"

    def get_queryset(self, request: HttpRequest) -> QuerySet[OrderItem]:
        # The amounts need the currency of the order.
        return super().get_queryset(request).select_related("order")

    def has_add_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        return False


@admin.register(Order)
class OrderAdmin(LargeTableAdmin):
    """Orders. List actions change the status by the same rules as the API."""

    form = OrderForm
    list_display = [
        *("name", "progress", "customer", "venue_link", "payment_method"),
        *("in_total", "placed"),
    ]
    list_select_related = ["venue"]
    list_filter = ["status", "business_date"]
    shows_first_filter = True
    search_fields = ["customer_id", "venue__name__unaccent"]
    search_help_text = "Number, venue or customer"
    is_in_site_search = True
    ordering = ["-created_at", "-id"]
    date_hierarchy = "business_date"
    inlines = [OrderItemInline]
    actions = ["complete", "cancel", "reopen"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    *("status_badge", "stage", "venue", "business_date", "customer_id", "payment_method"),
                    *("before_tax", "of_tax", "in_total", "cancelled_because", "delivery_address"),
                ]
            },
        ),
        ("History", {"fields": ["events"]}),
        ("Payment in USDC", {"classes": ["collapse"], "fields": ["payment_state", "usdc_amount", "usdc_payment"]}),
        (
            "Record",
            {
                "classes": ["collapse"],
                "fields": [
                    *("number", "version", "currency", "created_at", "updated_at", "accepted_at", "preparing_at"),
                    *("ready_at", "completed_at", "cancelled_at", "metadata"),
                ],
            },
        ),
    ]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Order], search_term: str
    ) -> tuple[QuerySet[Order], bool]:
        """Orders by their number of the day, too: #17."""
        rows, repeats = super().get_search_results(request, queryset, search_term)
        if number := re.fullmatch(r"#?([0-9]{1,9})", search_term.strip()):
            return rows | queryset.filter(number=int(number[1])), repeats
        return rows, repeats

    def get_readonly_fields(self, request: HttpRequest, obj: Order | None = None) -> list[str]:
        return [str(name) for name in flatten_fieldsets(self.fieldsets) if name != "delivery_address"]

    def save_model(self, request: HttpRequest, obj: Order, form: OrderForm, change: bool) -> None:
        if "delivery_address" in form.changed_data:
            commands.change_delivery_address(
                obj, obj.delivery_address, now=obj.venue.now(), actor=get_staff_actor(request)
            )

    before_tax = amount_column("subtotal", "Subtotal")
    of_tax = amount_column("tax", "Tax")
    in_total = amount_column("total", "Total", ordering="total")
    status_badge = badge_column("status", "Status", ordering="status")

    @admin.display(description="Status", ordering="status")
    def progress(self, order: Order) -> SafeString:
        """The stage of the kitchen while the order is pending, as on the dashboard, and then its end."""
        if order.status == Order.Status.PENDING:
            stage = Order.Stage(order.kitchen_stage)
            if stage == Order.Stage.RECEIVED:
                return badge("New", "info")
            return badge(stage.label, "good" if stage == Order.Stage.READY else "info")
        return badge(order.get_status_display(), "soft" if order.status == Order.Status.COMPLETED else "bad")

    @admin.display(description="Order", ordering="number")
    def name(self, order: Order) -> str:
        return f"#{order.number}"

    @admin.display(description="Customer", ordering="customer_id")
    def customer(self, order: Order) -> SafeString:
        """A link to the orders of the customer."""
        return format_html('<a href="?{}">{}</a>', urlencode({"q": order.customer_id}), order.customer_id)

    @admin.display(description="Venue")
    def venue_link(self, order: Order) -> SafeString:
        url = reverse("admin:accounts_venue_change", args=[order.venue_id])
        return format_html('<a href="{}">{}</a>', url, order.venue)

    @admin.display(description="Placed, local time", ordering="created_at")
    def placed(self, order: Order) -> str:
        """The time by the clock of the venue, with the day unless it is today there."""
        local = zone(order.venue.timezone)
        placed, today = order.created_at.astimezone(local), timezone.now().astimezone(local).date()
        return f"{placed:%H:%M}" if placed.date() == today else f"{placed:%Y-%m-%d %H:%M}"

    @admin.display(description="History")
    def events(self, order: Order) -> SafeString:
        found = Event.objects.filter(subject=order.pk, venue_id=order.venue_id).order_by("created_at", "id")
        return render_to_string("admin/orders/order/events.html", {"events": found})

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """Pending orders, counted by the record counts: there are many orders, and few are pending."""
        pending = RecordCount.objects.filter(record_type=RecordCount.RecordType.ORDER, status=Order.Status.PENDING)
        number = pending.aggregate(sum=Sum("total", default=0))["sum"]
        address = f"{reverse('admin:orders_order_changelist')}?status__exact={Order.Status.PENDING}"
        orders = Order.objects.filter(
            status=Order.Status.PENDING, venue__in=pending.filter(total__gt=0).values("venue")
        )
        since = orders.aggregate(first=Min("created_at"))["first"]
        return [PendingCount("pending orders", int(number), address, since=since)]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        return False

    @confirmed_action(
        "Complete the selected orders",
        message="These pending orders will be completed, and webhooks are sent. Other orders do not change.",
        confirm_label="Complete orders",
        applies_to=lambda orders: orders.filter(status=Order.Status.PENDING),
    )
    def complete(self, request: HttpRequest, queryset: Orders) -> None:
        self.change_status(request, queryset, Order.Status.COMPLETED)

    @admin.action(description="Cancel the selected orders", permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: Orders) -> HttpResponse | None:
        form = CancelForm(request.POST if "confirmed" in request.POST else None)
        if form.is_valid():
            self.change_status(request, queryset, Order.Status.CANCELLED, because=form.cleaned_data["reason"])
            return None
        return render_rows_confirmation(
            self,
            request,
            queryset.filter(status=Order.Status.PENDING),
            action="cancel",
            title="Cancel orders?",
            message="These pending orders will be cancelled permanently, and webhooks are sent. Others do not change.",
            confirm_label="Cancel orders",
            form=form,
            status=400 if form.is_bound else 200,
        )

    def has_reopen_permission(self, request: HttpRequest) -> bool:
        """Editors of orders, and groups with the reopen permission."""
        return self.has_change_permission(request) or request.user.has_perm("orders.reopen_order")

    @confirmed_action(
        "Reopen the selected orders that were completed by mistake",
        message="These completed orders will be pending again. The event is recorded with your name, and webhooks are"
        " sent. Cancelled orders stay cancelled.",
        confirm_label="Reopen orders",
        permissions=["reopen"],
        applies_to=lambda orders: orders.filter(status=Order.Status.COMPLETED),
    )
    def reopen(self, request: HttpRequest, queryset: Orders) -> None:
        def reopen(order: Order) -> str:
            commands.reopen_order(order, now=order.venue.now(), actor=get_staff_actor(request))
            return f"{order} was reopened."

        run_on_each(self, request, queryset.with_items(), reopen)

    def change_status(
        self, request: HttpRequest, queryset: Orders, status: Order.Status, *, because: str = ""
    ) -> None:
        """Change the status of each pending order, and report the others."""
        actor = get_staff_actor(request)

        def change(order: Order) -> str:
            commands.change_status(order, status, now=order.venue.now(), actor=actor, because=because)
            return f"{order} was {status.value}."

        run_on_each(self, request, queryset.with_items(), change)


@admin.register(OrderNumber)
class OrderNumberAdmin(ReadOnlyAdmin):
    """The last order number of each day. Deleting a counter would assign the same order number twice."""

    list_display = ["venue", "business_date", "last"]
    list_select_related = ["venue"]
    ordering = ["-business_date", "venue_id"]

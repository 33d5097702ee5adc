"""Order search for the dashboard: filters, keyset pages and CSV rows."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accounts.models import Venue
from framework.phone_numbers import remove_phone_format
from orders import pricing
from orders.models import Order, OrderItem, Orders

PAGE = 50
# Text search and totals, which no index supports, cover at most so many days.
MAX_DAYS = 92
DAY = forms.DateInput({"type": "date"}, format="%Y-%m-%d")
HEADINGS = (
    *("order", "number", "business_date", "status", "stage", "created_at", "completed_at", "cancelled_at"),
    *("cancelled_because", "customer_id", "payment_method", "delivery_address", "fulfilment", "table", "items"),
    *("currency", "subtotal", "tax", "tip", "total"),
)


class FilterForm(forms.Form):
    """Filters of the order list."""

    text = forms.CharField(
        required=False,
        max_length=100,
        label=gettext_lazy("Text"),
        widget=forms.TextInput({"placeholder": gettext_lazy("Dish, name, phone")}),
    )
    status = forms.ChoiceField(
        label=gettext_lazy("Status"),
        choices=[
            ("", gettext_lazy("Any status")),
            ("pending", gettext_lazy("To do")),
            ("completed", gettext_lazy("Completed")),
            ("cancelled", gettext_lazy("Cancelled")),
        ],
        required=False,
    )
    first = forms.DateField(required=False, label=pgettext_lazy("period", "From"), widget=DAY)
    last = forms.DateField(required=False, label=pgettext_lazy("period", "To"), widget=DAY)
    number = forms.IntegerField(required=False, min_value=1, max_value=2_147_483_647, label=gettext_lazy("Number"))
    customer = forms.CharField(required=False, max_length=64, label=gettext_lazy("Customer id"))

    def __init__(self, *args: Any, today: date, **options: Any) -> None:
        super().__init__(*args, **options)
        self.today = today

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        first, last = values.get("first"), values.get("last")
        if first and last and last < first:
            self.add_error("last", _("The end date is before the start date."))
        elif values.get("text") and not self.errors:
            window = timedelta(days=MAX_DAYS - 1)
            values["last"] = last or (min(first + window, self.today) if first else self.today)
            values["first"] = first or values["last"] - window
            if not self.has_few_days:
                message = _("A text search covers at most %(days)s days. Choose dates that are closer together.")
                self.add_error("text", message % {"days": MAX_DAYS})
        return values

    @property
    def has_few_days(self) -> bool:
        """Whether both days are set, at most MAX_DAYS apart."""
        first, last = self.cleaned_data.get("first"), self.cleaned_data.get("last")
        return bool(first and last and last - first < timedelta(days=MAX_DAYS))

    def apply(self, orders: Orders) -> Orders:
        """Apply the filters. Requires a valid form."""
        values = self.cleaned_data
        filters = {
            "status": values["status"],
            "business_date__gte": values["first"],
            "business_date__lte": values["last"],
            "number": values["number"],
            "customer_id": values["customer"],
        }
        found = orders.filter(**{name: value for name, value in filters.items() if value})
        text = values["text"]
        if not text:
            return found
        lines = OrderItem.objects.filter(
            Q(name__icontains=text) | Q(menu_item_id__icontains=text) | Q(notes__icontains=text), order=OuterRef("pk")
        )
        return found.filter(
            Q(Exists(lines))
            | Q(delivery_address__icontains=text)
            | Q(cancelled_because__icontains=text)
            | Q(contact_name__icontains=text)
            | Q(contact_phone__contains=remove_phone_format(text))
        )


def read_page(venue: Venue, orders: Orders, *, before: str, after: str) -> dict[str, Any]:
    """Return the page older than the order `before`, or newer than the order `after`; the first for an unknown id.

    `orders` are newest first; `older` and `newer` are the ids from which the adjacent pages continue, or None. Three
    queries at any depth: the page, its lines, and the order that it continues from.
    """
    cursor = before or after
    edge = Order.objects.of(venue).with_public_id(cursor).values_list("created_at", "pk").first() if cursor else None
    found = orders.with_items()
    if edge and not before:
        later = Q(created_at__gt=edge[0]) | Q(created_at=edge[0], pk__gt=edge[1])
        rows = list(found.filter(later).order_by("created_at", "pk")[: PAGE + 1])
        has_newer, rows = len(rows) > PAGE, rows[:PAGE][::-1]
        has_older = True
    else:
        if edge:
            earlier = Q(created_at__lt=edge[0]) | Q(created_at=edge[0], pk__lt=edge[1])
            found = found.filter(created_at__lte=edge[0]).filter(earlier)
        rows = list(found.newest_first()[: PAGE + 1])
        has_older, rows = len(rows) > PAGE, rows[:PAGE]
        has_newer = edge is not None
    return {
        "orders": rows,
        "older": rows[-1].public_id if rows and has_older else None,
        "newer": rows[0].public_id if rows and has_newer else None,
    }


def list_csv_rows(orders: Orders) -> Iterator[Sequence[object]]:
    """Yield HEADINGS and the rows of the orders, newest first; a thousand are held at a time."""
    yield HEADINGS
    for order in orders.with_items().newest_first().iterator(chunk_size=1000):
        yield (
            order.public_id,
            order.number,
            order.business_date,
            order.status,
            order.stage,
            *(time and time.isoformat() for time in (order.created_at, order.completed_at, order.cancelled_at)),
            order.cancelled_because,
            order.customer_id,
            order.payment_method,
            order.delivery_address,
            order.fulfilment,
            order.table,
            "; ".join(describe_line(line) for line in order.items.all()),
            order.currency,
            *(
                pricing.format_if_priced(amount, order.currency)
                for amount in (order.subtotal, order.tax, order.tip, order.total)
            ),
        )


def describe_line(line: OrderItem) -> str:
    """Return a line in one text: `2 x Pizza Margherita [Large, Olives] (no basil)`."""
    modifiers = f" [{', '.join(line.modifier_names)}]" if line.modifiers else ""
    notes = f" ({line.notes})" if line.notes else ""
    return f"{line.quantity} x {line.name or line.menu_item_id}{modifiers}{notes}"

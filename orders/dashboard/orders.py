"""All orders of a venue, and one of them: what it is, what has happened to it, and what can be done."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Event, EventType
from accounts.tenancy.permissions import Right
from framework.csv_export import csv_lines
from orders import board, commands, search
from orders.dashboard.board import carry_out, money
from orders.dashboard.cancellation_form import ReasonForm
from orders.models import Order
from orders.search import FilterForm

WORDS = {
    EventType.ORDER_CREATED: "Placed",
    EventType.ORDER_UPDATED: "Address changed",
    EventType.ORDER_COMPLETED: "Completed",
    EventType.ORDER_CANCELLED: "Cancelled",
    EventType.ORDER_REOPENED: "Reopened",
}
BADGES = {"pending": "info", "completed": "good", "cancelled": "bad"}


class AddressForm(forms.Form):
    """Where an order goes."""

    delivery_address = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Empty: the customer picks it up.",
    )

    def clean_delivery_address(self) -> str | None:
        """One line end, and one word for pick-up."""
        return str(self.cleaned_data["delivery_address"]).replace("\r\n", "\n").strip() or None


@page(Right.ORDERS, section="orders")
def index(request: PageRequest) -> HttpResponse:
    """The list: filters, a page of orders, and what those of the chosen days come to."""
    venue = request.access.venue
    form = FilterForm(request.GET)
    is_good = form.is_valid()
    mine = Order.objects.of(venue)
    found = form.narrowed(mine) if is_good else mine.none()
    its = search.page_of(venue, found, before=request.GET.get("before", ""), after=request.GET.get("after", ""))
    sums = board.sums(found) if is_good and form.has_few_days else None
    asked = request.GET.copy()
    for name in ("before", "after"):
        asked.pop(name, None)
    context = {
        "form": form,
        "page": its,
        "rows": [(order, money(order.total, order.currency), BADGES[order.status]) for order in its.orders],
        "sums": sums,
        "revenue": money(sums.revenue, venue.currency) if sums else None,
        "most_days": search.MOST_DAYS,
        "today": board.midnight(venue.timezone, now=timezone.now()).date(),
        "asked": asked.urlencode(),
        "is_filtered": any(asked.values()),
    }
    return render(request, "orders/orders.html", context, status=200 if is_good else 400)


@page(Right.ORDERS, section="orders")
def download(request: PageRequest) -> HttpResponse:
    """The filtered orders as CSV, sent while they are read."""
    form = FilterForm(request.GET)
    if not form.is_valid():
        return index(request, venue=request.access.venue.public_id)
    found = form.narrowed(Order.objects.of(request.access.venue))
    lines: Iterator[str] = csv_lines(search.table(found))
    answer = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="orders.csv"'
    return cast("HttpResponse", answer)


def order_of(request: PageRequest, public_id: str) -> Order:
    """The venue's order of this id; another's is as if it were not there."""
    found = Order.objects.of(request.access.venue).known_as(public_id).with_items().first()
    if found is None:
        raise Http404
    found.venue = request.access.venue
    return found


def told(event: Event) -> dict[str, Any]:
    """A line of the timeline."""
    kind, _, name = event.actor.partition(":")
    who = {"staff": name, "key": f"API key {name}", "guest": "the guest"}.get(kind, "Tablewire")
    return {"at": event.created_at, "what": WORDS.get(EventType(event.type), event.type), "who": who}


def shown(
    request: PageRequest, order: Order, *, address: AddressForm | None = None, status: int = 200
) -> HttpResponse:
    """The page of one order."""
    events = Event.objects.filter(subject=order.pk, venue=order.venue_id).order_by("created_at", "id")
    if address is None:
        address = AddressForm(initial={"delivery_address": order.delivery_address})
    context = {
        "order": order,
        "id": order.public_id,
        "badge": BADGES[order.status],
        "timeline": [told(event) for event in events[:200]],
        "address": address,
        **amounts(order),
    }
    return render(request, "orders/order.html", context, status=status)


def amounts(order: Order) -> dict[str, Any]:
    """The money of an order as people read it."""
    return {
        "subtotal": money(order.subtotal, order.currency),
        "tax": money(order.tax, order.currency),
        "total": money(order.total, order.currency),
        "lines": [
            (line, money(line.unit_price, order.currency), money(line.line_total, order.currency))
            for line in order.items.all()
        ],
    }


@page(Right.ORDERS, section="orders")
def detail(request: PageRequest, *, order: str) -> HttpResponse:
    """One order."""
    return shown(request, order_of(request, order))


@page(Right.ORDERS, section="orders")
def ticket(request: PageRequest, *, order: str) -> HttpResponse:
    """The order on paper of 80 mm, for the kitchen."""
    found = order_of(request, order)
    return render(request, "orders/ticket.html", {"order": found, "id": found.public_id, **amounts(found)})


@page(Right.ORDERS, section="orders", methods=("POST",))
def move(request: PageRequest, *, order: str) -> HttpResponse:
    """Complete or reopen it."""
    found = order_of(request, order)
    verb = request.POST.get("to", "")
    if verb not in ("complete", "reopen"):
        raise Http404
    say(request, *carry_out(found, verb, actor=request.access.actor))
    return redirect("order", venue=request.access.venue.public_id, order=found.public_id)


@page(Right.ORDERS, section="orders", methods=("GET", "HEAD", "POST"))
def cancel(request: PageRequest, *, order: str) -> HttpResponse:
    """Ask why, then cancel it."""
    found = order_of(request, order)
    form = ReasonForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        context = {"order": found, "id": found.public_id, "form": form, **amounts(found)}
        return render(request, "orders/order_cancel.html", context, status=400 if form.is_bound else 200)
    say(request, *carry_out(found, "cancel", actor=request.access.actor, because=form.because))
    return redirect("order", venue=request.access.venue.public_id, order=found.public_id)


@page(Right.ORDERS, section="orders", methods=("POST",))
def readdress(request: PageRequest, *, order: str) -> HttpResponse:
    """Change where it goes."""
    found = order_of(request, order)
    form = AddressForm(request.POST)
    if not form.is_valid():
        return shown(request, found, address=form, status=400)
    change(found, form.cleaned_data["delivery_address"], now=timezone.now(), actor=request.access.actor)
    say(request, True, f"Order {found.number} goes there now." if found.delivery_address else "It is for pick-up now.")
    return redirect("order", venue=request.access.venue.public_id, order=found.public_id)


def change(order: Order, address: str | None, *, now: datetime, actor: str) -> None:
    """Write the address down where it is another."""
    if address != order.delivery_address:
        commands.deliver_to(order, address, now=now, actor=actor)


def say(request: PageRequest, is_good: bool, words: str) -> None:
    """Tell it on the next page."""
    messages.add_message(request, messages.SUCCESS if is_good else messages.WARNING, words)

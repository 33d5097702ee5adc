"""The order list, and the page of one order."""

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from csp.decorators import csp_replace
from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy
from django.views.decorators.clickjacking import xframe_options_sameorigin

from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Event, EventType
from accounts.tenancy.permissions import Right
from framework.csv_export import csv_response
from framework.errors import InvalidRequest
from orders import board, commands, search
from orders.dashboard.board import (
    KINDS,
    STAGE_VERBS,
    STATES,
    CancellationForm,
    apply_action,
    format_money,
    get_next_verb,
    get_order,
)
from orders.dashboard.reports import get_today
from orders.models import Order
from orders.search import FilterForm
from orders.ticket_printing import name_fulfilment

EVENT_LABELS = {
    EventType.ORDER_CREATED: pgettext_lazy("event of an order", "Placed"),
    EventType.ORDER_UPDATED: pgettext_lazy("event of an order", "Address changed"),
    EventType.ORDER_COMPLETED: pgettext_lazy("event of an order", "Completed"),
    EventType.ORDER_CANCELLED: pgettext_lazy("event of an order", "Cancelled"),
    EventType.ORDER_REOPENED: pgettext_lazy("event of an order", "Reopened"),
}
# The stage that an event set; only Undo goes back to the first one.
STAGE_LABELS = {
    Order.Stage.RECEIVED: pgettext_lazy("event of an order", "Moved back to received"),
    Order.Stage.ACCEPTED: pgettext_lazy("event of an order", "Accepted"),
    Order.Stage.PREPARING: pgettext_lazy("event of an order", "Preparation started"),
    Order.Stage.READY: pgettext_lazy("event of an order", "Marked ready"),
}
BADGES = {"pending": "info", "completed": "soft", "cancelled": "bad"}
NEW = pgettext_lazy("state of an order", "New")

# The filters behind "More": the periods are days to choose from already, and a text finds most customers.
RARE_FILTERS = ("first", "last", "number", "customer")


class AddressForm(forms.Form):
    delivery_address = forms.CharField(
        label=gettext_lazy("Delivery address"),
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Leave empty for pick-up."),
    )

    def clean_delivery_address(self) -> str | None:
        return str(self.cleaned_data["delivery_address"]).replace("\r\n", "\n").strip() or None


@page(Right.ORDERS, section="orders")
def list_orders(request: PageRequest) -> HttpResponse:
    """List orders with filters; totals for a range of few days."""
    venue = request.access.venue
    today = get_today(venue)
    form = FilterForm(request.GET, today=today)
    is_valid = form.is_valid()
    venue_orders = Order.objects.of(venue)
    orders = form.apply(venue_orders) if is_valid else venue_orders.none()
    before, after = request.GET.get("before", ""), request.GET.get("after", "")
    found = search.read_page(venue, orders, before=before, after=after)
    sums = board.sum_orders(orders) if is_valid and form.has_few_days else None
    query = request.GET.copy()
    for name in ("before", "after"):
        query.pop(name, None)
    periods = list_periods(query, today=today)
    has_period = any(is_current for _name, _link, is_current in periods)
    context = {
        "form": form,
        "page": found,
        "rows": [
            (order, format_money(order.total, order.currency), *describe_badge(order)) for order in found["orders"]
        ],
        "sums": sums,
        "revenue": format_money(sums["revenue"], venue.currency) if sums else None,
        "today": today,
        "periods": periods,
        "rare": [form[name] for name in RARE_FILTERS],
        "rare_count": sum(
            bool(query.get(name)) and not (name in ("first", "last") and has_period) for name in RARE_FILTERS
        ),
        "searched": form.cleaned_data if is_valid and form.cleaned_data["text"] else None,
        "is_valid": is_valid,
        "query": query.urlencode(),
        "is_filtered": any(query.values()),
    }
    return render(request, "orders/orders.html", context, status=200 if is_valid else 400)


def list_periods(query: QueryDict, *, today: date) -> list[tuple[str, str, bool]]:
    """Return periods to choose from with the other filters kept: their names, queries, and whether one is chosen."""
    yesterday, week = today - timedelta(days=1), today - timedelta(days=6)
    chosen = [query.get(name, "") for name in ("first", "last")]
    found = []
    for name, days in (
        (_("All dates"), ["", ""]),
        (_("Today"), [today.isoformat()] * 2),
        (_("Yesterday"), [yesterday.isoformat()] * 2),
        (ngettext("%(count)s day", "%(count)s days", 7) % {"count": 7}, [week.isoformat(), today.isoformat()]),
    ):
        link = query.copy()
        link["first"], link["last"] = days
        found.append((name, link.urlencode(), chosen == days))
    return found


@page(Right.ORDERS, section="orders")
def download(request: PageRequest) -> HttpResponse:
    """Stream the filtered orders as CSV."""
    venue = request.access.venue
    form = FilterForm(request.GET, today=get_today(venue))
    if not form.is_valid():
        return list_orders(request, venue=venue.public_id)
    orders = form.apply(Order.objects.of(venue))
    return csv_response(search.list_csv_rows(orders), "orders.csv")


def describe_badge(order: Order) -> tuple[str, str]:
    """Return the style and the text of the badge: of an order to do, how far the kitchen is."""
    if order.status != Order.Status.PENDING:
        return BADGES[order.status], capfirst(str(STATES[order.status]))
    style = "good" if order.stage == Order.Stage.READY else BADGES[order.status]
    return style, str(NEW) if order.stage == Order.Stage.RECEIVED else capfirst(str(STATES[order.stage]))


def format_history_line(event: Event) -> dict[str, Any]:
    kind, _separator, name = event.actor.partition(":")
    key = _("API key %(name)s") % {"name": name}
    actor = {"staff": name, "key": key, "guest": _("the guest")}.get(kind, "Tablewire")
    label = EVENT_LABELS.get(EventType(event.type)) or STAGE_LABELS[event.record["stage"]]
    return {"at": event.created_at, "label": label, "actor": actor}


def render_order(
    request: PageRequest, order: Order, *, address: AddressForm | None = None, status: int = 200
) -> HttpResponse:
    events = Event.objects.filter(subject=order.pk, venue=order.venue_id).order_by("-created_at", "-id")
    if address is None:
        address = AddressForm(initial={"delivery_address": order.delivery_address})
    badge, state = describe_badge(order)
    context = {
        "order": order,
        "id": order.public_id,
        "badge": badge,
        "state": state,
        "kind": KINDS[order.fulfilment],
        "next_verb": get_next_verb(order),
        "due": describe_due(order, now=request.access.venue.now()) if order.status == Order.Status.PENDING else None,
        "today": get_today(order.venue),
        "former_state": STATES[order.former_stage] if order.former_stage else "",
        "timeline": [format_history_line(event) for event in events[:200]],
        "address": address,
        **format_amounts(order),
    }
    return render(request, "orders/order.html", context, status=status)


def describe_due(order: Order, *, now: datetime) -> dict[str, Any]:
    """Return when the order is due, its minutes left or late, and the style of the badge. One query at most."""
    due_at = order.promised_at or order.requested_at or order.created_at + board.read_settings(order.venue).prep
    minutes = (due_at - now) // timedelta(minutes=1)
    if minutes < 0:
        text = _("%(minutes)s min late") % {"minutes": -minutes} if minutes > -100 else _("late")
    else:
        text = _("in %(minutes)s min") % {"minutes": minutes} if minutes < 100 else ""
    return {"at": due_at, "text": text, "badge": "bad" if minutes < 0 else ""}


def format_amounts(order: Order) -> dict[str, Any]:
    return {
        "charges": [
            (charge["name"], format_money(Decimal(charge["amount"]), order.currency)) for charge in order.charges
        ],
        "tip": format_money(order.tip, order.currency),
        "subtotal": format_money(order.subtotal, order.currency),
        "tax": format_money(order.tax, order.currency),
        "total": format_money(order.total, order.currency),
        "lines": [
            (line, format_money(line.unit_price, order.currency), format_money(line.line_total, order.currency))
            for line in order.items.all()
        ],
    }


@page(Right.ORDERS, section="orders")
def show_order(request: PageRequest, *, order: str) -> HttpResponse:
    return render_order(request, get_order(request, order))


# The board shows it in a frame to print it.
@csp_replace({"frame-ancestors": ["'self'"]})
@xframe_options_sameorigin
@page(Right.ORDERS, section="orders")
def show_ticket(request: PageRequest, *, order: str) -> HttpResponse:
    """Render the kitchen ticket for 80 mm paper, in the venue's language."""
    venue = request.access.venue
    found = get_order(request, order, prep=board.read_settings(venue).prep)
    with translation.override(venue.language):
        context = {"order": found, "id": found.public_id, "fulfilment": name_fulfilment(found)}
        return render(request, "orders/ticket.html", context | format_amounts(found))


@page(Right.ORDERS, section="orders", methods=("POST",))
def change_status(request: PageRequest, *, order: str) -> HttpResponse:
    found = get_order(request, order)
    verb = request.POST.get("to", "")
    if verb not in (*STAGE_VERBS, "complete", "reopen"):
        raise Http404
    # A stage is set only if the order is still as the user has seen it.
    version = request.POST.get("version", "")
    seen = int(version) if verb in STAGE_VERBS and re.fullmatch("[0-9]{1,9}", version) else None
    result = apply_action(found, verb, actor=request.access.actor, version=seen)
    return redirect_to_order(request, found, *result)


@page(Right.ORDERS, section="orders", methods=("GET", "HEAD", "POST"))
def cancel_order(request: PageRequest, *, order: str) -> HttpResponse:
    """Ask for the reason, then cancel the order."""
    found = get_order(request, order)
    form = CancellationForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        context = {
            "order": found,
            "id": found.public_id,
            "form": form,
            "state": STATES[found.status],
            **format_amounts(found),
        }
        return render(request, "orders/order_cancel.html", context, status=400 if form.is_bound else 200)
    result = apply_action(found, "cancel", actor=request.access.actor, because=form.because)
    return redirect_to_order(request, found, *result)


@page(Right.ORDERS, section="orders", methods=("POST",))
def change_address(request: PageRequest, *, order: str) -> HttpResponse:
    found = get_order(request, order)
    form = AddressForm(request.POST)
    if not form.is_valid():
        return render_order(request, found, address=form, status=400)
    address = form.cleaned_data["delivery_address"]
    if address != found.delivery_address:
        try:
            now = request.access.venue.now()
            commands.change_delivery_address(found, address, now=now, actor=request.access.actor)
        except InvalidRequest as refusal:
            return redirect_to_order(request, found, False, refusal.message)
    saved, pickup = _("Delivery address saved."), _("Order %(number)s is now for pick-up.") % {"number": found.number}
    return redirect_to_order(request, found, True, saved if found.delivery_address else pickup)


def redirect_to_order(request: PageRequest, order: Order, is_done: bool, message: str) -> HttpResponse:
    messages.add_message(request, messages.SUCCESS if is_done else messages.WARNING, message)
    return redirect("order", venue=request.access.venue.public_id, order=order.public_id)


@page(Right.ORDERS)
def show_tiles(request: PageRequest) -> HttpResponse:
    """Render tiles of the overview: the counts of the order board, and the total of today's orders."""
    venue = request.access.venue
    sums = board.sum_today(venue, now=venue.now())
    today = sums["today"]
    context = {
        "sums": sums,
        "today": today,
        "revenue": format_money(today["revenue"], venue.currency),
        "revenue_before": format_money(sums["a_week_before"]["revenue"], venue.currency),
        "now": venue.now(),
        "sees_sales": request.access.may(Right.SALES),
    }
    return render(request, "orders/overview_tile.html", context)

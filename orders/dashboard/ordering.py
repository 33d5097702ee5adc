"""Settings: the ordering page, its charges, and the QR codes of the tables."""

from decimal import Decimal
from uuid import UUID

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Venue
from accounts.tenancy.permissions import Right
from orders.dashboard.board import format_money
from orders.models import ChargeRule, Menu, Order, OrderingSettings
from orders.ordering_page import links, registry
from orders.ordering_page.forms import (
    FULFILMENT_LABELS,
    MAX_CODES,
    ChargeRuleForm,
    ConflictCheckForm,
    OrderingSettingsForm,
    TablesForm,
)
from orders.ordering_page.qr_codes import draw_code
from orders.pricing import format_percent


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def edit(request: PageRequest) -> HttpResponse:
    """Show the settings of the ordering page with the charges (GET), and change them (POST)."""
    venue = request.access.venue
    row = OrderingSettings.objects.filter(venue=venue).first() or OrderingSettings(venue=venue)
    form = OrderingSettingsForm(request.POST if request.method == "POST" else None, instance=row)
    if form.is_valid() and is_stored(form):
        messages.success(request, _("Saved."))
        return redirect("setup-ordering", venue=venue.public_id)
    stored = OrderingSettings.objects.filter(venue=venue).first()
    context = {
        "form": form,
        "is_open": bool(stored and stored.is_page_open),
        "has_menu": Menu.objects.filter(venue=venue, is_published=True, items__isnull=False).exists(),
        "url": links.page_url(venue),
        "usdc_paid": sum_usdc(venue),
        "charges": [
            (rule, describe_price(rule), describe_orders(rule))
            for rule in ChargeRule.objects.filter(venue=venue).order_by("position", "name").select_related("venue")
        ],
        "tables": TablesForm(initial={"tables": ", ".join(registry.list_tables(venue)[:MAX_CODES])}),
    }
    return render(request, "orders/setup_ordering.html", context, status=400 if form.is_bound else 200)


def sum_usdc(venue: Venue) -> Decimal | None:
    """Return what guests have paid in USDC, which is payable to the venue; None if nothing. One query."""
    paid = Order.objects.of(venue).filter(usdc_payment__isnull=False, payment_state=Order.PaymentState.PAID)
    total: Decimal | None = paid.aggregate(total=Sum("usdc_amount"))["total"]
    return total


def describe_price(rule: ChargeRule) -> str:
    if rule.percent is not None:
        return f"{format_percent(rule.percent)} %"
    return format_money(rule.amount or Decimal(0), rule.venue.currency) or ""


def describe_orders(rule: ChargeRule) -> str:
    orders = ", ".join(str(label) for each, label in FULFILMENT_LABELS.items() if each in rule.fulfilments) or _("All")
    if rule.free_from is None:
        return orders
    amount = format_money(rule.free_from, rule.venue.currency)
    return _("%(orders)s; free from %(amount)s") % {"orders": orders, "amount": amount}


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def edit_charge(request: PageRequest, *, key: UUID | None = None) -> HttpResponse:
    """Add a charge, or change one."""
    venue = request.access.venue
    row = get_object_or_404(ChargeRule, venue=venue, pk=key) if key else ChargeRule(venue=venue)
    row.venue = venue
    name = row.name
    form = ChargeRuleForm(request.POST if request.method == "POST" else None, instance=row)
    if form.is_valid() and is_stored(form):
        messages.success(request, _("Saved: %(name)s.") % {"name": row})
        return redirect("setup-ordering", venue=venue.public_id)
    context = {"form": form, "name": name, "key": key}
    return render(request, "orders/charge.html", context, status=400 if form.is_bound else 200)


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def remove_charge(request: PageRequest, *, key: UUID) -> HttpResponse:
    """Ask for confirmation, then delete a charge. Orders keep what they were charged."""
    venue = request.access.venue
    row = get_object_or_404(ChargeRule, venue=venue, pk=key)
    if request.method != "POST":
        return render(request, "orders/charge_remove.html", {"row": row})
    row.delete()
    messages.success(request, _("Deleted: %(name)s.") % {"name": row})
    return redirect("setup-ordering", venue=venue.public_id)


def is_stored(form: ConflictCheckForm) -> bool:
    """Save the row; return False with a form error after a concurrent change, also of the currency of its amounts."""
    venue = form.instance.venue
    try:
        with transaction.atomic():
            # A change of the currency locks the venue too (orders/sql/forbid_venue_currency_change.sql).
            unchanged = Venue.objects.select_for_update(no_key=True).filter(pk=venue.pk, currency=venue.currency)
            if unchanged.first():
                form.save()
                return True
    except IntegrityError:
        pass
    form.add_error(None, _("Another user has just changed this. Check and try again."))
    return False


@page(Right.VENUE, section="venue")
def show_qr_codes(request: PageRequest) -> HttpResponse:
    """A sheet of QR codes for printing, one for each table."""
    venue = request.access.venue
    form = TablesForm(request.GET)
    codes = []
    if form.is_valid():
        codes = [(name, draw_code(links.page_url(venue, table=name))) for name in form.cleaned_data["tables"]]
    context = {"form": form, "codes": codes}
    return render(request, "orders/qr_codes.html", context, status=200 if codes else 400)

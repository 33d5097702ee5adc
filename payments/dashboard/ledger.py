"""Payments of an account's wallets: list, CSV file, detail, and spending by day."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Account
from accounts.tenancy.permissions import Right
from framework.api.pagination.cursor import InvalidCursor
from framework.api.urls import public_url
from framework.charts import Column, Layout, bar_chart
from framework.csv_export import csv_response
from framework.errors import ApiError
from framework.languages import format_percent
from payments.chain.networks import get_explorer_url
from payments.checkout.spending_limit import sum_spent
from payments.dashboard import account_summary
from payments.formatting import format_amount
from payments.ledger import payment_history
from payments.models import Billing, Payment, PaymentEvent, Product
from payments.models.billing import default_alert_percents
from payments.reports import spending
from payments.reports.spending import UTC_ZONE, Month

SECTION = "data"
PAGE_SIZE = 25
CHART = Layout(width=440, height=200, left=60, right=14, top=10, bottom=24, max_labels=8)
MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])")
# The labels of the states for payers, with the colour of their badge.
STATE_LABELS = {
    "pending": (gettext_lazy("Pending settlement"), "info"),
    "settled": (gettext_lazy("Paid, not delivered"), "warn"),
    "delivered": (gettext_lazy("Delivered"), "good"),
    "refund_due": (gettext_lazy("Refund due"), "warn"),
    "refunded": (gettext_lazy("Refunded"), "info"),
    "expired": (gettext_lazy("Expired"), "soft"),
}
COLUMNS = (
    *("id", "created_at", "state", "amount_usdc", "products", "channel", "resource", "payer", "pay_to", "network"),
    *("tx_hash", "settled_at", "delivered_at", "refund_usdc", "refund_tx_hash"),
)


class LedgerFilter(forms.Form):
    product = forms.ChoiceField(label=gettext_lazy("Product"), required=False)
    state = forms.ChoiceField(
        label=gettext_lazy("Status"),
        required=False,
        choices=[("", gettext_lazy("Any status")), *((name, label) for name, (label, _) in STATE_LABELS.items())],
    )
    month = forms.RegexField(
        rf"^{MONTH.pattern}\Z",
        label=gettext_lazy("Month (UTC)"),
        required=False,
        max_length=7,
        widget=forms.TextInput(attrs={"type": "month", "placeholder": "2026-11"}),
        error_messages={"invalid": gettext_lazy("Enter the month as 2026-11.")},
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        products = Product.objects.order_by("name").values_list("slug", "name")
        cast("forms.ChoiceField", self.fields["product"]).choices = [("", gettext_lazy("Any product")), *products]

    def page_filters(self) -> dict[str, Any]:
        """Return the arguments for `payment_history.list_payments`. Requires a valid form."""
        values = self.cleaned_data
        month = parse_month(values["month"])
        return {
            "product": values["product"] or None,
            "state": values["state"] or None,
            "since": month.since if month else None,
            "until": month.until if month else None,
        }


class LimitForm(forms.ModelForm[Billing]):
    alert_percents = forms.TypedMultipleChoiceField(
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Email the owners at"),
        help_text=gettext_lazy("The owners get at most one email a month for each percentage."),
    )

    class Meta:
        model = Billing
        fields = ("monthly_limit_usdc", "alert_percents")
        labels = {"monthly_limit_usdc": gettext_lazy("Limit for a month, in USDC")}
        help_texts = {"monthly_limit_usdc": gettext_lazy("If this is empty, there is no limit.")}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        offered = sorted({*default_alert_percents(), *self.instance.alert_percents})
        field = cast("forms.ChoiceField", self.fields["alert_percents"])
        field.choices = [(percent, format_percent(percent)) for percent in offered]

    def clean_alert_percents(self) -> list[int]:
        return sorted(set(self.cleaned_data["alert_percents"]))


def parse_month(text: str) -> Month | None:
    """Parse a month of UTC, as those of the limit and the invoices are; None if invalid or outside 2000 to 2999."""
    found = MONTH.fullmatch(text)
    if found is None or not 2000 <= int(found[1]) <= 2999:
        return None
    return Month(date(int(found[1]), int(found[2]), 1), UTC_ZONE)


@page(Right.DATA, section=SECTION)
def ledger(request: PageRequest) -> HttpResponse:
    """List payments, newest first. Three queries besides those of the `page` decorator, four for several wallets."""
    form = LedgerFilter(request.GET)
    context: dict[str, Any] = {"form": form, "is_filtered": any(request.GET.get(name) for name in form.fields)}
    wallets = account_summary.list_addresses(request.access.account)
    context |= {"wallets": wallets, "base_url": public_url("")}
    if not form.is_valid():
        return render(request, "payments/dashboard/ledger.html", context, status=400)
    filters, now = form.page_filters(), timezone.now()
    status, cursor = 200, request.GET.get("cursor") or None
    try:
        found = payment_history.list_payments(wallets, limit=PAGE_SIZE, now=now, cursor=cursor, **filters)
    except InvalidCursor:
        status, context["is_too_old"] = 400, True
        found = payment_history.list_payments(wallets, limit=PAGE_SIZE, now=now, **filters)
    names = dict(cast("Any", form.fields["product"]).choices)
    context |= {
        "rows": [payment_context(row, names) for row in found.rows],
        "cursor": cursor,
        "next_cursor": found.next_cursor,
    }
    return render(request, "payments/dashboard/ledger.html", context, status=status)


def payment_context(row: Payment, names: dict[str, str]) -> dict[str, Any]:
    label, colour = STATE_LABELS[payment_history.NAMES[Payment.State(row.state)]]
    explorer = get_explorer_url(row.network)
    return {
        "row": row,
        "state": label,
        "colour": colour,
        "products": ", ".join(str(names.get(slug, slug)) for slug in row.products),
        "link": f"{explorer}/tx/{row.tx_hash}" if explorer and row.tx_hash else None,
    }


@page(Right.DATA, section=SECTION)
def payments_csv(request: PageRequest) -> HttpResponse:
    """Stream all filtered payments as CSV; times in UTC."""
    form = LedgerFilter(request.GET)
    if not form.is_valid():
        return render(request, "payments/dashboard/ledger.html", {"form": form, "wallets": []}, status=400)
    wallets = account_summary.list_addresses(request.access.account)
    filters = form.page_filters()
    payments = spending.iterate_payments(wallets, now=timezone.now(), **filters)
    return csv_response(csv_rows(payments), "payments.csv")


def csv_rows(rows: Iterator[Payment]) -> Iterator[tuple[object, ...]]:
    """Yield the header, and a row for each payment."""
    yield COLUMNS
    for row in rows:
        refund = getattr(row, "refund", None)
        yield (
            *(row.public_id, row.created_at.isoformat(), payment_history.NAMES[Payment.State(row.state)]),
            *(format_amount(row.amount_usdc), " + ".join(row.products), row.channel, row.resource),
            *(row.payer, row.pay_to, row.network, row.tx_hash),
            *(moment and moment.isoformat() for moment in (row.settled_at, row.delivered_at)),
            *((format_amount(refund.amount_usdc), refund.tx_hash) if refund else (None, None)),
        )


@page(Right.DATA, section=SECTION)
def payment(request: PageRequest, payment: str) -> HttpResponse:
    """Show one payment with its history and refund. Four queries besides those of the `page` decorator."""
    wallets = account_summary.list_addresses(request.access.account)
    try:
        row = payment_history.get_payment(wallets, payment)
    except ApiError as error:
        raise Http404 from error
    _reason, detail = payment_history.get_reason(row)
    context = {
        "shown": payment_context(row, dict(Product.objects.values_list("slug", "name"))),
        "payment": row,
        "refund": getattr(row, "refund", None),
        "detail": detail,
        "steps": [
            (event, *STATE_LABELS[payment_history.NAMES[Payment.State(event.after)]])
            for event in PaymentEvent.objects.filter(payment=row).order_by("pk")[:100]
            if event.after
        ],
    }
    return render(request, "payments/dashboard/payment.html", context)


@page(Right.DATA, section=SECTION)
def spending_page(request: PageRequest) -> HttpResponse:
    """Show spending by day of a month, and by month, and the limit. Four queries besides those of the decorator.

    Five with a limit.
    """
    return render_spending(request)


@page(Right.DATA, section=SECTION, methods=("POST",))
def limit(request: PageRequest) -> HttpResponse:
    """Save the monthly spending limit and the shares of it at which the owners get a mail."""
    account = request.access.account
    form = LimitForm(request.POST, instance=find_billing(account))
    if not form.is_valid():
        return render_spending(request, form=form)
    # The new limit is alerted anew.
    unalerted = {"alerted_month": None, "refusal_alerted_month": None}
    Billing.objects.update_or_create(account=account, defaults={**form.cleaned_data, **unalerted})
    messages.success(request, _("The spending limit was saved."))
    return redirect("data-spending", venue=request.access.venue.public_id)


def find_billing(account: Account) -> Billing:
    """Return the account's billing, unsaved if it has none yet. One query."""
    return Billing.objects.filter(pk=account.pk).first() or Billing(account=account)


def render_spending(request: PageRequest, *, form: LimitForm | None = None) -> HttpResponse:
    now = timezone.now()
    current = Month.of(now, UTC_ZONE)
    text = request.GET.get("month", "")
    month = parse_month(text) if text else current
    is_invalid = month is None
    month = month or current
    account = request.access.account
    wallets = account_summary.list_addresses(account)
    billing = find_billing(account)
    days = spending.spending_by_day(wallets, month)
    context = {
        "month": month,
        "is_invalid": is_invalid,
        "limit_form": form or LimitForm(instance=billing),
        "limit": billing.monthly_limit_usdc,
        "used": sum_spent(account.pk, current) if billing.monthly_limit_usdc else None,
        "days": days,
        "spent_days": [day for day in days if day.payments],
        "chart": bar_chart(
            [
                Column(
                    f"{date_format(day.day, 'j F')}: {format_amount(day.usdc)} USDC",
                    f"{day.day:%-d}",
                    [("a", day.usdc)],
                )
                for day in days
            ],
            CHART,
        ),
        "months": [each for each in spending.spending_by_month(wallets, current) if each.payments],
        "wallets": wallets,
        "total": sum(day.usdc for day in days),
        "earlier": month.earlier(1),
        "later": month.earlier(-1) if month.until <= now else None,
    }
    return render(request, "payments/dashboard/spending.html", context, status=400 if is_invalid or form else 200)

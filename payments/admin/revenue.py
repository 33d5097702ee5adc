"""The revenue report of the admin: a chart, tables, and CSV files."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from framework.admin.read_only import ReadOnlyAdmin
from framework.charts import Column, Layout, bar_chart
from framework.csv_export import csv_response
from payments.formatting import format_amount
from payments.models import Payment, Revenue
from payments.reports import revenue
from payments.reports.revenue import FIRST_DAY, LAST_DAY, MAX_STEPS, PER, TABLES, Period, Sum

PERIODS = {"7": "Last 7 days", "30": "Last 30 days", "90": "Last 90 days", "365": "Last 12 months"}
# The columns of the tables, by the attribute of a Sum.
COLUMNS = {
    "payments": "Payments",
    "usdc": "USDC",
    "average": "Average",
    "refunded": "Refunded",
    "refunded_usdc": "USDC",
    "refunds_due": "Refunds due",
    "refunds_due_usdc": "USDC",
    "unknown": "Unknown",
}
read_columns = attrgetter(*COLUMNS)
LEDGER_COLUMNS = (
    *("id", "state", "form", "network", "payer", "amount_usdc", "products", "tier", "channel", "resource", "tx_hash"),
    *("block", "payment_identifier", "created_at", "settled_at", "delivered_at", "refunded_at"),
)
CHART = Layout(width=960, height=260, left=70, right=10, top=14, bottom=30, max_labels=12, grid_lines=5)


class PeriodForm(forms.Form):
    days = forms.ChoiceField(choices=[*PERIODS.items(), ("custom", "Custom range")], required=False, label="Period")
    first = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    last = forms.DateField(required=False, label="To", widget=forms.DateInput(attrs={"type": "date"}))
    per = forms.ChoiceField(
        choices=[("", "automatic"), *((name, name) for name in PER)], required=False, label="Bar size"
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        first, last = values.get("first"), values.get("last")
        if values.get("days") == "custom" and not self.errors:
            if first is None or last is None:
                raise forms.ValidationError("Enter the first and the last day.")
            if last < first:
                raise forms.ValidationError("The last day must not be before the first.")
            if first < FIRST_DAY or last > LAST_DAY:
                raise forms.ValidationError(f"Enter days from {FIRST_DAY} to {LAST_DAY}.")
            if (last - first).days > 3660:
                raise forms.ValidationError("Enter at most ten years.")
        if not self.errors and len(self.period(timezone.now().date()).steps()) > MAX_STEPS:
            raise forms.ValidationError(f"At most {MAX_STEPS} bars: select week or month as the bar size.")
        return values

    def period(self, today: date) -> Period:
        """Return the selected period; by default the last 30 days."""
        values = self.cleaned_data
        if values.get("days") == "custom":
            first, last = values["first"], values["last"]
        else:
            last = today
            first = today - timedelta(days=int(values.get("days") or 30) - 1)
        days = (last - first).days
        return Period(first, last, values.get("per") or ("day" if days <= 92 else "week" if days < 360 else "month"))


@admin.register(Revenue)
class RevenueAdmin(ReadOnlyAdmin):
    """The revenue page, for users who may view payments."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.has_perm("payments.view_payment"))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Render the report, or stream it as CSV. One SQL statement besides those of the session."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = PeriodForm(request.GET if {"days", "first", "last", "per"} & request.GET.keys() else {"days": "30"})
        if not form.is_valid():
            return self._page(request, form, status=400)
        period = form.period(timezone.now().date())
        match request.GET.get("csv"):
            case "report":
                return csv_response(
                    report_rows(revenue.load_report(period)), f"revenue-{period.first}-{period.last}.csv"
                )
            case "ledger":
                return csv_response(ledger_rows(period), f"ledger-{period.first}-{period.last}.csv")
        report = revenue.load_report(period)
        moments = report.tables["moment"]
        return self._page(
            request,
            form,
            report=report,
            columns=COLUMNS.values(),
            chart=bar_chart([chart_column(row, per=period.per) for row in moments], CHART),
            chart_description=describe_chart(moments, per=period.per),
            # The newest period comes first.
            tables=[("Time", moments[::-1]), *((name.capitalize(), report.tables[name]) for name in TABLES[1:])],
            # Explicit dates, so that a link returns the same file tomorrow.
            period_query=urlencode({"days": "custom", "first": period.first, "last": period.last, "per": period.per}),
        )

    def _page(self, request: HttpRequest, form: PeriodForm, *, status: int = 200, **context: Any) -> HttpResponse:
        context |= {
            **self.admin_site.each_context(request),
            "title": "Revenue",
            "opts": self.opts,
            "form": form,
            "quick": PERIODS.items(),
        }
        return TemplateResponse(request, "payments/revenue.html", context, status=status)


def report_rows(report: revenue.Report) -> Iterable[tuple[object, ...]]:
    yield ("by", "name", *COLUMNS)
    yield ("all", f"{report.period.first} to {report.period.last}", *read_columns(report.total))
    yield ("deposits, not in the revenue", report.deposits.name, *read_columns(report.deposits))
    yield ("orders, not in the revenue", report.orders.name, *read_columns(report.orders))
    for name in TABLES:
        for row in report.tables[name]:
            yield (report.period.per if name == "moment" else name, row.name, *read_columns(row))


def ledger_rows(period: Period) -> Iterable[tuple[object, ...]]:
    """Yield the payments whose money arrived in the period; times in UTC."""
    yield LEDGER_COLUMNS
    for row in revenue.iterate_payments(period):
        yield tuple(_ledger_cell(row, name) for name in LEDGER_COLUMNS)


def _ledger_cell(row: Payment, name: str) -> object:
    if name == "id":
        return row.public_id
    value = getattr(row, name)
    if name == "products":
        return " + ".join(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def chart_column(row: Sum, *, per: str) -> Column:
    label = row.name[:7] if per == "month" else row.name[5:]
    return Column(f"{row.name}: {format_amount(row.usdc)} USDC, {row.payments} payments", label, [("", row.usdc)])


def describe_chart(sums: Sequence[Sum], *, per: str) -> str:
    best = max(sums, key=lambda row: row.usdc, default=None)
    maximum = f" The best {per} is {best.name} with {format_amount(best.usdc)} USDC." if best and best.usdc else ""
    return f"USDC by {per}, {len(sums)} bars.{maximum}"

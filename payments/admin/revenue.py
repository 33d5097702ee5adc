"""The revenue report of the back office: a chart, tables, and both as CSV."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from framework.admin.read_only import ReadOnlyAdmin
from framework.charts import Column, Layout, bar_chart
from framework.csv_export import csv_lines
from payments.models import Payment, Revenue
from payments.reports import revenue
from payments.reports.revenue import FIRST_DAY, LAST_DAY, MOST_STEPS, PER, TABLES, Period, Sum

LAST = {"7": "Last 7 days", "30": "Last 30 days", "90": "Last 90 days", "365": "Last 12 months"}
HEADINGS = {
    "moment": "Time",
    "product": "Product",
    "tier": "Tier",
    "form": "Form",
    "channel": "Channel",
    "network": "Network",
}
COLUMNS = ("payments", "usdc", "average", "refunded", "refunded_usdc", "owed", "owed_usdc", "unknown")
COLUMN_LABELS = ("Payments", "USDC", "Average", "Refunded", "USDC", "Refunds due", "USDC", "Unknown")
LEDGER = (
    "id",
    "state",
    "form",
    "network",
    "payer",
    "amount_usdc",
    "products",
    "tier",
    "channel",
    "resource",
    "tx_hash",
    "block",
    "payment_identifier",
    "created_at",
    "settled_at",
    "delivered_at",
    "refunded_at",
)


CHART = Layout(width=960, height=260, left=70, right=10, top=14, bottom=30, max_labels=12, grid_lines=5)


class PeriodForm(forms.Form):
    """The period and the step of the report."""

    days = forms.ChoiceField(choices=[*LAST.items(), ("custom", "Custom range")], required=False, label="Period")
    first = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    last = forms.DateField(required=False, label="To", widget=forms.DateInput(attrs={"type": "date"}))
    per = forms.ChoiceField(
        choices=[("", "automatic"), *((name, name) for name in PER)], required=False, label="Bar size"
    )

    def clean(self) -> dict[str, Any]:
        """Check the order of the days, and the number of bars."""
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
        if not self.errors and self.period(timezone.now().date()).is_too_fine:
            raise forms.ValidationError(f"At most {MOST_STEPS} bars: select week or month as the bar size.")
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
        """Users who may view payments."""
        return bool(request.user.has_perm("payments.view_payment"))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The report is read-only."""
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Listed for the same users."""
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
                return as_file(report_rows(revenue.report(period)), f"revenue-{period.first}-{period.last}.csv")
            case "ledger":
                return as_file(ledger_rows(period), f"ledger-{period.first}-{period.last}.csv")
        found = revenue.report(period)
        return self._page(
            request,
            form,
            report=found,
            columns=COLUMN_LABELS,
            chart=bar_chart([column_of(each, per=period.per) for each in found.tables["moment"]], CHART),
            chart_description=described(found.tables["moment"], per=period.per),
            tables=[(HEADINGS[name], _newest_first(name, found.tables[name])) for name in TABLES],
            # Explicit dates, so that a link returns the same file tomorrow.
            chosen=urlencode({"days": "custom", "first": period.first, "last": period.last, "per": period.per}),
        )

    def _page(self, request: HttpRequest, form: PeriodForm, *, status: int = 200, **more: Any) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": "Revenue",
            "opts": self.opts,
            "form": form,
            "quick": LAST.items(),
            **more,
        }
        return TemplateResponse(request, "payments/revenue.html", context, status=status)


def report_rows(report: revenue.Report) -> Iterable[tuple[object, ...]]:
    """Yield all tables of the report, with the total first."""
    yield ("by", "name", *COLUMNS)
    yield ("all", f"{report.period.first} to {report.period.last}", *_cells(report.total))
    for name in TABLES:
        for each in report.tables[name]:
            yield (report.period.per if name == "moment" else name, each.name, *_cells(each))


def ledger_rows(period: Period) -> Iterable[tuple[object, ...]]:
    """Yield the payments whose money arrived in the period; times in UTC."""
    yield LEDGER
    for row in revenue.lines(period):
        yield tuple(_ledger_cell(row, name) for name in LEDGER)


def as_file(rows: Iterable[tuple[object, ...]], name: str) -> HttpResponse:
    """Return a streamed CSV file."""
    response = StreamingHttpResponse(
        csv_lines(rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )
    # The type stubs expect HttpResponse.
    return cast("HttpResponse", response)


def _newest_first(name: str, sums: tuple[Sum, ...]) -> tuple[Sum, ...]:
    return sums[::-1] if name == "moment" else sums


def _cells(each: Sum) -> Iterable[object]:
    return (getattr(each, name) for name in COLUMNS)


def _ledger_cell(row: Payment, name: str) -> object:
    if name == "id":
        return row.public_id
    value = getattr(row, name)
    if name == "products":
        return " + ".join(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def column_of(each: revenue.Sum, *, per: str) -> Column:
    """The USDC of a day, week or month as a bar."""
    label = each.name[:7] if per == "month" else each.name[5:]
    return Column(f"{each.name}: {each.usdc.normalize():f} USDC, {each.payments} payments", label, [("", each.usdc)])


def described(sums: Sequence[revenue.Sum], *, per: str) -> str:
    """The chart in words."""
    best = max(sums, key=lambda each: each.usdc, default=None)
    words = f" The best {per} is {best.name} with {best.usdc.normalize():f} USDC." if best and best.usdc else ""
    return f"USDC by {per}, {len(sums)} bars.{words}"

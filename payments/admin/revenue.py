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
WORDS = ("Payments", "USDC", "Average", "Sent back", "USDC", "Owed back", "USDC", "Unknown")
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
    """Which days, told by which step."""

    days = forms.ChoiceField(choices=[*LAST.items(), ("custom", "From … to …")], required=False, label="Period")
    first = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    last = forms.DateField(required=False, label="to", widget=forms.DateInput(attrs={"type": "date"}))
    per = forms.ChoiceField(
        choices=[("", "what fits"), *((name, name) for name in PER)], required=False, label="each bar a"
    )

    def clean(self) -> dict[str, Any]:
        """Days in their order, and not more steps than can be shown."""
        told = super().clean() or {}
        first, last = told.get("first"), told.get("last")
        if told.get("days") == "custom" and not self.errors:
            if first is None or last is None:
                raise forms.ValidationError("Name the first and the last day.")
            if last < first:
                raise forms.ValidationError("The last day is not before the first.")
            if first < FIRST_DAY or last > LAST_DAY:
                raise forms.ValidationError(f"Days from {FIRST_DAY} to {LAST_DAY}.")
            if (last - first).days > 3660:
                raise forms.ValidationError("Ten years at most.")
        if not self.errors and self.period(timezone.now().date()).is_too_fine:
            raise forms.ValidationError(f"At most {MOST_STEPS} bars: choose a week or a month for each.")
        return told

    def period(self, today: date) -> Period:
        """The period that was chosen; without a choice the last 30 days."""
        told = self.cleaned_data
        if told.get("days") == "custom":
            first, last = told["first"], told["last"]
        else:
            last = today
            first = today - timedelta(days=int(told.get("days") or 30) - 1)
        days = (last - first).days
        return Period(first, last, told.get("per") or ("day" if days <= 92 else "week" if days < 360 else "month"))


@admin.register(Revenue)
class RevenueAdmin(ReadOnlyAdmin):
    """One page, for who may look at payments."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Who may look at the ledger may look at its sums."""
        return bool(request.user.has_perm("payments.view_payment"))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """There is nothing to change."""
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Shown in the index to the same people."""
        return self.has_view_permission(request)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The report, or what was asked for as CSV. One statement beside those of the session."""
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
            columns=WORDS,
            chart=bar_chart([column_of(each, per=period.per) for each in found.tables["moment"]], CHART),
            chart_description=described(found.tables["moment"], per=period.per),
            tables=[(HEADINGS[name], _newest_first(name, found.tables[name])) for name in TABLES],
            # Days by name, so that a file of today is the same file when it is asked for tomorrow.
            chosen=urlencode({"days": "custom", "first": period.first, "last": period.last, "per": period.per}),
        )

    def _page(self, request: HttpRequest, form: PeriodForm, *, status: int = 200, **told: Any) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": "Revenue",
            "opts": self.opts,
            "form": form,
            "quick": LAST.items(),
            **told,
        }
        return TemplateResponse(request, "payments/revenue.html", context, status=status)


def report_rows(report: revenue.Report) -> Iterable[tuple[object, ...]]:
    """Every table of the report below the other, with the sum of all first."""
    yield ("by", "name", *COLUMNS)
    yield ("all", f"{report.period.first} to {report.period.last}", *_cells(report.total))
    for name in TABLES:
        for each in report.tables[name]:
            yield (report.period.per if name == "moment" else name, each.name, *_cells(each))


def ledger_rows(period: Period) -> Iterable[tuple[object, ...]]:
    """The lines of the ledger whose money arrived in the period, moments in UTC."""
    yield LEDGER
    for row in revenue.lines(period):
        yield tuple(_ledger_cell(row, name) for name in LEDGER)


def as_file(rows: Iterable[tuple[object, ...]], name: str) -> HttpResponse:
    """A file of CSV that is written while it is sent."""
    response = StreamingHttpResponse(
        csv_lines(rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )
    # The stubs have views of the admin answer with the other kind.
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

"""The sales report, and its tables as CSV."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.dates import WEEKDAYS, WEEKDAYS_ABBR
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Venue
from accounts.tenancy.permissions import Right
from framework.charts import Column, Layout, bar_chart
from framework.csv_export import csv_response
from framework.languages import format_day_of_month, format_number, format_percent, format_short_day
from orders import board, pricing, reports
from orders.dashboard.board import format_money
from orders.reports import AMOUNTS, Dish, Period, Sums
from orders.search import DAY

SECTION = "sales"
DEFAULT_DAYS = 7
PRESET_DAYS = (7, 30, 90)
# At a venue with 450 orders a day (520,000 in all) on an overloaded machine, the dishes of so many days took 3 to 4 s,
# the days and hours 1 to 2 s each; those of 30 days 0.5 s and 0.1 s. A statement may take STATEMENT_TIMEOUT_MS.
MAX_DAYS = 366
FIRST_YEAR = 2000
BEST_SELLERS = 10
CHART = Layout(width=400, height=170, left=12, right=14, top=10, bottom=24, max_labels=6)
DIGIT_WIDTH = 8
# In files, which are in English in all languages.
KEYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Of orders.reports.AMOUNTS
AMOUNT_LABELS = {
    "total": gettext_lazy("Total"),
    "net": gettext_lazy("Net"),
    "tax": gettext_lazy("Tax"),
    "tips": gettext_lazy("Tips"),
}


class PeriodForm(forms.Form):
    """The dates of a report: without dates the last DEFAULT_DAYS days; one date alone sets the other one."""

    first = forms.DateField(required=False, label=pgettext_lazy("period", "From"), widget=DAY)
    last = forms.DateField(required=False, label=pgettext_lazy("period", "To"), widget=DAY)

    def __init__(self, *args: Any, today: date, **options: Any) -> None:
        super().__init__(*args, **options)
        self.today = today

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if self.errors:
            return values
        last = values["last"] or self.today
        if last > self.today:
            self.add_error("last", _("The end date is in the future."))
        elif min(values["first"] or last, last).year < FIRST_YEAR:
            self.add_error("first", _("Reports start in %(year)s.") % {"year": FIRST_YEAR})
        else:
            first = values["first"] or last - timedelta(days=DEFAULT_DAYS - 1)
            if last < first:
                self.add_error("last", _("The end date is before the start date."))
            elif (last - first).days >= MAX_DAYS:
                message = _("A report covers at most %(days)s days. Choose dates that are closer together.")
                self.add_error("last", message % {"days": MAX_DAYS})
            values |= {"first": first, "last": last}
        return values

    @property
    def period(self) -> Period:
        """The chosen period. Requires a valid form."""
        return Period(self.cleaned_data["first"], self.cleaned_data["last"])


@dataclass(frozen=True, slots=True)
class Row:
    """A day, an hour or a weekday: its key in files, its name, its label on the axis, and of how many days it is."""

    key: str
    name: str
    label: str
    sums: Sums
    days: int = 1


@dataclass(frozen=True, slots=True)
class Tile:
    label: str
    value: str
    note: str
    # "up" or "down" since the period before.
    trend: str = ""


def day_rows(days: Mapping[date, Sums]) -> list[Row]:
    return [Row(day.isoformat(), format_short_day(day), format_day_of_month(day), sums) for day, sums in days.items()]


def hour_rows(hours: Mapping[int, Sums]) -> list[Row]:
    return [Row(name := f"{hour:02}:00", name, name, sums) for hour, sums in hours.items()]


def crop(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows from the first to the last one with an order; all if there is none."""
    places = [place for place, row in enumerate(rows) if row.sums.orders or row.sums.cancelled]
    return rows[places[0] : places[-1] + 1] if places else rows


def weekday_rows(days: Mapping[date, Sums]) -> list[Row]:
    return [
        Row(KEYS[weekday], str(WEEKDAYS[weekday]), str(WEEKDAYS_ABBR[weekday]), sums, count)
        for weekday, (sums, count) in reports.sum_by_weekday(days).items()
    ]


@page(Right.SALES, section=SECTION)
def show_sales(request: PageRequest) -> HttpResponse:
    """Show the sales of a period. Four queries besides those of the layout; one for a venue without orders."""
    venue = request.access.venue
    today = get_today(venue)
    form = PeriodForm(request.GET, today=today)
    context: dict[str, Any] = {"form": form, "presets": list_presets(today)}
    if not form.is_valid():
        return render(request, "orders/sales.html", context, status=400)
    period, first_date = form.period, reports.get_first_date(venue)
    context |= {"form": PeriodForm(initial=form.cleaned_data, today=today), "period": period}
    if first_date is not None:
        context |= build_report(venue, period, first_date=first_date, today=today)
    return render(request, "orders/sales.html", context)


@page(Right.SALES, section=SECTION)
def download(request: PageRequest, *, by: str) -> HttpResponse:
    """Stream one table of the period as CSV: by day, hour, weekday or dish. One query."""
    venue = request.access.venue
    form = PeriodForm(request.GET, today=get_today(venue))
    if not form.is_valid():
        return show_sales(request, venue=venue.public_id)
    period = form.period
    match by:
        case "day":
            lines = list_lines(by, day_rows(reports.sum_by_day(venue, period)), venue.currency)
        case "hour":
            lines = list_lines(by, hour_rows(reports.sum_by_hour(venue, period)), venue.currency)
        case "weekday":
            lines = list_lines(by, weekday_rows(reports.sum_by_day(venue, period)), venue.currency)
        case _:
            lines = list_dish_lines(reports.list_dishes(venue, period), venue.currency)
    return csv_response(lines, f"sales-by-{by}-{period.first}-to-{period.last}.csv")


def list_lines(by: str, rows: Sequence[Row], currency: str) -> Iterator[Sequence[object]]:
    """Yield the lines of a file. Amounts are empty if all completed orders of the row are without."""
    yield (by, "days", "orders", "orders_without_amounts", "cancelled", "currency", *AMOUNTS, "average")
    for row in rows:
        sums = row.sums
        amounts = [None if sums.sales is None else amount for amount in sums.amounts.values()]
        yield (
            *(row.key, row.days, sums.orders, sums.unpriced, sums.cancelled, currency),
            *(pricing.format_if_priced(amount, currency) for amount in (*amounts, sums.average)),
        )


def list_dish_lines(dishes: Iterator[Dish], currency: str) -> Iterator[Sequence[object]]:
    yield ("dish", "menu_item_id", "quantity", "currency", "amount")
    for dish in dishes:
        amount = pricing.format_if_priced(dish.amount, currency)
        yield (dish.name, dish.menu_item_id, dish.quantity, currency, amount)


def get_today(venue: Venue) -> date:
    return board.get_midnight(venue.timezone, now=venue.now()).date()


def list_presets(today: date) -> list[tuple[str, Period]]:
    names = {days: ngettext("%(count)s day", "%(count)s days", days) % {"count": days} for days in PRESET_DAYS}
    return [
        *((name, Period(today - timedelta(days=days - 1), today)) for days, name in names.items()),
        (_("This month"), Period(today.replace(day=1), today)),
    ]


def build_report(venue: Venue, period: Period, *, first_date: date, today: date) -> dict[str, Any]:
    """Return the context of the page. Three queries."""
    previous, currency = period.previous, venue.currency
    both = reports.sum_by_day(venue, Period(previous.first, period.last))
    days = {day: both[day] for day in period.days}
    now, before = reports.add(days.values()), reports.add(both[day] for day in previous.days)
    # What began within the previous period would be compared with a part of it.
    is_comparable = first_date <= previous.first
    hours = reports.sum_by_hour(venue, period)
    dishes = list(reports.list_dishes(venue, period, ranks=BEST_SELLERS))
    by_quantity = [dish for dish in dishes if dish.by_quantity <= BEST_SELLERS]
    priced = [dish for dish in dishes if dish.amount is not None and dish.by_amount <= BEST_SELLERS]
    by_amount = sorted(priced, key=lambda dish: dish.by_amount)
    return {
        "first_date": first_date,
        "previous": previous,
        "is_comparable": is_comparable,
        "sums": now,
        "tiles": list_tiles(
            now,
            before if is_comparable else None,
            open_days=(period.last - max(period.first, first_date)).days + 1,
            currency=currency,
        ),
        "amounts": [
            (label, *(format_money(sums.amounts[name], currency) for sums in (now, before)))
            for name, label in AMOUNT_LABELS.items()
        ],
        "query": urlencode({"first": period.first, "last": period.last}),
        "cards": [
            build_card("day", _("Sales by day"), day_rows(days), now, currency, unfinished=today.isoformat()),
            build_card("hour", _("Sales by hour"), crop(hour_rows(hours)), now, currency),
            build_card("weekday", _("Average sales by weekday"), weekday_rows(days), now, currency),
        ],
        "best_sellers": [
            (name, [(dish, format_money(dish.amount, currency)) for dish in best])
            for name, best in ((_("By quantity"), by_quantity), (_("By amount"), by_amount))
            if best
        ],
    }


def list_tiles(now: Sums, before: Sums | None, *, open_days: int, currency: str) -> list[Tile]:
    """Return the figures of the period, with their changes since the sums `before`, or else with averages a day.

    The averages are of the `open_days`, those since the first order.
    """
    former_text = _("%(value)s before")

    def format_amount(amount: Any) -> str:
        return format_money(amount, currency) or _("no amounts")

    def tile(
        label: str, value: Any, former: Any, format_value: Callable[[Any], str], *, daily: str | None = None
    ) -> Tile:
        note = trend = ""
        if before and value is not None:
            note = former_text % {"value": format_value(former)}
            if former:
                note = describe_change(value, former, format_value(former))
                trend = "up" if value > former else "down" if value < former else ""
        elif daily is not None and open_days > 1:
            note = _("%(unit)s a day") % {"unit": daily}
        return Tile(label, format_value(value), note, trend)

    share = ngettext("%(percent)s of %(count)s order", "%(percent)s of %(count)s orders", now.placed)
    share %= {"percent": format_percent(now.cancelled_percent, decimals=1), "count": now.placed}
    if before:
        percent = format_percent(before.cancelled_percent, decimals=1)
        former_share = _("%(percent)s of %(count)s") % {"percent": percent, "count": before.placed}
        share += "; " + former_text % {"value": former_share}
    sales_a_day = None if now.sales is None else format_amount(now.sales / open_days)
    orders_a_day = format_number(round(Decimal(now.orders) / open_days, 1))
    return [
        tile(_("Sales"), now.sales, before and before.sales, format_amount, daily=sales_a_day),
        tile(_("Completed orders"), now.orders, before and before.orders, str, daily=orders_a_day),
        tile(_("Average order"), now.average, before and before.average, format_amount),
        Tile(_("Cancelled orders"), str(now.cancelled), share),
    ]


def describe_change(value: Any, former: Any, text: str) -> str:
    """Compare with a value that is not 0: `Up 12% from €1,900.00`."""
    percent = round((value - former) * 100 / former)
    if percent:
        change = _("Up %(percent)s from %(former)s") if percent > 0 else _("Down %(percent)s from %(former)s")
    else:
        change = _("Unchanged from %(former)s") if value == former else _("Nearly unchanged from %(former)s")
    return change % {"percent": format_percent(abs(percent)), "former": text}


def build_card(
    by: str, title: str, rows: Sequence[Row], sums: Sums, currency: str, *, unfinished: str = ""
) -> dict[str, Any]:
    """Return a chart and a table of the rows: their amounts a day, or their orders if no order has amounts.

    The bar of the row with the key `unfinished`, a day that is not over, is lighter.
    """
    unit = currency if sums.priced else _("orders")
    values = [(row.sums.total if sums.priced else Decimal(row.sums.orders)) / row.days for row in rows]

    def format_value(value: Decimal) -> str | None:
        return format_bare(value, currency) if sums.priced else format_number(round(value, 1))

    def describe(row: Row, value: Decimal) -> str:
        if sums.priced:
            text = format_money(value, currency)
        else:
            count = round(value, 1)
            # gettext takes whole numbers only.
            whole = int(count) if count == int(count) else 2
            text = ngettext("%(count)s order", "%(count)s orders", whole) % {"count": format_number(count)}
        return _("%(name)s: %(value)s") % {"name": row.name, "value": text}

    columns = [
        Column(describe(row, value), row.label, [("a unfinished" if row.key == unfinished else "a", value)])
        for row, value in zip(rows, values, strict=True)
    ]
    highest = max(values)
    left = CHART.left + DIGIT_WIDTH * len(f"{highest:.0f}0")
    layout = replace(CHART, left=left, max_labels=7 if by == "weekday" else CHART.max_labels)
    return {
        "by": by,
        "heading": {"day": _("Day"), "hour": _("Hour"), "weekday": _("Weekday")}[by],
        "file": f"sales-by-{by}",
        "title": title,
        "unit": unit,
        "axis": _("%(unit)s a day") % {"unit": unit} if by == "weekday" else unit,
        "has_sales": highest > 0,
        "chart": bar_chart(columns, layout, whole_numbers=not sums.priced),
        "best": columns[values.index(highest)].text,
        "is_average": by == "weekday",
        "rows": [
            (row.name, row.sums, format_bare(row.sums.sales, currency), format_value(value))
            for row, value in zip(rows, values, strict=True)
            if row.sums.orders or row.sums.cancelled
        ],
    }


def format_bare(amount: Decimal | None, currency: str) -> str | None:
    """Format an amount without its currency: `1,900.00`."""
    if amount is None:
        return None
    return format_number(pricing.round_amount(amount, currency), decimals=pricing.get_decimals(currency))

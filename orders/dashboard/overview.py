"""The sales of the last seven days on the overview."""

from decimal import Decimal
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.dashboard.decorators import PageRequest, page
from accounts.dashboard.week_charts import WEEK, build_chart, compare_days, compare_hours, last_seven_days
from accounts.tenancy.permissions import Right
from orders import reports
from orders.dashboard.board import format_money
from orders.dashboard.reports import get_today
from orders.reports import Period

BEST_SELLERS = 5


@page(Right.SALES)
def show_week(request: PageRequest) -> HttpResponse:
    """Render the sales by day and hour beside those of the week before, best sellers and channels. Five queries."""
    venue = request.access.venue
    today = get_today(venue)
    week = Period(last_seven_days(today)[0], today)
    days = reports.sum_by_day(venue, Period(week.first - WEEK, today))
    hours, hours_before = (reports.sum_by_hour(venue, Period(day, day)) for day in (today, today - WEEK))
    is_priced = any(sums.priced for sums in days.values())

    def value_of(sums: reports.Sums) -> Decimal | int:
        return sums.total if is_priced else sums.orders

    def format_value(value: Decimal | int) -> str:
        if is_priced:
            return format_money(Decimal(value), venue.currency) or "0"
        return ngettext("%(count)s order", "%(count)s orders", int(value)) % {"count": value}

    by_day = compare_days(today, lambda day: value_of(days[day]))
    charts = [build_chart(_("Sales by day"), by_day, format_value=format_value)]
    if waiting := days[today].pending:
        charts[0]["note"] = ngettext(
            "%(count)s open order of today counts when it is completed.",
            "%(count)s open orders of today count when they are completed.",
            waiting,
        ) % {"count": waiting}
    by_hour = compare_hours(lambda hour: value_of(hours[hour]), lambda hour: value_of(hours_before[hour]))
    # Before the first sale of a day it says nothing.
    if any(row.value for row in by_hour):
        chart = build_chart(_("Sales by hour today"), by_hour, format_value=format_value)
        # A part of a day is compared with the same part.
        hour = venue.now().astimezone(ZoneInfo(venue.timezone)).hour
        so_far = sum((value_of(sums) for at, sums in hours_before.items() if at <= hour), Decimal(0))
        charts.append(chart | {"before_so_far": format_value(so_far) if so_far else ""})
    context = {
        "charts": charts,
        "best_sellers": list(reports.list_dishes(venue, week, ranks=BEST_SELLERS))[:BEST_SELLERS],
        "channels": reports.count_channels(venue, week),
    }
    return render(request, "orders/overview_week.html", context)

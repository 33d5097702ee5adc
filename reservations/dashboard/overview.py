"""The covers of the last seven days on the overview."""

from decimal import Decimal

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.dashboard.decorators import PageRequest, page
from accounts.dashboard.week_charts import WEEK, build_chart, compare_days, compare_hours, last_seven_days
from accounts.tenancy.permissions import Right
from reservations import reports
from reservations.booking.venue_time import local_today
from reservations.reports import Covers


@page(Right.RESERVATIONS)
def show_week(request: PageRequest) -> HttpResponse:
    """Render the covers by day and hour beside those of the week before, and the no-shows. Three queries."""
    venue = request.access.venue
    today = local_today(venue, now=venue.now())
    week = last_seven_days(today)
    days = reports.sum_by_day(venue, week[0] - WEEK, today)
    hours, hours_before = (reports.sum_by_hour(venue, day) for day in (today, today - WEEK))

    def sum_week(name: str, *, weeks_before: int = 0) -> int:
        return sum(getattr(days.get(day - weeks_before * WEEK, Covers()), name) for day in week)

    def format_covers(value: Decimal | int) -> str:
        return ngettext("%(count)s cover", "%(count)s covers", int(value)) % {"count": value}

    context = {
        "charts": [
            build_chart(
                _("Covers by day"),
                compare_days(today, lambda day: days.get(day, Covers()).covers),
                format_value=format_covers,
            ),
            build_chart(
                _("Covers by hour today"),
                compare_hours(lambda hour: hours.get(hour, 0), lambda hour: hours_before.get(hour, 0)),
                format_value=format_covers,
            ),
        ],
        "counts": [
            (label, sum_week(name), sum_week(name, weeks_before=1))
            for label, name in ((_("No-shows"), "no_shows"), (_("Cancelled reservations"), "cancelled"))
        ],
    }
    return render(request, "reservations/overview_week.html", context)

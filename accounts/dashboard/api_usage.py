"""The API usage of a venue: calls of this hour by key, and charts of the last day and month."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.api_keys import usage
from accounts.dashboard.decorators import PageRequest, page
from accounts.models import ApiCallCount, ApiKey, Venue
from accounts.tenancy.permissions import Right
from framework.charts import Column, Layout, bar_chart
from framework.languages import format_number

DAYS = 30
CHART = Layout(width=400, height=170, left=44, right=14, top=10, bottom=24, max_labels=5)


@dataclass(frozen=True, slots=True)
class CallCounts:
    """The API calls of one hour or day; `label` is written on the axis, `name` in full."""

    label: str
    name: str
    calls: int = 0
    client_errors: int = 0
    server_errors: int = 0

    @property
    def text(self) -> str:
        """The counts in words."""
        texts = [ngettext("%(calls)s call", "%(calls)s calls", self.calls) % {"calls": format_number(self.calls)}]
        if self.client_errors or self.server_errors:
            texts.append(_("%(number)s refused (4xx)") % {"number": format_number(self.client_errors)})
            texts.append(_("%(number)s failed (5xx)") % {"number": format_number(self.server_errors)})
        return f"{self.name}: {', '.join(texts)}"

    @property
    def column(self) -> Column:
        """Answered calls at the bottom, then refused and failed ones."""
        answered = max(self.calls - self.client_errors - self.server_errors, 0)
        parts = {"a": answered, "c": self.client_errors, "b": self.server_errors}
        return Column(self.text, self.label, [part for part in parts.items() if part[1]])


@page(Right.DEVELOPERS, section="usage")
def show_usage(request: PageRequest) -> HttpResponse:
    """Show the calls of this hour and the charts. Two queries besides those of the layout."""
    venue, now = request.access.venue, timezone.now()
    keys = ApiKey.objects.filter(venue=venue).active(now).order_by("-created_at", "-pk")
    context = {
        "charts": chart_calls(venue, now=now),
        "usages": sorted(usage.get_family_usage(keys).values(), key=lambda used: (-(used.calls or 0), used.name)),
    }
    return render(request, "accounts/api_usage.html", context)


def chart_calls(venue: Venue, *, now: datetime) -> Sequence[dict[str, Any]]:
    """Charts of the last 24 hours by hour, and of 30 days by the venue's day. One query of at most 721 rows."""
    zone = ZoneInfo(venue.timezone)
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    hours = [(this_hour - timedelta(hours=back)).astimezone(zone) for back in range(23, -1, -1)]
    days = [now.astimezone(zone).date() - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    since = datetime.combine(days[0], time(), tzinfo=zone) - timedelta(hours=1)
    rows = ApiCallCount.objects.filter(venue=venue, hour__gte=since).order_by("hour")
    amounts_at: defaultdict[date, list[int]] = defaultdict(lambda: [0, 0, 0])
    for hour, *amounts in rows.values_list("hour", "calls", "client_errors", "server_errors"):
        for period in (hour, hour.astimezone(zone).date()):
            amounts_at[period] = [before + more for before, more in zip(amounts_at[period], amounts, strict=True)]
    return (
        build_chart(
            _("Calls in the last 24 hours"),
            [
                CallCounts(f"{hour:%H:%M}", date_format(hour, "SHORT_DATETIME_FORMAT"), *amounts_at[hour])
                for hour in hours
            ],
            "24h",
            before=sum(amounts_at[hour - timedelta(days=1)][0] for hour in hours),
        ),
        build_chart(
            _("Calls in the last 30 days"),
            [
                CallCounts(date_format(day, "j M"), date_format(day, "SHORT_DATE_FORMAT"), *amounts_at[day])
                for day in days
            ],
        ),
    )


def build_chart(title: str, counts: Sequence[CallCounts], range_: str = "", *, before: int = 0) -> dict[str, Any]:
    """Return a chart of these counts, from left to right, with their sums and those of the same time before.

    `range_` is that of the request log.
    """
    total = sum(count.calls for count in counts)
    refused = sum(count.client_errors for count in counts)
    failed = sum(count.server_errors for count in counts)
    return {
        "title": title,
        "range": range_,
        "has_client_errors": refused > 0,
        "has_server_errors": failed > 0,
        "counts": counts,
        "chart": bar_chart([count.column for count in counts], CHART, whole_numbers=True),
        "total": total,
        "before": before,
        "more": total - before,
        "fewer": before - total,
        "calls": format_number(total),
        "succeeded": format_number(max(total - refused - failed, 0)),
        "client_errors": format_number(refused),
        "server_errors": format_number(failed),
    }

"""The overview page of a venue, and the welcome page after sign-up."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, cast
from uuid import uuid4
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.utils.formats import date_format

from accounts import onboarding_steps
from accounts.api_keys import one_time_secrets, usage
from accounts.dashboard.decorators import PageRequest, page
from accounts.models import ApiCallCount, ApiKey, Event, EventType, User, Venue
from accounts.onboarding_steps import build_venue_url
from accounts.tenancy.permissions import Access, Right, get_access
from framework.api.urls import public_url
from framework.charts import Column, Layout, bar_chart
from framework.public_ids import encode

DAYS = 30
NEWEST = 12
CHART = Layout(width=400, height=170, left=44, top=10, bottom=24, max_labels=5)
# The order of the first call, as the body of `POST /orders`.
EXAMPLE_ORDER: dict[str, Any] = {
    "customer_id": "cust_123",
    "items": [{"menu_item_id": "margherita", "quantity": 2}],
    "payment_method": "card",
}

DESCRIPTIONS: dict[str, tuple[str, Right]] = {
    EventType.ORDER_CREATED: ("was placed", Right.ORDERS),
    EventType.ORDER_UPDATED: ("was changed", Right.ORDERS),
    EventType.ORDER_STAGE_CHANGED: ("was moved by the kitchen", Right.ORDERS),
    EventType.ORDER_COMPLETED: ("was completed", Right.ORDERS),
    EventType.ORDER_CANCELLED: ("was cancelled", Right.ORDERS),
    EventType.ORDER_REOPENED: ("was reopened", Right.ORDERS),
    EventType.RESERVATION_CREATED: ("was created", Right.RESERVATIONS),
    EventType.RESERVATION_UPDATED: ("was changed", Right.RESERVATIONS),
    EventType.RESERVATION_CONFIRMED: ("was confirmed", Right.RESERVATIONS),
    EventType.RESERVATION_CANCELLED: ("was cancelled", Right.RESERVATIONS),
    EventType.MENU_UPDATED: ("was changed", Right.ORDERS),
    EventType.MENU_ITEM_SOLD_OUT: ("is sold out", Right.ORDERS),
    EventType.WEBHOOK_PING: ("A test event was sent to webhooks", Right.DEVELOPERS),
}


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
        text = f"{self.name}: {self.calls} call{pluralize(self.calls)}"
        if self.client_errors or self.server_errors:
            text += f", {self.client_errors} refused (4xx), {self.server_errors} failed (5xx)"
        return text

    @property
    def column(self) -> Column:
        """Answered calls at the bottom, then refused and failed ones."""
        answered = max(self.calls - self.client_errors - self.server_errors, 0)
        parts = {"a": answered, "c": self.client_errors, "b": self.server_errors}
        return Column(self.text, self.label, [part for part in parts.items() if part[1]])


@login_required
def dashboard(request: HttpRequest) -> HttpResponse:
    """Redirect to the overview of the last venue, or of the first if the user may not see that any more.

    A user without a venue gets a page that says what to do.
    """
    user = cast("User", request.user)
    access = user.last_venue_id and get_access(user, user.last_venue_id)
    venue = access.venue if access else Venue.objects.for_member(user).by_name().first()
    return redirect("overview", venue=venue.public_id) if venue else render(request, "dashboard/no_venue.html")


@page(section="overview")
def overview(request: PageRequest) -> HttpResponse:
    """Show set-up steps, API usage and activity. Six queries besides those of the layout, for developers.

    The page fetches the tiles of other apps with htmx.
    """
    access, now = request.access, timezone.now()
    context: dict[str, Any] = {
        "steps": [step for find_step in onboarding_steps.STEPS if (step := find_step(access))],
        "activities": list(list_activities(access)),
        "sees_orders": access.may_view(Right.ORDERS),
        "sees_reservations": access.may_view(Right.RESERVATIONS),
        "sees_calls": access.may_view(Right.DEVELOPERS),
    }
    if access.may_view(Right.DEVELOPERS):
        day, month = chart_calls(access.venue, now=now)
        keys = ApiKey.objects.filter(venue=access.venue).active(now).order_by("-created_at", "-pk")
        context |= {
            "charts": [day, month],
            "usages": sorted(usage.get_family_usage(keys).values(), key=lambda used: (-(used.calls or 0), used.name)),
        }
    return render(request, "accounts/overview.html", context)


@page(Right.DEVELOPERS, section="overview")
def welcome(request: PageRequest) -> HttpResponse:
    """Show the first API key after sign-up, once, with an example call; later, how to create another."""
    live = Venue.objects.for_member(request.access.user).filter(account=request.access.account, is_sandbox=False)
    context = {
        "key": one_time_secrets.take(request, of=request.access.venue.public_id, now=timezone.now()),
        "address": public_url("/api/v1/orders"),
        "body": json.dumps(EXAMPLE_ORDER),
        "order_token": uuid4().hex,
        "live": live.by_name().first(),
    }
    return render(request, "dashboard/onboarding.html", context)


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
            "Calls in the last 24 hours",
            [
                CallCounts(f"{hour:%H:%M}", date_format(hour, "SHORT_DATETIME_FORMAT"), *amounts_at[hour])
                for hour in hours
            ],
        ),
        build_chart(
            "Calls in the last 30 days",
            [
                CallCounts(date_format(day, "j M"), date_format(day, "SHORT_DATE_FORMAT"), *amounts_at[day])
                for day in days
            ],
        ),
    )


def build_chart(title: str, counts: Sequence[CallCounts]) -> dict[str, Any]:
    """Return a chart of these counts, from left to right, with their sums."""
    return {
        "title": title,
        "counts": counts,
        "chart": bar_chart([count.column for count in counts], CHART, whole_numbers=True),
        "total": sum(count.calls for count in counts),
        "client_errors": sum(count.client_errors for count in counts),
        "server_errors": sum(count.server_errors for count in counts),
    }


def list_activities(access: Access) -> Iterator[dict[str, Any]]:
    """Yield the newest events that the user has the right to see. One query."""
    types = [kind for kind, (_, right) in DESCRIPTIONS.items() if access.may_view(right)]
    rows = (
        Event.objects.filter(venue=access.venue, type__in=types)
        .order_by("-created_at", "-id")
        .values_list(
            "type",
            "actor",
            "created_at",
            "subject",
            "record__number",
            "record__code",
            "record__party_size",
            "record__name",
        )
    )
    for kind, actor, at, key, number, code, party, name in rows[:NEWEST]:
        subject, url = "", ""
        if kind.startswith("order."):
            subject = f"Order {number}" if number else "An order"
            url = build_venue_url("order", access, order=encode("ord", key)) if key else ""
        elif kind.startswith("reservation."):
            subject = f"Reservation {code}" if code else "A reservation"
            subject += f" for {party}" if party else ""
            url = build_venue_url("reservation", access, reservation=encode("res", key)) if key else ""
        elif kind.startswith("menu."):
            subject = name or "The menu"
            url = build_venue_url("menu", access)
        actor_kind, _, who = actor.partition(":")
        by = {"key": f"by API key {who}…", "staff": f"by {who}", "guest": "by the guest"}.get(actor_kind, "")
        yield {"subject": subject, "description": DESCRIPTIONS[kind][0], "by": by, "at": at, "url": url}

"""The overview page of a venue."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.api_keys import usage
from accounts.dashboard.decorators import PageRequest, page
from accounts.models import ApiHour, ApiKey, Event, EventType, User, Venue, WebhookEndpoint
from accounts.tenancy.permissions import Access, Right
from framework import charts
from framework.public_ids import encode

HOUR = timedelta(hours=1)
DAYS = 30
NEWEST = 12


@dataclass(frozen=True, slots=True)
class Step:
    """A set-up step that a new venue has not done yet."""

    label: str
    why: str
    url: str


# Each app adds functions that return a step, or None if it is done or the user may not do it.
FIRST_STEPS: list[Callable[[Access], Step | None]] = []

DESCRIPTIONS: dict[str, tuple[str, Right]] = {
    EventType.ORDER_CREATED: ("was placed", Right.ORDERS),
    EventType.ORDER_UPDATED: ("was changed", Right.ORDERS),
    EventType.ORDER_COMPLETED: ("was completed", Right.ORDERS),
    EventType.ORDER_CANCELLED: ("was cancelled", Right.ORDERS),
    EventType.ORDER_REOPENED: ("was reopened", Right.ORDERS),
    EventType.RESERVATION_CREATED: ("was created", Right.RESERVATIONS),
    EventType.RESERVATION_UPDATED: ("was changed", Right.RESERVATIONS),
    EventType.RESERVATION_CONFIRMED: ("was confirmed", Right.RESERVATIONS),
    EventType.RESERVATION_CANCELLED: ("was cancelled", Right.RESERVATIONS),
    EventType.WEBHOOK_PING: ("A test event was sent to webhooks", Right.DEVELOPERS),
}


@dataclass(frozen=True, slots=True)
class Activity:
    """A line of the activity list."""

    subject: str
    description: str
    by: str
    at: datetime
    url: str = ""


@login_required
def dashboard(request: HttpRequest) -> HttpResponse:
    """Redirect to the overview of the first venue; a user without one gets a page that says what to do."""
    mine = Venue.objects.worked_at_by(cast("User", request.user)).by_name().first()
    return redirect("overview", venue=mine.public_id) if mine else render(request, "dashboard/no_venue.html")


@page(section="overview")
def overview(request: PageRequest) -> HttpResponse:
    """Show set-up steps, API usage and activity. Six queries besides those of the layout, for developers.

    The page fetches the tiles of other apps with htmx.
    """
    mine, now = request.access, timezone.now()
    shown: dict[str, Any] = {
        "steps": [step for find_step in FIRST_STEPS if (step := find_step(mine))],
        "activities": list(activities(mine)),
        "sees_orders": mine.may(Right.ORDERS),
        "sees_reservations": mine.may(Right.RESERVATIONS),
        "sees_calls": mine.may(Right.DEVELOPERS),
    }
    if mine.may(Right.DEVELOPERS):
        day, month = calls(mine.venue, now=now)
        keys = ApiKey.objects.filter(venue=mine.venue).usable(now).order_by("-created_at", "-pk")
        shown |= {"charts": [day, month], "usages": sorted(usage.of_families(keys).values(), key=busiest)}
    return render(request, "accounts/overview.html", shown)


def busiest(used: usage.FamilyUsage) -> tuple[int, str]:
    """Sort key: key families with the most calls first."""
    return -(used.calls or 0), used.name


def calls(venue: Venue, *, now: datetime) -> Sequence[charts.Chart]:
    """Charts of the last 24 hours by hour, and of 30 days by the venue's day. One query of at most 721 rows."""
    zone = ZoneInfo(venue.timezone)
    today = now.astimezone(zone).date()
    first_day = today - timedelta(days=DAYS - 1)
    since = datetime(first_day.year, first_day.month, first_day.day, tzinfo=zone)
    rows = list(
        ApiHour.objects.filter(venue=venue, hour__gte=since - HOUR)
        .order_by("hour")
        .values_list("hour", "calls", "refused", "broken")
    )
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    by_hour = {hour: amounts for hour, *amounts in rows}
    by_day: dict[Any, list[int]] = {}
    for hour, *amounts in rows:
        day = hour.astimezone(zone).date()
        by_day[day] = [before + more for before, more in zip(by_day.get(day, (0, 0, 0)), amounts, strict=True)]
    hours = [this_hour - HOUR * back for back in range(23, -1, -1)]
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    return (
        charts.bars(
            "Calls in the last 24 hours",
            [
                charts.Amounts(f"{at:%H:%M}", f"{at:%Y-%m-%d %H:%M}", *by_hour.get(hour, ()))
                for hour in hours
                for at in (hour.astimezone(zone),)
            ],
        ),
        charts.bars(
            "Calls in the last 30 days",
            [charts.Amounts(f"{day:%m-%d}", f"{day:%Y-%m-%d}", *by_day.get(day, ())) for day in days],
        ),
    )


def activities(mine: Access) -> Iterator[Activity]:
    """Yield the newest events that the user has the right to see. One query."""
    types = [kind for kind, (_, right) in DESCRIPTIONS.items() if mine.may(right)]
    rows = (
        Event.objects.filter(venue=mine.venue, type__in=types)
        .order_by("-created_at", "-id")
        .values_list("type", "actor", "created_at", "subject", "record__number", "record__code", "record__party_size")
    )
    for kind, actor, at, key, number, code, party in rows[:NEWEST]:
        subject, url = "", ""
        if kind.startswith("order."):
            subject = f"Order {number}" if number else "An order"
            url = url_of("order", mine, order=encode("ord", key)) if key else ""
        elif kind.startswith("reservation."):
            subject = f"Reservation {code}" if code else "A reservation"
            subject += f" for {party}" if party else ""
            url = url_of("reservation", mine, reservation=encode("res", key)) if key else ""
        yield Activity(subject, DESCRIPTIONS[kind][0], by(actor), at, url)


def by(actor: str) -> str:
    """Return who did it, as text; "" for the system."""
    kind, _, name = actor.partition(":")
    if kind == "key":
        return f"by API key {name}…"
    return {"staff": f"by {name}", "guest": "by the guest"}.get(kind, "")


def first_call(mine: Access) -> Step | None:
    """The step for the first API call."""
    if not mine.may(Right.DEVELOPERS):
        return None
    keys = ApiKey.objects.filter(venue=mine.venue)
    if keys.exclude(last_used_at=None).exists():
        return None
    return Step("Make the first call", "Create an API key and call the API.", url_of("keys", mine))


def first_endpoint(mine: Access) -> Step | None:
    """The step for the first webhook endpoint."""
    if not mine.may(Right.DEVELOPERS) or WebhookEndpoint.objects.filter(venue=mine.venue).exists():
        return None
    return Step("Add a webhook", "Notify your server of each order immediately.", url_of("webhooks", mine))


def url_of(name: str, mine: Access, **named: str) -> str:
    """Return the URL of a page of the venue."""
    return reverse(name, kwargs={"venue": mine.venue.public_id, **named})


FIRST_STEPS += [first_call, first_endpoint]

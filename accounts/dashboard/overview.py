"""The overview page of a venue, and the welcome page after sign-up."""

import json
from collections.abc import Iterator
from typing import Any, cast
from uuid import uuid4

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts import onboarding_steps
from accounts.api_keys import one_time_secrets
from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Event, EventType, User, Venue
from accounts.onboarding_steps import build_venue_url
from accounts.tenancy.permissions import Access, Right, get_access
from framework.api.urls import public_url
from framework.public_ids import encode

NEWEST = 12
# The order of the first call, as the body of `POST /orders`.
EXAMPLE_ORDER: dict[str, Any] = {
    "customer_id": "cust_123",
    "items": [{"menu_item_id": "margherita", "quantity": 2}],
    "payment_method": "card",
}

DESCRIPTIONS: dict[str, tuple[str | Promise, Right]] = {
    EventType.ORDER_CREATED: (gettext_lazy("{subject} was placed"), Right.ORDERS),
    EventType.ORDER_UPDATED: (gettext_lazy("{subject} was changed"), Right.ORDERS),
    EventType.ORDER_STAGE_CHANGED: (gettext_lazy("{subject} was moved by the kitchen"), Right.ORDERS),
    EventType.ORDER_COMPLETED: (gettext_lazy("{subject} was completed"), Right.ORDERS),
    EventType.ORDER_CANCELLED: (gettext_lazy("{subject} was cancelled"), Right.ORDERS),
    EventType.ORDER_REOPENED: (gettext_lazy("{subject} was reopened"), Right.ORDERS),
    EventType.RESERVATION_CREATED: (gettext_lazy("{subject} was created"), Right.RESERVATIONS),
    EventType.RESERVATION_UPDATED: (gettext_lazy("{subject} was changed"), Right.RESERVATIONS),
    EventType.RESERVATION_CONFIRMED: (gettext_lazy("{subject} was confirmed"), Right.RESERVATIONS),
    EventType.RESERVATION_CANCELLED: (gettext_lazy("{subject} was cancelled"), Right.RESERVATIONS),
    EventType.MENU_UPDATED: (gettext_lazy("{subject} was changed"), Right.ORDERS),
    EventType.MENU_ITEM_SOLD_OUT: (gettext_lazy("{subject} is sold out"), Right.ORDERS),
    EventType.WEBHOOK_PING: (gettext_lazy("A test event was sent to webhooks"), Right.DEVELOPERS),
}


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
    """Show set-up steps and activity. Two queries besides those of the layout and of the fragments.

    The template includes the tiles and charts of other apps by their URLs; htmx loads them again later.
    """
    access = request.access
    steps = onboarding_steps.list_steps(access)
    context = {
        "steps": steps,
        # Once guests can come, service is first.
        "are_steps_first": any(not step["is_done"] and not step["step"].is_for_sandbox for step in steps),
        "clock_shows": access.venue.now() if access.venue.clock_offset() else None,
        "activities": list(list_activities(access)),
        "sees_orders": access.may_view(Right.ORDERS),
        "sees_sales": access.may_view(Right.SALES),
        "sees_reservations": access.may_view(Right.RESERVATIONS),
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
            subject = _("Order %(number)s") % {"number": number} if number else _("An order")
            url = build_venue_url("order", access, order=encode("ord", key)) if key else ""
        elif kind.startswith("reservation."):
            subject = describe_reservation(code, party)
            url = build_venue_url("reservation", access, reservation=encode("res", key)) if key else ""
        elif kind.startswith("menu."):
            subject = name or _("The menu")
            url = build_venue_url("menu", access)
        linked = format_html('<a href="{}">{}</a>', url, subject) if url else subject
        yield {
            "text": format_html(str(DESCRIPTIONS[kind][0]), subject=linked),
            "by": describe_actor(actor),
            "at": at,
        }


def describe_reservation(code: str | None, party: int | None) -> str:
    if code and party:
        return _("Reservation %(code)s for %(party)s") % {"code": code, "party": party}
    return _("Reservation %(code)s") % {"code": code} if code else _("A reservation")


def describe_actor(actor: str) -> str:
    """Return who did it: `by ada@example.com`; empty for our own systems."""
    match actor.partition(":"):
        case ("key", _separator, key):
            return _("by API key %(key)s…") % {"key": key}
        case ("staff", _separator, email):
            return _("by %(name)s") % {"name": email}
        case ("guest", *_rest):
            return _("by the guest")
    return ""

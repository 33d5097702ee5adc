"""The order board: open, completed and cancelled orders of today, with live updates."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Event
from accounts.models.venues import PREFIX
from accounts.tenancy.permissions import RIGHTS_BY_ROLE, Right
from framework.public_ids import decode
from orders import board, commands, pricing
from orders.dashboard.cancellation_form import REASONS, CancellationForm
from orders.models import InvalidTransition, Order

# Minutes after which a pending order changes its colour.
LATE_MIN, VERY_LATE_MIN = 10, 20
UNCHANGED = 204
SIGNED_OUT = 401
ROLES = tuple(role.value for role, rights in RIGHTS_BY_ROLE.items() if Right.ORDERS in rights)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An order on the board."""

    order: Order
    waited: timedelta

    @property
    def age(self) -> str:
        """Waiting time: `12 min`, `3 h 05 min`, `2 days`. board.js has the same format."""
        minutes = self.minutes
        if minutes < 60:
            return f"{minutes} min"
        hours, rest = divmod(minutes, 60)
        if hours < 24:
            return f"{hours} h {rest:02} min"
        return f"{hours // 24} day{'s' if hours >= 48 else ''}"

    @property
    def minutes(self) -> int:
        """Waiting time in whole minutes."""
        return max(0, int(self.waited.total_seconds()) // 60)

    @property
    def lateness(self) -> str:
        """The CSS class for the waiting time."""
        return "very-late" if self.minutes >= VERY_LATE_MIN else "late" if self.minutes >= LATE_MIN else ""

    @property
    def total(self) -> str | None:
        """The total with currency, None for an order without prices."""
        return format_money(self.order.total, self.order.currency)


def format_money(amount: Any, currency: str) -> str | None:
    """Format an amount: `19.00 EUR`."""
    return None if amount is None else f"{pricing.format_amount(amount, currency)} {currency}"


def build_cards(orders: Iterable[Order], *, now: datetime) -> list[Card]:
    """Wrap the orders as cards."""
    return [Card(order=order, waited=now - order.created_at) for order in orders]


def build_context(request: PageRequest) -> dict[str, Any]:
    """Return the context of the three columns."""
    now = timezone.now()
    venue = request.access.venue
    day = board.read_board(venue, now=now)
    return {
        "board": day,
        "pending": build_cards(day.pending.orders, now=now),
        "completed": build_cards(day.completed.orders, now=now),
        "cancelled": build_cards(day.cancelled.orders, now=now),
        "today": board.get_midnight(venue.timezone, now=now).date(),
        "venue": venue,
    }


@page(Right.ORDERS, section="board")
def show_board(request: PageRequest) -> HttpResponse:
    """Render the page."""
    return render(
        request,
        "orders/board.html",
        build_context(request)
        | {
            "reasons": REASONS,
            "late_min": LATE_MIN,
            "very_late_min": VERY_LATE_MIN,
            "max_pending": board.MAX_PENDING,
        },
    )


@never_cache
def poll_columns(request: HttpRequest, *, venue: str) -> HttpResponse:
    """Return the columns, or 204 if they have not changed since the stamp `seen`.

    Every board polls this every two seconds. An unchanged board costs three queries: the session, the user, and one
    for membership and stamp together. Everything else passes the `page` decorator.
    """
    if not request.user.is_authenticated:
        # The polling page stays as it is and shows that the user is signed out.
        return HttpResponse(status=SIGNED_OUT)
    key = decode(PREFIX, venue)
    seen = request.GET.get("seen")
    if key and seen and seen == board.read_member_stamp(request.user.pk, key, roles=ROLES, now=timezone.now()):
        return HttpResponse(status=UNCHANGED)
    return render_columns(request, venue=venue)


@page(Right.ORDERS, section="board")
def render_columns(request: PageRequest) -> HttpResponse:
    """Render the current columns; 204 if they have not changed, also for our own staff."""
    seen = request.GET.get("seen")
    if seen and seen == board.read_stamp(request.access.venue, now=timezone.now()):
        return HttpResponse(status=UNCHANGED)
    return render(request, "orders/board_columns.html", build_context(request))


@page(Right.ORDERS, section="board", methods=("POST",))
def change_status(request: PageRequest) -> HttpResponse:
    """Complete, cancel or reopen one order; the parameter `complete`, `cancel` or `reopen` is its id.

    An htmx request gets the columns and a toast; other requests are redirected to the board.
    """
    for verb in ("complete", "cancel", "reopen"):
        if verb in request.POST:
            break
    else:
        raise Http404
    order = Order.objects.of(request.access.venue).with_public_id(request.POST[verb]).with_items().first()
    if order is None:
        raise Http404
    form = CancellationForm(request.POST)
    if verb == "cancel" and not form.is_valid():
        text = " ".join(str(message) for errors in form.errors.values() for message in errors)
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    order.venue = request.access.venue
    is_done, message = apply_action(
        order, verb, actor=request.access.actor, because=form.because if verb == "cancel" else ""
    )
    if getattr(request, "htmx", None):
        undo = order if is_done and verb == "complete" else None
        context = build_context(request) | {"message": message, "is_done": is_done, "undo": undo}
        return render(request, "orders/board_moved.html", context)
    messages.add_message(request, messages.SUCCESS if is_done else messages.WARNING, message)
    return redirect("order-board", venue=request.access.venue.public_id)


def apply_action(order: Order, verb: str, *, actor: str, because: str = "") -> tuple[bool, str]:
    """Complete, cancel or reopen the order. Return whether that changed it, and a message for the user."""
    now = timezone.now()
    try:
        if verb == "reopen":
            commands.reopen_order(order, now=now, actor=actor)
            return True, f"Order {order.number} was reopened."
        to = Order.Status.COMPLETED if verb == "complete" else Order.Status.CANCELLED
        if commands.change_status(order, to, now=now, actor=actor, because=because):
            return True, f"Order {order.number} was {to.value}."
    except InvalidTransition:
        pass
    by = format_actor(
        Event.objects.filter(subject=order.pk, venue=order.venue_id).order_by("-created_at", "-id").first()
    )
    state = "to do" if order.status == Order.Status.PENDING else order.status
    return False, f"Order {order.number} is already {state}{by}."


def format_actor(event: Event | None) -> str:
    """Return `, by NAME` for a message; "" for the system."""
    if event is None or event.actor == "system":
        return ""
    kind, _, name = event.actor.partition(":")
    return f", by {name}" if kind == "staff" else ", by the API" if kind == "key" else ""

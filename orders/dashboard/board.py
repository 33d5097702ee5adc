"""The order board: open, completed and cancelled orders of today, with live updates."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
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
from orders.models import InvalidTransition, Order, VersionConflict
from orders.models.orders import KITCHEN_STAGES

# Minutes after which a pending order changes its colour.
LATE_MIN, VERY_LATE_MIN = 10, 20
OTHER = "Other"
REASONS = ("Customer request", "Sold out", "Too busy", "Not picked up", "Mistake or test", OTHER)
# The stages that the board sets by one button; the API has one more, `preparing`, between them.
STAGE_VERBS = {"accept": Order.Stage.ACCEPTED, "ready": Order.Stage.READY}
UNDO = re.compile(rf"(?P<order>\S+) (?P<stage>{'|'.join(KITCHEN_STAGES)}) (?P<version>[0-9]{{1,9}})")
ROLES = tuple(role.value for role, rights in RIGHTS_BY_ROLE.items() if Right.ORDERS in rights)


class CancellationForm(forms.Form):
    """A reason, with optional details; for `Other` the details are required."""

    reason = forms.ChoiceField(
        choices=[(reason, reason) for reason in REASONS],
        widget=forms.RadioSelect,
        label="Reason",
        error_messages={"required": "Select a reason."},
    )
    details = forms.CharField(
        max_length=200,
        required=False,
        label="Details",
        help_text="Required for “Other”. Visible to your team only.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if values.get("reason") == OTHER and not values.get("details") and "details" not in self.errors:
            self.add_error("details", "Enter the reason.")
        return values

    @property
    def because(self) -> str:
        """The text that is stored on the order. Requires a valid form."""
        reason, details = self.cleaned_data["reason"], self.cleaned_data["details"]
        if reason == OTHER:
            return str(details)
        return f"{reason}: {details}" if details else str(reason)


@dataclass(frozen=True, slots=True)
class Card:
    order: Order
    now: datetime

    @property
    def age(self) -> str:
        """Waiting time: `12 min`, `3 h 05 min`, `2 days`. board.js has the same format."""
        hours, minutes = divmod(self.minutes, 60)
        if hours < 1:
            return f"{minutes} min"
        if hours < 24:
            return f"{hours} h {minutes:02} min"
        return f"{hours // 24} day{'s' if hours >= 48 else ''}"

    @property
    def minutes(self) -> int:
        return max(0, (self.now - self.order.created_at) // timedelta(minutes=1))

    @property
    def lateness(self) -> str:
        """The CSS class for the waiting time."""
        return "very-late" if self.minutes >= VERY_LATE_MIN else "late" if self.minutes >= LATE_MIN else ""

    @property
    def next_verb(self) -> str:
        """The button that moves it on in the kitchen: `accept`, `ready`, or empty."""
        stages = KITCHEN_STAGES[KITCHEN_STAGES.index(self.order.kitchen_stage) + 1 :]
        return next((verb for verb, stage in STAGE_VERBS.items() if stage in stages), "")

    @property
    def total(self) -> str | None:
        """The total with currency, None for an order without prices."""
        return format_money(self.order.total, self.order.currency)


def format_money(amount: Any, currency: str) -> str | None:
    """Format an amount: `1,900.00 EUR`."""
    return None if amount is None else f"{pricing.round_amount(amount, currency):,f} {currency}"


def get_order(request: PageRequest, public_id: str) -> Order:
    """Return the venue's order with this id. Raises Http404, also for an order of another venue."""
    order = Order.objects.of(request.access.venue).with_public_id(public_id).with_items().first()
    if order is None:
        raise Http404
    order.venue = request.access.venue
    return order


def build_context(request: PageRequest) -> dict[str, Any]:
    now = timezone.now()
    venue = request.access.venue
    day = board.read_board(venue, now=now)
    return {
        "board": day,
        "pending": [Card(order, now) for order in day.pending.orders],
        "completed": [Card(order, now) for order in day.completed.orders],
        "cancelled": [Card(order, now) for order in day.cancelled.orders],
        "today": board.get_midnight(venue.timezone, now=now).date(),
        "venue": venue,
    }


@page(Right.ORDERS, section="board")
def show_board(request: PageRequest) -> HttpResponse:
    limits = {"reasons": REASONS, "late_min": LATE_MIN, "very_late_min": VERY_LATE_MIN}
    return render(request, "orders/board.html", build_context(request) | limits)


@never_cache
def poll_columns(request: HttpRequest, *, venue: str) -> HttpResponse:
    """Return the columns, or 204 if they have not changed since the stamp `seen`.

    Every board polls this every two seconds. An unchanged board costs three queries: the session, the user, and one
    for membership and stamp together. Everything else passes the `page` decorator.
    """
    if not request.user.is_authenticated:
        # The polling page stays as it is and shows that the user is signed out.
        return HttpResponse(status=401)
    key = decode(PREFIX, venue)
    seen = request.GET.get("seen")
    if key and seen and seen == board.read_member_stamp(request.user.pk, key, roles=ROLES, now=timezone.now()):
        return HttpResponse(status=204)
    return render_columns(request, venue=venue)


@page(Right.ORDERS, section="board")
def render_columns(request: PageRequest) -> HttpResponse:
    """Render the current columns; 204 if they have not changed, also for our own staff."""
    seen = request.GET.get("seen")
    if seen and seen == board.read_stamp(request.access.venue, now=timezone.now()):
        return HttpResponse(status=204)
    return render(request, "orders/board_columns.html", build_context(request))


@page(Right.ORDERS, section="board", methods=("POST",))
def change_status(request: PageRequest) -> HttpResponse:
    """Move, complete, cancel or reopen one order; the parameter `accept`, `ready`, `complete`, `cancel` or `reopen` is
    its id, and `undo` its id, the stage to which it goes back, and the version that the user has seen.

    An htmx request gets the columns and a toast; other requests are redirected to the board.
    """
    verb = next(
        (verb for verb in (*STAGE_VERBS, "undo", "complete", "cancel", "reopen") if verb in request.POST), None
    )
    if verb is None:
        raise Http404
    if verb == "undo":
        return undo_stage(request)
    order = get_order(request, request.POST[verb])
    form = CancellationForm(request.POST)
    if verb == "cancel" and not form.is_valid():
        text = " ".join(str(message) for errors in form.errors.values() for message in errors)
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    because = form.because if verb == "cancel" else ""
    with transaction.atomic():
        # The stage to which Undo goes back is the one before this change, whoever has made another one just now.
        former = Order.objects.select_for_update().values_list("kitchen_stage", flat=True).get(pk=order.pk)
        is_done, message = apply_action(order, verb, actor=request.access.actor, because=because)
    undo = order if is_done and verb in ("complete", *STAGE_VERBS) else None
    return respond(request, is_done, message, undo=undo, former=former)


def undo_stage(request: PageRequest) -> HttpResponse:
    """Move an order back to its former stage, unless it has changed since. Raises Http404 for a bad parameter."""
    match = UNDO.fullmatch(request.POST["undo"])
    if match is None:
        raise Http404
    order = get_order(request, match["order"])
    try:
        commands.change_stage(
            order,
            match["stage"],
            now=timezone.now(),
            actor=request.access.actor,
            versions={int(match["version"])},
            moves_back=True,
        )
    except (VersionConflict, InvalidTransition):
        return respond(request, False, f"Not undone: order {order.number} is {describe_state(order)}.")
    return respond(request, True, f"Order {order.number} is {order.stage} again.")


def respond(
    request: PageRequest, is_done: bool, message: str, *, undo: Order | None = None, former: str = ""
) -> HttpResponse:
    """Show the message: to htmx with the columns, and a button if the change can be undone; else on the board."""
    if getattr(request, "htmx", None):
        context = build_context(request) | {"message": message, "is_done": is_done, "undo": undo, "former": former}
        return render(request, "orders/board_moved.html", context)
    messages.add_message(request, messages.SUCCESS if is_done else messages.WARNING, message)
    return redirect("order-board", venue=request.access.venue.public_id)


def apply_action(order: Order, verb: str, *, actor: str, because: str = "") -> tuple[bool, str]:
    """Move, complete, cancel or reopen the order. Return whether that changed it, and a message for the user."""
    now = timezone.now()
    try:
        if verb in STAGE_VERBS:
            if commands.change_stage(order, STAGE_VERBS[verb], now=now, actor=actor):
                return True, f"Order {order.number} is {order.stage}."
        elif verb == "reopen":
            commands.reopen_order(order, now=now, actor=actor)
            return True, f"Order {order.number} was reopened."
        else:
            to = Order.Status.COMPLETED if verb == "complete" else Order.Status.CANCELLED
            if commands.change_status(order, to, now=now, actor=actor, because=because):
                return True, f"Order {order.number} was {to.value}."
    except InvalidTransition:
        pass
    return False, f"Order {order.number} is already {describe_state(order)}."


def describe_state(order: Order) -> str:
    """Return the state of an order and who has changed it last: `ready, by kitchen@example.com`. One query."""
    events = Event.objects.filter(subject=order.pk, venue=order.venue_id).order_by("-created_at", "-id")
    actor = events.values_list("actor", flat=True).first() or ""
    kind, _, name = actor.partition(":")
    by = {"staff": f", by {name}", "key": ", by the API"}.get(kind, "")
    return f"{order.stage if order.status == Order.Status.PENDING else order.status}{by}"

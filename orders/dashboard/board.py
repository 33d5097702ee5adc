"""The order board: open, completed and cancelled orders of today, with live updates."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext, pgettext, pgettext_lazy
from django.views.decorators.cache import never_cache

from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Event
from accounts.models.venues import PREFIX
from accounts.tenancy.permissions import RIGHTS_BY_ROLE, Right
from framework import languages
from framework.public_ids import decode
from orders import board, commands, pricing, ticket_printing
from orders.models import InvalidTransition, Order, OrderingSettings, OrderItem, VersionConflict
from orders.models.orders import KITCHEN_STAGES

MINUTE = timedelta(minutes=1)
OTHER = gettext_noop("Other")
REASONS = (
    gettext_noop("Customer request"),
    gettext_noop("Sold out"),
    gettext_noop("Too busy"),
    gettext_noop("Not picked up"),
    gettext_noop("Mistake or test"),
    OTHER,
)
# The stages that the board sets by one button; the API has one more, `preparing`, between them.
STAGE_VERBS = {"accept": Order.Stage.ACCEPTED, "ready": Order.Stage.READY}
UNDO = re.compile(rf"(?P<order>\S+) (?P<stage>{'|'.join(KITCHEN_STAGES)}) (?P<version>[0-9]{{1,9}})")
STAGE_MOVE = re.compile(r"(?P<order>\S+) (?P<version>[0-9]{1,9})")
KINDS = {
    "pickup": gettext_lazy("Pick-up"),
    "delivery": gettext_lazy("Delivery"),
    "dine_in": gettext_lazy("Dine-in"),
}
# The statuses and stages of an order within a sentence, and as a badge.
STATES = {
    "pending": pgettext_lazy("state of an order", "to do"),
    "received": pgettext_lazy("state of an order", "received"),
    "accepted": pgettext_lazy("state of an order", "accepted"),
    "preparing": pgettext_lazy("state of an order", "preparing"),
    "ready": pgettext_lazy("state of an order", "ready"),
    "completed": pgettext_lazy("state of an order", "completed"),
    "cancelled": pgettext_lazy("state of an order", "cancelled"),
}
ROLES = tuple(role.value for role, rights in RIGHTS_BY_ROLE.items() if Right.ORDERS in rights)


class CancellationForm(forms.Form):
    """A reason, with optional details; for `Other` the details are required."""

    reason = forms.ChoiceField(
        choices=[(reason, gettext_lazy(reason)) for reason in REASONS],
        widget=forms.RadioSelect,
        label=gettext_lazy("Reason"),
        error_messages={"required": gettext_lazy("Select a reason.")},
    )
    details = forms.CharField(
        max_length=200,
        required=False,
        label=gettext_lazy("Details"),
        help_text=gettext_lazy("Required for “Other”. Visible to your team only."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if values.get("reason") == OTHER and not values.get("details") and "details" not in self.errors:
            self.add_error("details", _("Enter the reason."))
        return values

    @property
    def because(self) -> str:
        """The text that is stored on the order, in the language of the user. Requires a valid form."""
        reason, details = self.cleaned_data["reason"], self.cleaned_data["details"]
        if reason == OTHER:
            return str(details)
        return f"{_(reason)}: {details}" if details else _(reason)


class BoardSettingsForm(forms.ModelForm[OrderingSettings]):
    class Meta:
        model = OrderingSettings
        fields = ["warn_minutes", "late_minutes", "printer_address", "printer_port"]
        labels = {
            "warn_minutes": gettext_lazy("Amber after, minutes"),
            "late_minutes": gettext_lazy("Red after, minutes"),
            "printer_address": gettext_lazy("Printer"),
            "printer_port": gettext_lazy("Printer port"),
        }
        help_texts = {
            "warn_minutes": gettext_lazy("Minutes after which an order is marked on the board"),
            "late_minutes": gettext_lazy("Minutes after which an order is marked as late on the board"),
            "printer_address": gettext_lazy("IP address of the ESC/POS printer for kitchen tickets"),
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not settings.PRINTER_NETWORKS:
            del self.fields["printer_address"], self.fields["printer_port"]

    def clean_printer_address(self) -> str | None:
        address: str | None = self.cleaned_data["printer_address"]
        if address and not ticket_printing.is_allowed(address):
            raise forms.ValidationError(_("This installation allows no printer at this address."))
        return address


@dataclass(frozen=True, slots=True)
class Card:
    order: Order
    now: datetime
    settings: OrderingSettings
    station: str = ""

    @property
    def lines(self) -> list[OrderItem]:
        """The lines of the selected station, or all."""
        return [line for line in self.order.items.all() if self.station in ("", line.station)]

    @property
    def time_left(self) -> str:
        """How far the due time is: `in 12 min`, `now`, `22 min late`. board.js has the same format."""
        overdue = (self.now - self.order.due_at) // MINUTE
        if overdue == 0:
            return pgettext("due time of an order", "now")
        text = (
            pgettext("due time of an order", "{time} late")
            if overdue > 0
            else pgettext("due time of an order", "in {time}")
        )
        return text.format(time=describe_minutes(abs(overdue)))

    @property
    def kind(self) -> str:
        return str(KINDS[self.order.fulfilment])

    @property
    def since(self) -> datetime:
        """When the kitchen has to begin: when an order came, or the preparation time before a later due time."""
        return self.order.due_at - self.settings.prep

    @property
    def minutes(self) -> int:
        return max(0, (self.now - self.since) // MINUTE)

    @property
    def lateness(self) -> str:
        """The CSS class for the waiting time. An order whose due time has passed is never unmarked."""
        if self.minutes >= self.settings.late_minutes:
            return "late"
        return "warn" if self.minutes >= self.settings.warn_minutes or self.now >= self.order.due_at + MINUTE else ""

    @property
    def next_verb(self) -> str:
        return get_next_verb(self.order)

    @property
    def total(self) -> str | None:
        """The total with currency, None for an order without prices."""
        return format_money(self.order.total, self.order.currency)


def describe_minutes(minutes: int) -> str:
    """`12 min`, `3 h 05 min`, `2 days`."""
    hours, rest = divmod(minutes, 60)
    if hours < 1:
        return f"{rest} min"
    if hours < 24:
        return f"{hours} h {rest:02} min"
    days = hours // 24
    return ngettext("%(count)s day", "%(count)s days", days) % {"count": days}


def get_next_verb(order: Order) -> str:
    """Return the button that moves it on in the kitchen: `accept`, `ready`, or empty."""
    return next((verb for verb in STAGE_VERBS if is_ahead(order, verb)), "")


def is_ahead(order: Order, verb: str) -> bool:
    """Whether the order is pending and has not reached the stage that this button sets."""
    before = KITCHEN_STAGES[: KITCHEN_STAGES.index(STAGE_VERBS[verb])]
    return order.status == Order.Status.PENDING and order.kitchen_stage in before


def format_money(amount: Any, currency: str) -> str | None:
    """Format an amount in the current language: `€1,900.00`."""
    return None if amount is None else languages.format_money(pricing.round_amount(amount, currency), currency)


def get_order(request: PageRequest, public_id: str, *, prep: timedelta | None = None) -> Order:
    """Return the venue's order with this id; with `due_at` if `prep` is given (Orders.with_due_at).

    Raises Http404, also for an order of another venue.
    """
    orders = Order.objects.of(request.access.venue).with_public_id(public_id).with_items()
    order = (orders if prep is None else orders.with_due_at(prep)).first()
    if order is None:
        raise Http404
    order.venue = request.access.venue
    return order


def get_station(request: HttpRequest) -> str:
    """Return the station of the address; empty for the whole board."""
    return request.GET.get("station", "").replace("\0", "")


def build_context(request: PageRequest) -> dict[str, Any]:
    """The columns; of `?station=grill` only the orders to do with a line of it, and these lines."""
    venue = request.access.venue
    now = venue.now()
    station = get_station(request)
    day = board.read_board(venue, now=now, station=station)
    pending = [Card(order, now, day.settings, station) for order in day.pending.orders]
    ready = [card for card in pending if not card.next_verb]
    return {
        "now": now,
        "board": day,
        "pending": pending,
        "todo": [card for card in pending if card.next_verb],
        "todo_count": day.pending.total - len(ready),
        "ready": ready,
        "late": [card for card in pending if card.lateness == "late"],
        "completed": [Card(order, now, day.settings) for order in day.completed.orders],
        "cancelled": [Card(order, now, day.settings) for order in day.cancelled.orders],
        "today": board.get_midnight(venue.timezone, now=now).date(),
        "venue": venue,
        "station": station,
        "stations": sorted({*day.stations, station} - {""}),
        "may_edit": request.access.may(Right.VENUE),
    }


@page(Right.ORDERS, section="board")
def show_board(request: PageRequest) -> HttpResponse:
    reasons = [(reason, _(reason)) for reason in REASONS]
    return render(request, "orders/board.html", build_context(request) | {"reasons": reasons})


@never_cache
def poll_columns(request: HttpRequest, *, venue: str) -> HttpResponse:
    """Return the columns, or 204 if they have not changed since the stamp `seen`.

    Every board polls this every second. An unchanged board costs three queries: the session, the user, and one
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
    if seen and seen == board.read_stamp(request.access.venue, now=request.access.venue.now()):
        return HttpResponse(status=204)
    return render(request, "orders/board_columns.html", build_context(request))


@page(Right.ORDERS, section="board", methods=("POST",))
def change_status(request: PageRequest) -> HttpResponse:
    """Move, complete, cancel or reopen one order.

    The parameter `complete`, `cancel` or `reopen` is its id, `accept` or `ready` its id and the version that the user
    has seen, and `undo` its id, the stage to which it goes back, and that version.

    An htmx request gets the columns and a toast; other requests are redirected to the board.
    """
    verb = next(
        (verb for verb in (*STAGE_VERBS, "undo", "complete", "cancel", "reopen") if verb in request.POST), None
    )
    if verb is None:
        raise Http404
    if verb == "undo":
        return undo_stage(request)
    public_id, version = request.POST[verb], None
    if verb in STAGE_VERBS:
        match = STAGE_MOVE.fullmatch(public_id)
        if match is None:
            raise Http404
        public_id, version = match["order"], int(match["version"])
    order = get_order(request, public_id)
    form = CancellationForm(request.POST)
    if verb == "cancel" and not form.is_valid():
        text = " ".join(str(message) for errors in form.errors.values() for message in errors)
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    because = form.because if verb == "cancel" else ""
    with transaction.atomic():
        # The stage to which Undo goes back is the one before this change, whoever has made another one just now.
        former = Order.objects.select_for_update().values_list("kitchen_stage", flat=True).get(pk=order.pk)
        is_done, message = apply_action(order, verb, actor=request.access.actor, because=because, version=version)
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
            now=request.access.venue.now(),
            actor=request.access.actor,
            versions={int(match["version"])},
            moves_back=True,
        )
    except (VersionConflict, InvalidTransition):
        message = _("Not undone: order %(number)s is %(state)s.")
        return respond(request, False, message % {"number": order.number, "state": describe_state(order)})
    message = _("Order %(number)s is %(state)s again.")
    return respond(request, True, message % {"number": order.number, "state": STATES[order.stage]})


def respond(
    request: PageRequest, is_done: bool, message: str, *, undo: Order | None = None, former: str = ""
) -> HttpResponse:
    """Show the message: to htmx with the columns, and a button if the change can be undone; else on the board."""
    if getattr(request, "htmx", None):
        context = build_context(request) | {"message": message, "is_done": is_done, "undo": undo, "former": former}
        return render(request, "orders/board_moved.html", context)
    messages.add_message(request, messages.SUCCESS if is_done else messages.WARNING, message)
    query = {"station": station} if (station := get_station(request)) else None
    return redirect(reverse("order-board", kwargs={"venue": request.access.venue.public_id}, query=query))


def apply_action(
    order: Order, verb: str, *, actor: str, because: str = "", version: int | None = None
) -> tuple[bool, str]:
    """Move, complete, cancel or reopen the order. Return whether that changed it, and a message for the user.

    A stage is set only if the order still has this version.
    """
    now = order.venue.now()
    try:
        if verb in STAGE_VERBS:
            versions = None if version is None else {version}
            if commands.change_stage(order, STAGE_VERBS[verb], now=now, actor=actor, versions=versions):
                message = _("Order %(number)s is %(state)s.")
                return True, message % {"number": order.number, "state": STATES[order.stage]}
        elif verb == "reopen":
            commands.reopen_order(order, now=now, actor=actor)
            return True, _("Order %(number)s was reopened.") % {"number": order.number}
        else:
            to = Order.Status.COMPLETED if verb == "complete" else Order.Status.CANCELLED
            if commands.change_status(order, to, now=now, actor=actor, because=because):
                completed, cancelled = _("Order %(number)s was completed."), _("Order %(number)s was cancelled.")
                return True, (completed if verb == "complete" else cancelled) % {"number": order.number}
    except InvalidTransition:
        pass
    except VersionConflict:
        if is_ahead(order, verb):
            message = _("Order %(number)s has changed since: %(state)s. Check it and try again.")
            return False, message % {"number": order.number, "state": describe_state(order)}
    message = _("Order %(number)s is already %(state)s.")
    return False, message % {"number": order.number, "state": describe_state(order)}


def describe_state(order: Order) -> str:
    """Return the state of an order and who has changed it last: `ready, by kitchen@example.com`. One query."""
    events = Event.objects.filter(subject=order.pk, venue=order.venue_id).order_by("-created_at", "-id")
    actor = events.values_list("actor", flat=True).first() or ""
    kind, _separator, name = actor.partition(":")
    state = str(STATES[order.stage if order.status == Order.Status.PENDING else order.status])
    if kind == "staff":
        return _("%(state)s, by %(name)s") % {"state": state, "name": name}
    return _("%(state)s, by the API") % {"state": state} if kind == "key" else state


@page(Right.ORDERS, section="board", methods=("POST",))
def claim_ticket(request: PageRequest) -> HttpResponse:
    """Let one of the boards that would print a new order's ticket do it: 204 for the first one, 409 for all others.

    Each station has a ticket of its own. Raises Http404 for a station that the order has no line of.
    """
    order, station = get_order(request, request.POST.get("order", "")), get_station(request)
    if station and station not in {line.station for line in order.items.all()}:
        raise Http404
    return HttpResponse(status=204 if order.claim_ticket(station) else 409)


@page(Right.VENUE, section="board", methods=("GET", "HEAD", "POST"))
def edit_settings(request: PageRequest) -> HttpResponse:
    """Show after how many minutes cards change their colour (GET), and change it (POST)."""
    venue = request.access.venue
    form = BoardSettingsForm(request.POST if request.method == "POST" else None, instance=board.read_settings(venue))
    if form.is_valid():
        OrderingSettings.objects.update_or_create(venue=venue, defaults=form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("order-board", venue=venue.public_id)
    return render(request, "orders/board_settings.html", {"form": form}, status=400 if form.is_bound else 200)

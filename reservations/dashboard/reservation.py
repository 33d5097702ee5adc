"""The page of a reservation: details, status steps, history and editing."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, cast

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Event
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from reservations.booking import commands, waitlist
from reservations.booking.service_day import working_day_of
from reservations.dashboard.url_params import address_of, back, reservation_of, say
from reservations.forms.reservation import StaffReservationForm
from reservations.mail.templates import hour_of
from reservations.models import Reservation, Table
from reservations.service import check_in
from reservations.service.display_status import LOOKS, Stage, stage_of, steps_of

Arrival, Status = Reservation.Arrival, Reservation.Status
# The newest lines of the history and of the emails.
MAX_LINES = 50
EVENT_LABELS = {
    "reservation.created": "Booked",
    "reservation.updated": "Changed",
    "reservation.confirmed": "Confirmed",
    "reservation.cancelled": "Cancelled",
}
DONE = {
    "arrived": "{name} has arrived.",
    "seated": "{name} is seated.",
    "finished": "{name} has left. The table is free.",
    "no-show": "{name} is marked as no-show. The table is free.",
    "confirm": "The reservation of {name} was confirmed.",
    "cancel": "The reservation of {name} was cancelled.",
    "offer": "A table was offered to {name}.",
    "accept": "The reservation of {name} was confirmed.",
    "decline": "{name} was removed from the waiting list.",
}


@page(Right.RESERVATIONS, section="day")
def reservation(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Show the reservation; an htmx request of the day view gets the card only."""
    found = reservation_of(request, reservation)
    is_partial = bool(request.htmx)  # type: ignore[attr-defined]
    template = "reservations/reservation_card.html" if is_partial else "reservations/reservation.html"
    return render(request, template, context_of(request, found, now=timezone.now()) | {"is_partial": is_partial})


def context_of(request: PageRequest, found: Reservation, *, now: datetime) -> dict[str, Any]:
    """Return the context of the templates. Four queries."""
    stage = stage_of(found, now=now)
    return {
        "reservation": found,
        "venue": found.venue,
        "look": LOOKS[stage],
        "stage": stage,
        "steps": steps_of(found, now=now),
        "held_until": {Stage.OFFERED: waitlist.held_until(found), Stage.UNPROVEN: found.prove_by}.get(stage),
        "events": lines_of(found),
        "notices": list(found.notices.order_by("-created_at", "-id")[:MAX_LINES]),
        "work_day": working_day_of(found.venue, at=found.starts_at),
        "may_change": found.status != Status.CANCELLED,
        "sees_guests": request.access.may(Right.GUESTS) and found.erased_at is None,
    }


def lines_of(found: Reservation) -> list[dict[str, Any]]:
    """Return the history with actors, newest first. One query."""
    events = list(Event.objects.filter(subject=found.pk).order_by("-created_at", "-id")[:MAX_LINES])
    return [
        {
            "at": event.created_at,
            "label": EVENT_LABELS.get(event.type, event.type),
            "actor": event.actor.removeprefix("staff:").replace("key:", "API key "),
        }
        for event in events
    ]


@page(Right.RESERVATIONS, section="day", methods=("GET", "HEAD", "POST"))
def step(request: PageRequest, *, reservation: str, name: str) -> HttpResponse:
    """Run a status step (POST); show the confirmation page of a destructive one (GET)."""
    found = reservation_of(request, reservation)
    verb = VERBS.get(name)
    if verb is None:
        raise Http404
    if request.method != "POST":
        context = {"reservation": found, "name": name, "back": request.GET.get("back", "")}
        return render(request, "reservations/confirm_action.html", context)
    now, actor = timezone.now(), request.access.actor
    done = DONE[name].format(name=found.customer_name)
    if say(request, lambda: verb(found, now=now, actor=actor), done) and name == "offer":
        add_offer_message(request, found)
    return back(request, found)


def add_offer_message(request: PageRequest, found: Reservation) -> None:
    """Add a message: how long the table is held, and whether the guest gets an email."""
    until = hour_of(found.offered_until or found.starts_at, found.venue.timezone)
    notice = "We email the guest." if waitlist.is_mailed_offers(found) else "Call the guest: no email is sent."
    messages.info(request, f"{', '.join(found.tables)} is held until {until}. {notice}")


def marks(arrival: Reservation.Arrival) -> Callable[..., Any]:
    """Return the action that records this arrival state."""

    def mark(found: Reservation, *, now: datetime, actor: str) -> None:
        check_in.mark(found, arrival, now=now, actor=actor)

    return mark


def moves(status: Reservation.Status) -> Callable[..., Any]:
    """Return the action that sets this status."""

    def move(found: Reservation, *, now: datetime, actor: str) -> None:
        commands.move(found, status, now=now, actor=actor)

    return move


VERBS: dict[str, Callable[..., Any]] = {
    "arrived": marks(Arrival.ARRIVED),
    "seated": marks(Arrival.SEATED),
    "finished": marks(Arrival.FINISHED),
    "no-show": marks(Arrival.NO_SHOW),
    "confirm": moves(Status.CONFIRMED),
    "cancel": moves(Status.CANCELLED),
    "offer": waitlist.offer,
    "accept": waitlist.accept,
    "decline": waitlist.decline,
}


@page(Right.RESERVATIONS, section="day", methods=("GET", "HEAD", "POST"))
def edit(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Edit guest, time, party size and tables."""
    found = reservation_of(request, reservation)
    names = list(
        Table.objects.filter(venue=found.venue_id, is_active=True).order_by("name").values_list("name", flat=True)
    )
    form = StaffReservationForm(request.POST or None, instance=found, tables=names)
    if request.method == "POST" and form.is_valid():
        new = {name: form.cleaned_data[name] for name in form.changed_data}
        # The form has changed its own instance; the command needs the stored row.
        fresh = reservation_of(request, reservation)
        try:
            commands.change(
                fresh,
                day=new.pop("date", None),
                at=new.pop("time", None),
                party_size=new.pop("party_size", None),
                tables=new.pop("tables", None),
                guest=cast("commands.Guest", new),
                now=timezone.now(),
                actor=request.access.actor,
            )
        except ApiError as refusal:
            form.add_domain_error(refusal)
        else:
            messages.success(request, f"The reservation of {fresh.customer_name} was changed.")
            return redirect(address_of(request, fresh))
    context = {"form": form, "reservation": reservation_of(request, reservation)}
    return render(request, "reservations/reservation_edit.html", context, status=400 if form.errors else 200)

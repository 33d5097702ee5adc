"""The page of a reservation: details, status steps, history and editing; and walk-ins."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from itertools import zip_longest
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django_stubs_ext import StrPromise

from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Event
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from framework.languages import format_moment
from reservations.booking import commands, table_assignment, terms, waitlist
from reservations.booking.service_day import service_date_of
from reservations.dashboard import cancellation
from reservations.dashboard.history import list_changes
from reservations.dashboard.url_params import (
    choose_mail_delay,
    get_reservation,
    list_table_names,
    pop_undo,
    redirect_back,
    redirect_to_day,
    run_with_message,
)
from reservations.forms.reservation import StaffReservationForm
from reservations.guests.profiles import summarize_guest
from reservations.models import GuestMail, Reservation
from reservations.notifications import can_email, find_unsent_mail, withdraw_mail
from reservations.service import check_in
from reservations.service.display_status import BADGES, RETURN_DEPOSIT, Stage, next_steps, stage_of

Arrival, Status = Reservation.Arrival, Reservation.Status
# The newest lines of the history and of the emails.
MAX_LINES = 50
MAX_PARTY_SIZE = 500
EVENT_LABELS = {
    "reservation.created": gettext_lazy("Booked"),
    "reservation.updated": pgettext_lazy("reservation", "Changed"),
    "reservation.confirmed": pgettext_lazy("reservation", "Confirmed"),
    "reservation.cancelled": pgettext_lazy("reservation", "Cancelled"),
}
# By the name in the URL: the command, and the message after it.
COMMANDS: dict[str, tuple[Callable[..., Any], StrPromise]] = {
    "arrived": (partial(check_in.record_arrival, arrival=Arrival.ARRIVED), gettext_lazy("{guest} has arrived.")),
    "seated": (partial(check_in.record_arrival, arrival=Arrival.SEATED), gettext_lazy("{guest} is seated.")),
    "finished": (
        partial(check_in.record_arrival, arrival=Arrival.FINISHED),
        gettext_lazy("{guest} has left. The table is free."),
    ),
    "no-show": (
        partial(check_in.record_arrival, arrival=Arrival.NO_SHOW),
        gettext_lazy("{guest} is marked as no-show. The table is free."),
    ),
    "confirm": (
        partial(commands.set_status, status=Status.CONFIRMED),
        gettext_lazy("The reservation of {guest} was confirmed."),
    ),
    "cancel": (
        partial(commands.set_status, status=Status.CANCELLED),
        gettext_lazy("The reservation of {guest} was cancelled."),
    ),
    "offer": (waitlist.offer_table, gettext_lazy("A table was offered to {guest}.")),
    "accept": (waitlist.accept_offer, gettext_lazy("The reservation of {guest} was confirmed.")),
    "decline": (waitlist.decline_offer, gettext_lazy("{guest} was removed from the waiting list.")),
    "return-deposit": (terms.return_kept, gettext_lazy("The deposit of {guest} is returned.")),
}

# The steps that cancel: staff choose whether the guest is emailed.
CANCELLATIONS = {"cancel", "decline"}


@page(Right.RESERVATIONS, section="day")
def reservation(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Show the reservation; an htmx request of the day view gets the card only."""
    booking = get_reservation(request, reservation)
    is_partial = bool(request.htmx)  # type: ignore[attr-defined]
    template = "reservations/reservation_card.html" if is_partial else "reservations/reservation.html"
    context = context_of(request, booking, now=request.access.venue.now()) | {
        "is_partial": is_partial,
        # Where the steps lead back to.
        "back": "day" if is_partial else "",
    }
    if not is_partial:
        context["undo"] = pop_undo(request)
        if context["sees_guests"]:
            context["guest"] = summarize_guest(booking, now=request.access.venue.now())
    return render(request, template, context)


def context_of(request: PageRequest, booking: Reservation, *, now: datetime) -> dict[str, Any]:
    """Return the context of the templates. Six queries."""
    stage, agreed = stage_of(booking, now=now), terms.find_agreed(booking)
    steps = next_steps(booking, now=now)
    if agreed and agreed.deposit_state == terms.KEPT:
        steps.append(RETURN_DEPOSIT)
    return {
        "reservation": booking,
        "venue": booking.venue,
        "badge": BADGES[stage],
        "stage": stage,
        "steps": steps,
        "agreed": agreed,
        "deposit": terms.format_amount(agreed.deposit_usdc) if agreed and agreed.deposit_usdc else "",
        "held_until": waitlist.offer_expires_at(booking) if stage == Stage.OFFERED else booking.confirm_by,
        "events": list_events(booking),
        "mails": booking.guest_mails.order_by("-created_at", "-id")[:MAX_LINES],
        "unsent_mail": find_unsent_mail(booking, now=now),
        # As the booking page tells guests.
        "is_unsent": booking.venue.is_sandbox and not settings.MAILBOX_DIR,
        "work_day": service_date_of(booking.venue, at=booking.starts_at),
        "may_change": booking.status != Status.CANCELLED,
        "sees_guests": request.access.may_view(Right.GUESTS) and booking.erased_at is None,
    }


def format_actor(actor: str) -> str:
    if actor.startswith("key:"):
        return _("API key %(name)s") % {"name": actor.removeprefix("key:")}
    return actor.removeprefix("staff:").removeprefix("app:")


def list_events(booking: Reservation) -> list[dict[str, Any]]:
    """Return the history, newest first: when, what, by whom, and what an update has changed. One query."""
    # One more, to which the oldest line is compared.
    events = list(Event.objects.filter(subject=booking.pk).order_by("-created_at", "-id")[: MAX_LINES + 1])
    return [
        {
            "at": event.created_at,
            "label": EVENT_LABELS.get(event.type, event.type),
            "actor": format_actor(event.actor),
            "changes": list_changes(former.record, event.record) if former else [],
        }
        for event, former in zip_longest(events[:MAX_LINES], events[1:])
    ]


@page(Right.RESERVATIONS, section="day", methods=("GET", "HEAD", "POST"))
def step(request: PageRequest, *, reservation: str, name: str) -> HttpResponse:
    """Run a status step (POST); show the confirmation page of a destructive one (GET)."""
    booking = get_reservation(request, reservation)
    if name not in COMMANDS:
        raise Http404
    if request.method != "POST":
        is_cancellation = name in CANCELLATIONS
        can_notify = is_cancellation and can_email(booking, GuestMail.Kind.CANCELLED, now=request.access.venue.now())
        context = {
            "reservation": booking,
            "stage": stage_of(booking, now=request.access.venue.now()),
            "name": name,
            "back": request.GET.get("back", ""),
            "can_notify": can_notify,
            "can_undo": is_cancellation and cancellation.can_undo(booking),
            "has_deposit": bool(terms.find_held_deposit(booking)),
        }
        return render(request, "reservations/confirm_action.html", context)
    command, text = COMMANDS[name]
    done = text.format(guest=booking.customer_name)
    if name in CANCELLATIONS:
        cancellation.cancel(request, booking, command, done)
        return redirect_back(request, booking)
    run = partial(command, booking, now=request.access.venue.now(), actor=request.access.actor)
    if run_with_message(request, run, done) and name == "offer":
        until = format_moment(booking.offered_until or booking.starts_at, booking.venue.timezone)
        if waitlist.can_mail_offers(booking):
            notice = _("%(tables)s is held until %(until)s. We email the guest.")
        else:
            notice = _("%(tables)s is held until %(until)s. Call the guest: no email is sent.")
        messages.info(request, notice % {"tables": ", ".join(booking.tables), "until": until})
    return redirect_back(request, booking)


class MailForm(forms.Form):
    mail = forms.UUIDField()


@page(Right.RESERVATIONS, section="day", methods=("POST",))
def withdraw(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Withdraw the email about a change, within a minute of it."""
    booking = get_reservation(request, reservation)
    form = MailForm(request.POST)
    with transaction.atomic():
        table_assignment.lock_reservation(booking)
        is_withdrawn = form.is_valid() and withdraw_mail(booking, form.cleaned_data["mail"])
    withdrawn, sent = _("The guest is not emailed."), _("The email has been sent already, or is being sent.")
    text = withdrawn if is_withdrawn else sent
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(text)
    (messages.success if is_withdrawn else messages.error)(request, text)
    return redirect_back(request, booking)


@page(Right.RESERVATIONS, section="day", methods=("GET", "HEAD", "POST"))
def edit(request: PageRequest, *, reservation: str) -> HttpResponse:
    booking = get_reservation(request, reservation)
    names = list_table_names(booking.venue)
    form = StaffReservationForm(request.POST or None, instance=booking, tables=names)
    if request.method == "POST" and form.is_valid():
        # The form has changed its own instance; the command needs the stored row.
        fresh = get_reservation(request, reservation)
        try:
            commands.update(
                fresh,
                **form.changes(),
                mail_after=choose_mail_delay(request),
                now=request.access.venue.now(),
                actor=request.access.actor,
            )
        except ApiError as refusal:
            form.add_domain_error(refusal)
        else:
            messages.success(request, _("The reservation of %(guest)s was changed.") % {"guest": fresh.customer_name})
            return redirect("reservation", venue=fresh.venue.public_id, reservation=reservation)
    stored = get_reservation(request, reservation)
    can_notify = can_email(stored, GuestMail.Kind.CHANGED, now=request.access.venue.now())
    context = {"form": form, "reservation": stored, "can_notify": can_notify}
    return render(request, "reservations/reservation_edit.html", context, status=400 if form.errors else 200)


class WalkInForm(forms.Form):
    party_size = forms.IntegerField(label=gettext_lazy("Guests"), min_value=1, max_value=MAX_PARTY_SIZE)


@page(Right.RESERVATIONS, section="day", methods=("POST",))
def walk_in(request: PageRequest) -> HttpResponse:
    """Seat a walk-in party now at the best free table."""
    venue = request.access.venue
    now = venue.now()
    form = WalkInForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter the number of guests, 1 to %(most)s.") % {"most": MAX_PARTY_SIZE})
    else:
        try:
            party_size = form.cleaned_data["party_size"]
            reservation = commands.seat_walk_in(venue, party_size=party_size, now=now, actor=request.access.actor)
        except ApiError as refusal:
            messages.error(request, refusal.message)
        else:
            if reservation.tables:
                message = _("A party of %(count)s is seated at %(tables)s, until %(until)s.")
            else:
                message = _("A party of %(count)s is seated, until %(until)s.")
            values = {
                "count": reservation.party_size,
                "tables": ", ".join(reservation.tables),
                "until": format_moment(reservation.ends_at, venue.timezone),
            }
            messages.success(request, message % values)
    return redirect_to_day(request, now)

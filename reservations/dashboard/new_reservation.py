"""New reservations by staff, and walk-ins."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from reservations.booking import commands
from reservations.booking.service_day import ServiceDay, service_date_of
from reservations.dashboard.url_params import list_table_names, parse_day, redirect_to_day
from reservations.forms.reservation import NewStaffReservationForm
from reservations.mail.templates import format_moment
from reservations.models import Reservation

Status = Reservation.Status
MAX_PARTY_SIZE = 500


@page(Right.RESERVATIONS, section="day", methods=("GET", "HEAD", "POST"))
def new(request: PageRequest) -> HttpResponse:
    """Create a reservation: at any time, at the selected tables or the best free one."""
    venue, now = request.access.venue, timezone.now()
    names = list_table_names(venue)
    day = parse_day(request.GET.get("day")) or service_date_of(venue, at=now)
    reservation = Reservation(venue=venue)
    form = NewStaffReservationForm(
        request.POST or None, instance=reservation, tables=names, initial={"date": day, "is_confirmed": True}
    )
    if request.method == "POST" and form.is_valid():
        status = Status.CONFIRMED if form.cleaned_data["is_confirmed"] else Status.PENDING
        try:
            commands.create_by_staff(reservation, status=status, now=now, actor=request.access.actor)
        except ApiError as refusal:
            form.add_domain_error(refusal)
        else:
            add_created_message(request, reservation, has_tables=bool(names))
            return redirect("reservation", venue=venue.public_id, reservation=reservation.public_id)
    context = {"form": form, "day": day, "slots": ServiceDay.load(venue, day).slots}
    return render(request, "reservations/reservation_new.html", context, status=400 if form.errors else 200)


def add_created_message(request: PageRequest, reservation: Reservation, *, has_tables: bool) -> None:
    what = f"The reservation of {reservation.customer_name} was"
    if reservation.status == Status.PENDING:
        messages.success(request, f"{what} created and awaits your approval.")
    elif reservation.tables or not has_tables:
        where = f" at {', '.join(reservation.tables)}" if reservation.tables else ""
        messages.success(request, f"{what} confirmed{where}.")
    else:
        messages.warning(request, f"{what} confirmed, but no table is free: choose one.")


class WalkInForm(forms.Form):
    party_size = forms.IntegerField(label="Guests", min_value=1, max_value=MAX_PARTY_SIZE)


@page(Right.RESERVATIONS, section="day", methods=("POST",))
def walk_in(request: PageRequest) -> HttpResponse:
    """Seat a walk-in party now at the best free table."""
    venue, now = request.access.venue, timezone.now()
    form = WalkInForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Enter the number of guests, 1 to {MAX_PARTY_SIZE}.")
    else:
        try:
            party_size = form.cleaned_data["party_size"]
            reservation = commands.seat_walk_in(venue, party_size=party_size, now=now, actor=request.access.actor)
        except ApiError as refusal:
            messages.error(request, refusal.message)
        else:
            where = f" at {', '.join(reservation.tables)}" if reservation.tables else ""
            until = format_moment(reservation.ends_at, venue.timezone)
            messages.success(request, f"A party of {reservation.party_size} is seated{where}, until {until}.")
    return redirect_to_day(request, now)

"""The page on which staff enter a reservation: party, date and one of the free times, then the guest."""

from dataclasses import dataclass
from datetime import date, time
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.models import Venue
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from reservations.booking import commands
from reservations.booking.availability import DayAvailability
from reservations.booking.slot_states import closed_message
from reservations.booking.venue_time import FIRST_DAY, LAST_DAY, local_today
from reservations.dashboard.reservation import MAX_PARTY_SIZE
from reservations.dashboard.url_params import list_table_names, parse_day, parse_moment
from reservations.forms.reservation import LastTimeInput, NewStaffReservationForm
from reservations.models import Reservation

Status = Reservation.Status
DEFAULT_PARTY_SIZE = 2


@dataclass(frozen=True, slots=True)
class Period:
    """The times of a service period that are still to come; `is_open` if the page shows them unfolded."""

    name: str
    # Whether a party can have each.
    times: tuple[tuple[time, bool], ...]
    is_open: bool

    @property
    def free(self) -> int:
        return sum(is_free for _, is_free in self.times)


def times_of(venue: Venue, day: date, party_size: int, chosen: time | None) -> dict[str, Any]:
    """Return the context of reservations/new_times.html. At most six queries."""
    now = venue.now()
    availability = DayAvailability.load(venue, day, now=now)
    upcoming = availability.upcoming_slots()
    # A party of a former day may be entered, too.
    slots = availability.hours.open_slots() if day < local_today(venue, now=now) else upcoming
    by_period: dict[str, list[tuple[time, bool]]] = {}
    for slot in slots:
        # Without tables, staff confirm whom they like.
        is_free = not availability.places or availability.has_room(slot, party_size)
        by_period.setdefault(slot.period.name, []).append((slot.time, is_free))
    # Unfolded is the period of the chosen time, else the last one: most guests come for dinner.
    of_chosen = next((name for name, times in by_period.items() if chosen in dict(times)), None)
    shown = of_chosen or next(reversed(by_period), None)
    return {
        "periods": [Period(name, tuple(times), is_open=name == shown) for name, times in by_period.items()],
        "no_times": "" if slots else closed_message(availability.hours, upcoming),
        "chosen": chosen,
        "is_listed": of_chosen is not None,
    }


@page(Right.RESERVATIONS, section="day", methods=("GET", "HEAD", "POST"))
def new(request: PageRequest) -> HttpResponse:
    """Create a reservation: at any time, at the selected tables or the best free one.

    The parameters `day`, or `moment` as a Unix time, `table` and `name` fill the form in. A POST with `show` shows the
    times of another day or party without JavaScript.
    """
    venue = request.access.venue
    now = venue.now()
    names = list_table_names(venue)
    if "show" in request.POST:
        initial: dict[str, Any] = request.POST.dict() | {"tables": request.POST.getlist("tables")}
        initial["time"] = LastTimeInput().value_from_datadict(request.POST, request.FILES, "time")
    else:
        initial = initial_of(request, names)
    reservation = Reservation(venue=venue)
    data = request.POST if request.method == "POST" and "show" not in request.POST else None
    form = NewStaffReservationForm(data, instance=reservation, tables=names, initial=initial)
    if data and form.is_valid():
        status = Status.CONFIRMED if form.cleaned_data["is_confirmed"] else Status.PENDING
        try:
            commands.create_by_staff(reservation, status=status, now=now, actor=request.access.actor)
        except ApiError as refusal:
            form.add_domain_error(refusal)
        else:
            add_created_message(request, reservation, has_tables=bool(names))
            return redirect("reservation", venue=venue.public_id, reservation=reservation.public_id)
    day = clean(form, "date")
    if day is None or not FIRST_DAY <= day <= LAST_DAY:
        day = local_today(venue, now=now)
    context: dict[str, Any] = {
        "form": form,
        "day": day,
        "sees_guests": request.access.may_view(Right.GUESTS),
        "has_tables": bool(names),
    }
    context |= times_of(venue, day, clean(form, "party_size") or DEFAULT_PARTY_SIZE, clean(form, "time"))
    return render(request, "reservations/reservation_new.html", context, status=400 if form.errors else 200)


def initial_of(request: PageRequest, names: list[str]) -> dict[str, Any]:
    """Return what a new form begins with, by the parameters. Raises Http404 for invalid ones."""
    venue = request.access.venue
    moment, day = parse_moment(request.GET.get("moment")), parse_day(request.GET.get("day"))
    initial: dict[str, Any] = {
        "date": day or local_today(venue, now=venue.now()),
        "party_size": DEFAULT_PARTY_SIZE,
        "is_confirmed": True,
        "customer_name": request.GET.get("name", "")[:200],
    }
    if moment:
        local = moment.astimezone(ZoneInfo(venue.timezone))
        initial |= {"date": local.date(), "time": local.time()}
    if request.GET.get("table") in names:
        initial["tables"] = [request.GET["table"]]
    return initial


def clean(form: NewStaffReservationForm, name: str) -> Any:
    """Return the value that the form shows; None if it is invalid."""
    field = form.fields[name]
    try:
        return field.clean(form[name].value())
    except ValidationError:
        return None


@page(Right.RESERVATIONS, section="day")
def times(request: PageRequest) -> HttpResponse:
    """Return the times of another day or party, with the chosen one. Invalid values are 404: the old times stay."""
    venue, chosen = request.access.venue, LastTimeInput().value_from_datadict(request.GET, request.FILES, "time")
    day, size = parse_day(request.GET.get("date")), request.GET.get("party_size", "")
    if day is None or not (size.isascii() and size.isdigit() and len(size) <= 3 and 1 <= int(size) <= MAX_PARTY_SIZE):
        raise Http404
    form = NewStaffReservationForm(instance=Reservation(venue=venue), tables=[], initial={"time": chosen})
    context = {"form": form} | times_of(venue, day, int(size), clean(form, "time"))
    return render(request, "reservations/new_times.html", context)


def add_created_message(request: PageRequest, reservation: Reservation, *, has_tables: bool) -> None:
    level = messages.SUCCESS
    if reservation.status == Status.PENDING:
        message = _("The reservation of %(guest)s was created and awaits your approval.")
    elif reservation.tables:
        message = _("The reservation of %(guest)s was confirmed at %(tables)s.")
    elif not has_tables:
        message = _("The reservation of %(guest)s was confirmed.")
    else:
        level = messages.WARNING
        message = _("The reservation of %(guest)s was confirmed, but no table is free: choose one.")
    values = {"guest": reservation.customer_name, "tables": ", ".join(reservation.tables)}
    messages.add_message(request, level, message % values)

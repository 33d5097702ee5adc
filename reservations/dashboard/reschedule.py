"""Move a reservation to another time or table, by a form or by drag and drop."""

import json
from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from framework.languages import format_long_day
from reservations.booking import commands, table_assignment
from reservations.booking.availability import Place, list_free_places
from reservations.booking.service_day import ServiceDay
from reservations.booking.venue_time import FIRST_DAY, LAST_DAY
from reservations.dashboard.url_params import (
    LAST_MOMENT,
    choose_mail_delay,
    get_reservation,
    redirect_to_day,
    store_undo,
)
from reservations.models import GuestMail, Reservation
from reservations.notifications import GRACE_PERIOD, can_email, find_unsent_mail, withdraw_mail

OUT_OF_RANGE = format_lazy(
    gettext_lazy("Enter a date from {first} to {last}."), first=FIRST_DAY.year, last=LAST_DAY.year
)
MAX_TABLES = 50
# In the forms, `time` is a field.
Clock = time


class DateTimeForm(forms.Form):
    """A date and a time in the venue's time zone."""

    day = forms.DateField(
        label=gettext_lazy("Day"),
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        validators=[MinValueValidator(FIRST_DAY, OUT_OF_RANGE), MaxValueValidator(LAST_DAY, OUT_OF_RANGE)],
    )
    time = forms.TimeField(
        label=gettext_lazy("Time"),
        input_formats=["%H:%M", "%H:%M:%S"],
        widget=forms.TimeInput({"type": "time", "list": "slots"}, format="%H:%M"),
        help_text=gettext_lazy("In the restaurant's time zone"),
    )

    def clean_time(self) -> Clock | None:
        at: Clock | None = self.cleaned_data["time"]
        return at and at.replace(second=0, microsecond=0)


class MoveForm(DateTimeForm):
    """The new date and time, or the Unix time from drag and drop, and the tables."""

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)
    tables = forms.CharField(required=False, max_length=2000)
    mail = forms.UUIDField(required=False, widget=forms.HiddenInput)
    moment = forms.IntegerField(required=False, min_value=0, max_value=LAST_MOMENT)

    def __init__(self, *args: Any, zone: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.zone = ZoneInfo(zone)
        if self.data.get("moment"):
            self.fields["day"].required = self.fields["time"].required = False

    def clean_tables(self) -> list[str] | None:
        """Parse the JSON array of table names; None keeps the current tables or assigns the best free one."""
        text = self.cleaned_data["tables"]
        if not text:
            return None
        try:
            names = json.loads(text)
        except (ValueError, RecursionError):
            names = None
        if not isinstance(names, list) or len(names) > MAX_TABLES or not all(isinstance(name, str) for name in names):
            raise forms.ValidationError(_("Select tables from the list."))
        return names

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        moment = values.get("moment")
        if moment is not None:
            local = datetime.fromtimestamp(moment, self.zone)
            values |= {"day": local.date(), "time": local.time().replace(second=0)}
        return values


@page(Right.RESERVATIONS, section="day", methods=("GET", "HEAD", "POST"))
def move(request: PageRequest, *, reservation: str) -> HttpResponse:
    """Choose a time and show the free tables (GET); move (POST), unless the reservation was changed since."""
    booking = get_reservation(request, reservation)
    if request.method == "POST":
        return reschedule(request, booking)
    when = DateTimeForm(request.GET) if "day" in request.GET or "time" in request.GET else None
    return render_form(request, booking, when=when)


def render_form(
    request: PageRequest, booking: Reservation, *, when: forms.Form | None, error: str = "", status: int = 200
) -> HttpResponse:
    ends_at: datetime | None = None
    places: list[Place] = []
    day, at = booking.date, booking.time
    if when is None:
        when = DateTimeForm(initial={"day": day, "time": at})
    elif when.is_valid():
        day, at = when.cleaned_data["day"], when.cleaned_data["time"]
    else:
        status = 400
    if status == 200 or error:
        try:
            ends_at, places = list_free_places(booking, day=day, at=at, now=request.access.venue.now())
        except ApiError as refusal:
            status, error = 400, refusal.message
    choices = [
        {"table": place, "value": json.dumps(place.names), "fits": place.fits(booking.party_size)} for place in places
    ]
    context = {
        "reservation": booking,
        "when": when,
        "ends_at": ends_at,
        "places": [choice for choice in choices if choice["fits"]],
        "others": [choice for choice in choices if not choice["fits"]],
        "day": day,
        "at": at,
        "slots": ServiceDay.load(booking.venue, day).slots,
        "has_tables": table_assignment.has_tables(booking.venue_id),
        "can_notify": can_email(booking, GuestMail.Kind.CHANGED, now=request.access.venue.now()),
        "error": error,
        "version": booking.version,
    }
    return render(request, "reservations/reservation_move.html", context, status=status)


def reschedule(request: PageRequest, booking: Reservation) -> HttpResponse:
    """Move the reservation, and show a message with Undo, or the error."""
    form = MoveForm(request.POST, zone=booking.venue.timezone)
    if not form.is_valid():
        return show_error(
            request, booking, " ".join(str(message) for errors in form.errors.values() for message in errors)
        )
    values, now = form.cleaned_data, request.access.venue.now()
    is_undone = "undo" in request.POST
    before = {"day": f"{booking.date}", "time": f"{booking.time:%H:%M}", "tables": json.dumps(booking.tables)}
    mail_after = choose_mail_delay(request)
    try:
        with transaction.atomic():
            table_assignment.lock_reservation(booking)
            if is_undone:
                # Without an email about the move there is nothing to correct.
                mail = values["mail"]
                is_announced = mail is not None and not withdraw_mail(booking, mail)
                mail_after = GRACE_PERIOD if is_announced else None
            commands.update(
                booking,
                day=values["day"],
                at=values["time"],
                tables=values["tables"],
                versions={values["version"]},
                mail_after=mail_after,
                now=now,
                actor=request.access.actor,
            )
    except ApiError as refusal:
        return show_error(request, booking, refusal.message)
    undo, is_same = None, booking.version == values["version"]
    if not is_same and not is_undone:
        unsent = find_unsent_mail(booking, now=now)
        undo = before | {
            "reservation": booking.public_id,
            "version": booking.version,
            "mail": str(unsent.pk) if unsent and unsent.created_at == now else "",
        }
    message = message_of(booking, is_undone=is_undone, is_same=is_same)
    if request.htmx:  # type: ignore[attr-defined]
        context = {"message": message, "undo": undo, "venue": booking.venue}
        response = render(request, "reservations/day_flash.html", context)
        response["HX-Trigger"] = "sheet-changed"
        return response
    if undo:
        store_undo(request, undo | {"message": message})
    else:
        messages.success(request, message)
    return redirect_to_day(request, booking.starts_at)


def show_error(request: PageRequest, booking: Reservation, error: str) -> HttpResponse:
    if request.htmx:  # type: ignore[attr-defined]
        response = render(request, "reservations/day_flash.html", {"error": error}, status=400)
        response["HX-Trigger"] = "sheet-changed"
        return response
    booking.refresh_from_db()
    booking.venue = request.access.venue
    if "undo" in request.POST:
        messages.error(request, error)
        return redirect_to_day(request, booking.starts_at)
    return render_form(request, booking, when=DateTimeForm(request.POST), error=error, status=400)


def message_of(booking: Reservation, *, is_undone: bool, is_same: bool) -> str:
    values = {
        "guest": booking.customer_name,
        "time": f"{booking.time:%H:%M}",
        "day": format_long_day(booking.date),
        "tables": ", ".join(booking.tables),
    }
    if is_same and booking.tables:
        message = _("%(guest)s was not moved: %(time)s on %(day)s at %(tables)s.")
    elif is_same:
        message = _("%(guest)s was not moved: %(time)s on %(day)s, without a table.")
    elif is_undone and booking.tables:
        message = _("%(guest)s was moved back to %(time)s on %(day)s at %(tables)s.")
    elif is_undone:
        message = _("%(guest)s was moved back to %(time)s on %(day)s, without a table.")
    elif booking.tables:
        message = _("%(guest)s was moved to %(time)s on %(day)s at %(tables)s.")
    else:
        message = _("%(guest)s was moved to %(time)s on %(day)s, without a table.")
    return message % values

"""The booking page for guests, stand-alone or embedded in a frame on the restaurant's website.

The page is anonymous: it sets and reads no cookies, so it works in a frame where browsers block third-party cookies.
Without a session there is nothing for CSRF to abuse, so its forms need no CSRF token. The limits on bookings are in
reservations.booking_page.online_booking.
"""

import logging
from collections.abc import Callable
from datetime import date, timedelta
from datetime import time as clock_time
from functools import wraps
from typing import Any

from django import forms
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_time
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt

from accounts.models import Venue
from accounts.models.venues import PREFIX
from framework.api.fields import EmailField, PhoneField, TextField
from framework.api.rate_limits.client_ip import client_network
from framework.errors import ApiError
from framework.public_ids import decode
from reservations.booking.availability import OutsideServiceHours, SlotUnavailable
from reservations.booking.venue_time import today_of
from reservations.booking_page import online_booking
from reservations.forms.reservation import judged
from reservations.mail import templates
from reservations.models import Reservation
from reservations.self_service import links, permissions

logger = logging.getLogger("tablewire.guests")

HEADERS = {
    "Cache-Control": "no-store, private",
    # Search engines should index the restaurant's website, not one page for each venue and day.
    "X-Robots-Tag": "noindex",
    "Referrer-Policy": "same-origin",
    # Any site may embed the page.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors *"
    ),
}
DEFAULT_PARTY_SIZE, MAX_PARTY_SIZE = 2, 500
# Days shown before the chosen one.
DAYS_BEFORE = 2

BookView = Callable[..., HttpResponse]


class BookingForm(forms.Form):
    """The booking form, validated like the API."""

    form = forms.CharField(required=False, max_length=400, widget=forms.HiddenInput)
    party = forms.IntegerField(min_value=1, max_value=MAX_PARTY_SIZE, widget=forms.HiddenInput)
    day = forms.CharField(max_length=10, widget=forms.HiddenInput)
    time = forms.CharField(max_length=5, widget=forms.HiddenInput)
    customer_name = forms.CharField(
        label="Your name", max_length=200, widget=forms.TextInput({"autocomplete": "name"})
    )
    customer_email = forms.CharField(
        label="Email",
        required=False,
        max_length=254,
        widget=forms.EmailInput({"autocomplete": "email", "inputmode": "email"}),
    )
    customer_phone = forms.CharField(
        label="Phone",
        required=False,
        max_length=40,
        help_text="With the country code, for example +39 333 555 0100.",
        widget=forms.TextInput({"type": "tel", "autocomplete": "tel", "inputmode": "tel"}),
    )
    special_requests = forms.CharField(
        label="Special requests",
        required=False,
        max_length=2000,
        help_text="For example allergies, a high chair or a birthday.",
        widget=forms.Textarea({"rows": 3}),
    )
    # A honeypot: hidden from people, filled in by bots.
    website = forms.CharField(
        label="Leave this empty",
        required=False,
        max_length=200,
        widget=forms.TextInput({"autocomplete": "off", "tabindex": "-1"}),
    )

    def clean_day(self) -> date:
        """Parse the date."""
        found = day_of(self.cleaned_data["day"])
        if found is None:
            raise forms.ValidationError("Choose a date.")
        return found

    def clean_time(self) -> clock_time:
        """Parse the time."""
        found = time_of(self.cleaned_data["time"])
        if found is None:
            raise forms.ValidationError("Choose a time.")
        return found

    def clean_customer_name(self) -> str:
        """Validate the name: one line of text."""
        return judged(TextField(min_length=1, max_length=200), self.cleaned_data["customer_name"])

    def clean_customer_email(self) -> str | None:
        """Validate the email address."""
        address = self.cleaned_data["customer_email"]
        return judged(EmailField(), address) if address else None

    def clean_customer_phone(self) -> str | None:
        """Validate and normalise the phone number."""
        number = self.cleaned_data["customer_phone"]
        return judged(PhoneField(), number) if number else None

    def clean_special_requests(self) -> str:
        """Validate the text and normalise its line endings."""
        text = self.cleaned_data["special_requests"].replace("\r\n", "\n")
        return judged(TextField(max_length=2000, allow_blank=True, lines=True), text)

    def clean_website(self) -> str:
        """Reject bots."""
        if self.cleaned_data["website"]:
            raise forms.ValidationError("Leave this field empty. It protects the form against bots.")
        return ""

    def clean(self) -> dict[str, Any]:
        """Require an email address or a phone number."""
        values = super().clean() or self.cleaned_data
        has_contact = values.get("customer_email") or values.get("customer_phone")
        if not has_contact and not {"customer_email", "customer_phone"} & set(self.errors):
            self.add_error("customer_email", "Enter an email address or a phone number.")
        return values

    def wish(self) -> online_booking.Wish:
        """Return the booking request of a valid form."""
        names = ("customer_name", "customer_email", "customer_phone", "special_requests")
        guest = {name: self.cleaned_data[name] for name in names}
        day, at, party = (self.cleaned_data[name] for name in ("day", "time", "party"))
        return online_booking.Wish(day=day, at=at, party_size=party, **guest)


def at_venue(*methods: str) -> Callable[[BookView], BookView]:
    """Call the view with the venue in the URL if it has online booking; the response may be embedded in frames."""

    def decorate(view: BookView) -> BookView:
        @csrf_exempt
        @xframe_options_exempt
        @wraps(view)
        def answer(request: HttpRequest, *, venue: str, **named: str) -> HttpResponse:
            try:
                response = respond(request, venue, named)
            except (OperationalError, InterfaceError) as error:
                logger.warning("database away: %s", error)
                response = render(request, "reservations/booking_page/unavailable.html", status=503)
                response["Retry-After"] = "2"
            for name, value in HEADERS.items():
                response[name] = value
            return response

        def respond(request: HttpRequest, public_id: str, named: dict[str, str]) -> HttpResponse:
            key = decode(PREFIX, public_id)
            found = Venue.objects.select_related("account").filter(pk=key).first() if key else None
            if found is None or not online_booking.is_open(found):
                return render(request, "reservations/booking_page/closed.html", status=404)
            if request.method not in methods:
                response = render(request, "reservations/booking_page/closed.html", status=405)
                response["Allow"] = ", ".join(methods)
                return response
            try:
                return view(request, found, **named)
            except links.NoSuchLink:
                return render(request, "reservations/booking_page/closed.html", status=404)

        return answer

    return decorate


@at_venue("GET", "HEAD", "POST")
def book(request: HttpRequest, venue: Venue) -> HttpResponse:
    """Choose a date and a time, enter the guest's data, and book."""
    now = timezone.now()
    if request.method != "POST":
        return shown(request, venue, asked=request.GET, form=None)
    sent = request.POST.copy()
    if instead := request.POST.get("instead"):
        # One of the alternatives that were offered when the first time was not available.
        sent["time"] = instead
    form = BookingForm(sent, label_suffix="")
    if not form.is_valid():
        return shown(request, venue, asked=sent, form=form, status=400)
    try:
        made = online_booking.book(
            venue, form.wish(), form=form.cleaned_data["form"], address=client_network(request), now=now
        )
    except (SlotUnavailable, OutsideServiceHours) as refusal:
        return shown(request, venue, asked=sent, form=form, refusal=refusal, status=409)
    except ApiError as refusal:
        if refusal.param in ("customer_email", "customer_phone", "customer_name"):
            form.add_error(refusal.param, refusal.message)
            return shown(request, venue, asked=sent, form=form, status=400)
        return shown(request, venue, asked=sent, form=form, refusal=refusal, status=409)
    return redirect("book-done", venue=venue.public_id, receipt=online_booking.receipt_of(made))


@at_venue("GET", "HEAD")
def done(request: HttpRequest, venue: Venue, *, receipt: str) -> HttpResponse:
    """Show the booking and what happens next."""
    found = online_booking.booked(receipt, venue=venue)
    context = {
        "venue": venue,
        "reservation": found,
        "state": permissions.standing(found, now=timezone.now()),
        "day": templates.day_in_words(found.date),
        "until": templates.hour_of(found.prove_by, venue.timezone) if found.prove_by else "",
        "manage": online_booking.manage_link(found),
        "is_mailed": is_mailed(found),
    }
    return render(request, "reservations/booking_page/done.html", context)


def shown(
    request: HttpRequest,
    venue: Venue,
    *,
    asked: QueryDict,
    form: BookingForm | None,
    refusal: ApiError | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the page for the query; invalid values are replaced by defaults, with a note."""
    now = timezone.now()
    today = today_of(venue, now=now)
    last = today + timedelta(days=venue.max_days_ahead)
    notes = []
    party = party_of(asked.get("party", ""))
    if party is None:
        party = DEFAULT_PARTY_SIZE
        if asked.get("party"):
            notes.append(
                f"The number of guests must be 1 to {MAX_PARTY_SIZE}. These are the times for {party} guests."
            )
    day = day_of(asked.get("day", ""))
    if asked.get("day") and (day is None or not today <= day <= last):
        notes.append(f"Choose a date from {templates.day_in_words(today)} to {templates.day_in_words(last)}.")
        day = None
    first = today if day is None else max(today, min(day - timedelta(days=DAYS_BEFORE), last))
    week = online_booking.days(venue, first, party_size=party, now=now)
    chosen = next((option for option in week if option.day == day), None) or next(
        (option for option in week if option.state in ("free", "asked")), week[0]
    )
    at = time_of(asked.get("time", ""))
    if at and form is None and day is not None:
        form = BookingForm(label_suffix="")
    choice = next((option for option in chosen.choices if option.time == at), None)
    context = {
        "venue": venue,
        "party": party,
        "week": week,
        "chosen": chosen,
        "day_in_words": templates.day_in_words(chosen.day),
        "today": today,
        "last": last,
        "earlier": max(today, first - timedelta(days=online_booking.DAYS_SHOWN - DAYS_BEFORE))
        if first > today
        else None,
        "later": week[-1].day + timedelta(days=1 + DAYS_BEFORE)
        if week[-1].day + timedelta(days=1 + DAYS_BEFORE) <= last
        else None,
        "at": at,
        "answer": choice.answer if choice else "",
        "form": form if at and chosen.day == day else None,
        # A rejected form gets a new key if its key was the problem.
        "form_key": fresh_key(venue, form, refusal),
        "error": refusal,
        "alternatives": (refusal.extra or {}).get("alternatives", []) if refusal else [],
        "notes": notes,
    }
    return render(request, "reservations/booking_page/form.html", context, status=status)


def fresh_key(venue: Venue, form: BookingForm | None, refusal: ApiError | None) -> str:
    """Return the key for the form: the submitted one, unless it was rejected."""
    submitted = str(form.data.get("form", "")) if form is not None and form.is_bound else ""
    if submitted and len(submitted) <= 400 and not isinstance(refusal, online_booking.StaleBookingForm):
        return submitted
    return online_booking.new_form(venue, now=timezone.now())


def is_mailed(reservation: Reservation) -> bool:
    """Whether the guest gets emails."""
    return bool(reservation.customer_email and reservation.venue.mails_guests)


# Query parameters
def party_of(text: str) -> int | None:
    """Parse the party size; None if it is invalid."""
    is_a_number = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_PARTY_SIZE))
    return int(text) if is_a_number and 1 <= int(text) <= MAX_PARTY_SIZE else None


def day_of(text: str) -> date | None:
    """Parse a date such as 2026-11-28; None if it is invalid."""
    try:
        return parse_date(text) if len(text) == len("2026-11-28") and text.isascii() else None
    except ValueError:
        return None


def time_of(text: str) -> clock_time | None:
    """Parse a time such as 19:30; None if it is invalid."""
    try:
        return parse_time(text) if len(text) == len("19:30") and text.isascii() else None
    except ValueError:
        return None

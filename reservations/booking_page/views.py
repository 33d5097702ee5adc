"""The booking page for guests, stand-alone or embedded in a frame on the restaurant's website.

The page is anonymous: it sets and reads no cookies, so it works in a frame where browsers block third-party cookies.
Without a session there is nothing for CSRF to abuse, so its forms need no CSRF token. The limits on bookings are in
reservations.booking_page.online_booking.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt

from accounts.models import Venue
from accounts.models.venues import PREFIX
from framework.api.rate_limits.client_ip import client_network
from framework.errors import ApiError
from framework.languages import activate_for, format_day, format_moment
from framework.public_ids import decode
from reservations.booking_page import branding, online_booking
from reservations.booking_page.choices import ChoiceForm, load_choices
from reservations.forms.reservation import PHONE_HELP, GuestFieldsMixin
from reservations.self_service import links, permissions
from reservations.self_service.views import map_url, respond

HEADERS = {
    "Cache-Control": "no-store, private",
    # Search engines should index the restaurant's website, not one page for each venue and day.
    "X-Robots-Tag": "noindex",
    "Referrer-Policy": "same-origin",
    "Vary": "Accept-Language",
    # Any site may embed the page.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors *"
    ),
}

BookView = Callable[..., HttpResponse]


class BookingForm(ChoiceForm, GuestFieldsMixin):
    """The booking form, validated like the API."""

    form = forms.CharField(required=False, max_length=400, widget=forms.HiddenInput)
    customer_name = forms.CharField(
        label=gettext_lazy("Your name"), max_length=200, widget=forms.TextInput({"autocomplete": "name"})
    )
    customer_email = forms.CharField(
        label=gettext_lazy("Email"),
        required=False,
        max_length=254,
        widget=forms.EmailInput({"autocomplete": "email", "inputmode": "email"}),
    )
    customer_phone = forms.CharField(
        label=gettext_lazy("Phone"),
        required=False,
        max_length=40,
        help_text=PHONE_HELP,
        widget=forms.TextInput({"type": "tel", "autocomplete": "tel", "inputmode": "tel"}),
    )
    special_requests = forms.CharField(
        label=gettext_lazy("Special requests"),
        required=False,
        max_length=2000,
        help_text=gettext_lazy("For example allergies, a high chair or a birthday."),
        widget=forms.Textarea({"rows": 3}),
    )
    # A honeypot: hidden from people, filled in by bots.
    website = forms.CharField(
        label=gettext_lazy("Leave this empty"),
        required=False,
        max_length=200,
        widget=forms.TextInput({"autocomplete": "off", "tabindex": "-1"}),
    )

    def clean_website(self) -> str:
        if self.cleaned_data["website"]:
            raise forms.ValidationError(_("Leave this field empty. It protects the form against bots."))
        return ""

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        has_contact = values.get("customer_email") or values.get("customer_phone")
        if not has_contact and not {"customer_email", "customer_phone"} & set(self.errors):
            self.add_error("customer_email", _("Enter an email address or a phone number."))
        return values

    def booking_request(self) -> online_booking.BookingRequest:
        names = ("customer_name", "customer_email", "customer_phone", "special_requests")
        guest = {name: self.cleaned_data[name] for name in names}
        day, at, party, area = (self.cleaned_data[name] for name in ("day", "time", "party", "area"))
        return online_booking.BookingRequest(day=day, at=at, party_size=party, area=area, **guest)


def booking_page(*methods: str) -> Callable[[BookView], BookView]:
    """Call the view with the venue in the URL if it has online booking; the response may be embedded in frames."""

    def decorate(view: BookView) -> BookView:
        @csrf_exempt
        @xframe_options_exempt
        @wraps(view)
        def wrapper(request: HttpRequest, *, venue: str, **params: str) -> HttpResponse:
            headers = dict(HEADERS)

            def call() -> HttpResponse:
                key = decode(PREFIX, venue)
                row = Venue.objects.select_related("account", "branding").filter(pk=key).first() if key else None
                if row is None or not online_booking.is_open(row):
                    raise links.InvalidLink
                policy = headers["Content-Security-Policy"]
                headers["Content-Security-Policy"] = branding.allow_branding(policy, branding.find_branding(row))
                with activate_for(request, venue=row.language):
                    if request.method in methods:
                        return view(request, row, **params)
                    response = render(request, "reservations/booking_page/not_found.html", status=405)
                response["Allow"] = ", ".join(methods)
                return response

            return respond(request, call, folder="booking_page", headers=headers)

        return wrapper

    return decorate


@booking_page("GET", "HEAD", "POST")
def book(request: HttpRequest, venue: Venue) -> HttpResponse:
    """Choose a date and a time, enter the guest's data, and book."""
    if request.method != "POST":
        return render_choices(request, venue, query=request.GET, form=None)
    data = request.POST.copy()
    if alternative := request.POST.get("instead"):
        # One of the alternatives that were offered when the first time was not available.
        data["time"] = alternative
    form = BookingForm(data, venue=venue, label_suffix="")
    if not form.is_valid():
        return render_choices(request, venue, query=data, form=form, status=400)
    try:
        reservation = online_booking.book(
            venue,
            form.booking_request(),
            form=form.cleaned_data["form"],
            address=client_network(request),
            now=venue.now(),
        )
    except ApiError as refusal:
        if refusal.param in ("customer_email", "customer_phone", "customer_name"):
            form.add_error(refusal.param, refusal.message)
            return render_choices(request, venue, query=data, form=form, status=400)
        return render_choices(request, venue, query=data, form=form, refusal=refusal, status=409)
    return redirect("book-done", venue=venue.public_id, receipt=online_booking.receipt_of(reservation))


@booking_page("GET", "HEAD")
def done(request: HttpRequest, venue: Venue, *, receipt: str) -> HttpResponse:
    """Show the booking and what happens next."""
    reservation = online_booking.find_by_receipt(receipt, venue=venue)
    deadline = reservation.confirm_by
    context = {
        "venue": venue,
        "reservation": reservation,
        "state": permissions.guest_status(reservation, now=venue.now()),
        "day": format_day(reservation.date),
        "until": format_moment(deadline, venue.timezone) if deadline else "",
        "manage": online_booking.manage_link(reservation),
        "token": links.token_of(reservation),
        "map_url": map_url(venue),
        "is_unsent": venue.is_sandbox and not settings.MAILBOX_DIR,
        "is_mailed": bool(reservation.customer_email and venue.mails_guests),
    }
    return render(request, "reservations/booking_page/done.html", context)


def render_choices(
    request: HttpRequest,
    venue: Venue,
    *,
    query: QueryDict,
    form: BookingForm | None,
    refusal: ApiError | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the page for the query; invalid values are replaced by defaults, with a note."""
    choices = load_choices(venue, query, now=venue.now())
    if choices.at and form is None and choices.day is not None:
        if choices.can_take:
            form = BookingForm(venue=venue, label_suffix="")
        else:
            choices.refuse_time()
    choice = choices.choice
    context = {
        "venue": venue,
        "choices": choices,
        "action": reverse("book", kwargs={"venue": venue.public_id}),
        "outcome": choice.state if choice else "",
        "terms": choice.terms if choice else None,
        "form": form if choices.at and choices.chosen.day == choices.day else None,
        "form_token": form_token(venue, form, refusal),
        "error": refusal,
        "alternatives": (refusal.extra or {}).get("alternatives", []) if refusal else [],
    }
    return render(request, "reservations/booking_page/form.html", context, status=status)


def form_token(venue: Venue, form: BookingForm | None, refusal: ApiError | None) -> str:
    """Return the submitted token of the form, or a new one if there is none or it was rejected."""
    submitted = str(form.data.get("form", "")) if form is not None and form.is_bound else ""
    if submitted and len(submitted) <= 400 and not isinstance(refusal, online_booking.StaleBookingForm):
        return submitted
    return online_booking.new_form_token(venue, now=venue.now())

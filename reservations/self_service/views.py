"""A guest's pages of the own reservation, opened by a signed link. GET changes nothing: mail clients follow links."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial, wraps
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import Venue
from framework.errors import ApiError
from framework.languages import activate_for, find_language, format_day, format_moment
from framework.signed_tokens import BadSignature, TokenSigner
from reservations.booking import email_confirmation, terms, waitlist
from reservations.booking.differences import list_differences, to_former
from reservations.booking.slot_states import SlotState
from reservations.booking_page import branding
from reservations.booking_page.choices import ChoiceForm, load_choices
from reservations.forms.reservation import validate_requests
from reservations.mail import templates
from reservations.models import Reservation
from reservations.self_service import calendar_file, links, permissions, registry

logger = logging.getLogger("tablewire.guests")

HEADERS = {
    # The link is a credential, and the page contains personal data.
    "Cache-Control": "no-store, private",
    "X-Robots-Tag": "noindex, nofollow",
    # Not `no-referrer`: browsers then send `Origin: null` with the forms, which Django's CSRF check refuses.
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
}

# The page of a change also runs the script of the booking page, and works without it.
CHANGE_HEADERS = HEADERS | {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace("style-src", "script-src 'self'; style-src")
}
FORMER_SIGNER = TokenSigner("reservations.self_service.views.former")
MAP = "https://www.openstreetmap.org"

GuestView = Callable[[HttpRequest, Reservation], HttpResponse]


def respond(
    request: HttpRequest, view: Callable[[], HttpResponse], *, folder: str, headers: Mapping[str, str]
) -> HttpResponse:
    """Call the view of a guest page and add the headers; an invalid link and a database error get a page, too.

    These are in the language of the browser: whose link it is, is unknown.
    """
    with activate_for(request):
        try:
            response = view()
        except links.InvalidLink:
            response = render(request, f"reservations/{folder}/not_found.html", status=404)
        except (OperationalError, InterfaceError) as error:
            logger.warning("database unavailable: %s", error)
            response = render(request, f"reservations/{folder}/unavailable.html", status=503)
            response["Retry-After"] = "2"
    for name, value in headers.items():
        response[name] = value
    return response


def guest_page(
    *methods: str, headers: Mapping[str, str] = HEADERS
) -> Callable[[GuestView], Callable[..., HttpResponse]]:
    """Call the view with the reservation of the token in the URL, and add the private headers."""

    def decorate(view: GuestView) -> Callable[..., HttpResponse]:
        @wraps(view)
        def wrapper(request: HttpRequest, *, token: str) -> HttpResponse:
            own_headers = dict(headers)

            def call() -> HttpResponse:
                reservation = links.find(token)
                policy, look = headers["Content-Security-Policy"], branding.find_branding(reservation.venue)
                own_headers["Content-Security-Policy"] = branding.allow_branding(policy, look)
                if request.method not in methods and request.method in ("GET", "HEAD"):
                    return redirect("guest", token=token)
                with activate_for(request, guest=reservation.language, venue=reservation.venue.language):
                    if request.method in methods:
                        return view(request, reservation)
                    response = render_csrf_failed(request, token, status=405)
                response["Allow"] = ", ".join(methods)
                return response

            return respond(request, call, folder="self_service", headers=own_headers)

        return wrapper

    return decorate


def csrf_failed(request: HttpRequest, token: str) -> HttpResponse:
    """Reject a form of a guest page without its CSRF token."""
    call = partial(render_csrf_failed, request, token, status=403)
    return respond(request, call, folder="self_service", headers=HEADERS)


def render_csrf_failed(request: HttpRequest, token: str, *, status: int) -> HttpResponse:
    return render(request, "reservations/self_service/csrf_failed.html", {"token": token}, status=status)


def run_command(request: HttpRequest, reservation: Reservation, command: Callable[..., Any]) -> HttpResponse:
    """Run the command and redirect to the page, or show the page with its error."""
    token = links.token_of(reservation)
    try:
        command(reservation, now=reservation.venue.now())
    except ApiError as refusal:
        return show(request, links.find(token), refusal=refusal)
    return redirect("guest", token=token)


def show(
    request: HttpRequest, reservation: Reservation, *, template: str = "reservation", refusal: ApiError | None = None
) -> HttpResponse:
    """Render a page of the reservation: 410 if it is past, 409 with an error."""
    now = reservation.venue.now()
    state = permissions.guest_status(reservation, now=now)
    is_past = state == permissions.GuestStatus.PAST
    is_quoted = (
        state == permissions.GuestStatus.WAITING and reservation.quoted_until and reservation.quoted_until > now
    )
    until = reservation.confirm_by or waitlist.offer_expires_at(reservation)
    context = {
        "reservation": reservation,
        "token": links.token_of(reservation),
        "state": state,
        "may_cancel": state in permissions.CANCELLABLE,
        "may_change": state in permissions.CHANGEABLE_ONLINE,
        "day": format_day(reservation.date),
        "wait": templates.format_wait(reservation) if is_quoted else "",
        "until": format_moment(until, reservation.venue.timezone) if until else "",
        "may_book_again": state == permissions.GuestStatus.CANCELLED and reservation.venue.is_bookable_online,
        "map_url": None if is_past else map_url(reservation.venue),
        "terms": terms.describe_agreed(reservation, terms.find_agreed(reservation), now=reservation.venue.now()),
        "error": refusal,
    } | load_changed(request.GET.get("changed", ""), reservation)
    if is_past:
        template = "past_reservation"
    elif not context["may_cancel"]:
        # The cancel page would offer what is not possible; this page says why.
        template = "reservation"
    status = 409 if refusal else 410 if is_past else 200
    return render(request, f"reservations/self_service/{template}.html", context, status=status)


def map_url(venue: Venue) -> str | None:
    """Return a map of the place: by its coordinates if they are known, else by its address. One query."""
    if place := registry.find_coordinates(venue):
        latitude, longitude = place
        return f"{MAP}/?mlat={latitude:.6f}&mlon={longitude:.6f}#map=18/{latitude:.6f}/{longitude:.6f}"
    return f"{MAP}/search?{urlencode({'query': venue.address})}" if venue.address else None


def load_changed(token: str, reservation: Reservation) -> dict[str, Any]:
    """Return what the change of this token has changed, for the template; nothing for an invalid token."""
    try:
        key, former = FORMER_SIGNER.load(token, max_age=timedelta(hours=1))
    except BadSignature:
        return {}
    if key != reservation.public_id:
        return {}
    if former is None:
        return {"are_requests_saved": True}
    return {"differences": list_differences(former, reservation)}


@guest_page("GET", "HEAD", "POST", headers=CHANGE_HEADERS)
def change(request: HttpRequest, reservation: Reservation) -> HttpResponse:
    """Choose another date, time, party size or area, or write requests (GET), then change the reservation (POST)."""
    if permissions.guest_status(reservation, now=reservation.venue.now()) not in permissions.CHANGEABLE_ONLINE:
        if request.method != "POST":
            return show(request, reservation)
        return show(request, reservation, refusal=permissions.TooLateToChange(str(permissions.TOO_LATE_TO_CHANGE)))
    if request.method != "POST":
        return render_change(request, reservation, query=request.GET)
    former: dict[str, Any] | None = None
    changes: dict[str, Any]
    if "special_requests" in request.POST:
        wishes = RequestsForm(request.POST)
        if not wishes.is_valid():
            return render_change(request, reservation, query=request.GET, wishes=wishes, status=400)
        changes = {"guest": wishes.cleaned_data}
    else:
        form = ChoiceForm(request.POST, venue=reservation.venue)
        if not form.is_valid():
            return render_change(request, reservation, query=request.POST, status=400)
        values = form.cleaned_data
        changes = {"day": values["day"], "at": values["time"], "party_size": values["party"]}
        changes["guest"] = {"area": values["area"]}
        area = reservation.area.name if reservation.area else ""
        former = to_former(vars(reservation)) | {"area": area}
    try:
        permissions.change(reservation, changes, now=reservation.venue.now())
    except ApiError as refusal:
        fresh = links.find(links.token_of(reservation))
        return render_change(request, fresh, query=request.POST, refusal=refusal, status=409)
    token = FORMER_SIGNER.dump([reservation.public_id, former])
    page = reverse("guest", kwargs={"token": links.token_of(reservation)})
    return redirect(f"{page}?{urlencode({'changed': token})}")


class RequestsForm(forms.Form):
    """The guest's special requests."""

    special_requests = forms.CharField(required=False, max_length=2000)

    def clean_special_requests(self) -> str:
        return validate_requests(self.cleaned_data["special_requests"])


def render_change(
    request: HttpRequest,
    reservation: Reservation,
    *,
    query: QueryDict,
    wishes: RequestsForm | None = None,
    refusal: ApiError | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the times that the party can have instead of its own; its own table counts as free."""
    now = reservation.venue.now()
    state = permissions.guest_status(reservation, now=now)
    if state not in permissions.CHANGEABLE_ONLINE:
        return show(request, reservation, refusal=refusal)
    venue, token = reservation.venue, links.token_of(reservation)
    context: dict[str, Any] = {
        "reservation": reservation,
        "venue": venue,
        "token": token,
        "state": state,
        "day": format_day(reservation.date),
        "action": reverse("guest-change", kwargs={"token": token}),
        "fixed": permissions.reason_not_to_move(reservation),
        "special_requests": wishes["special_requests"].value() if wishes else reservation.special_requests,
        "requests_error": " ".join(str(error) for error in wishes.errors.get("special_requests", []))
        if wishes
        else "",
        "error": refusal,
    }
    if not context["fixed"]:
        context |= load_change_choices(reservation, query, refusal=refusal, now=now)
    return render(request, "reservations/self_service/change.html", context, status=status)


def load_change_choices(
    reservation: Reservation, query: QueryDict, *, refusal: ApiError | None, now: datetime
) -> dict[str, Any]:
    """Return the choices of a party that has a reservation, for the template. Its own values are the defaults."""
    venue = reservation.venue
    query = query.copy()
    query.setdefault("day", reservation.date.isoformat())
    query.setdefault("area", reservation.area.name if reservation.area else "")
    choices = load_choices(
        venue,
        query,
        party=reservation.party_size,
        excluding=reservation.pk,
        paid_usdc=terms.find_held_deposit(reservation),
        now=now,
    )
    if choices.chosen.day == reservation.date:
        choices.booked_at = reservation.time
    only_free = reservation.status == Reservation.Status.CONFIRMED
    is_for_staff = only_free and choices.party > venue.auto_confirm_max_party
    for_staff = _("The staff arrange parties of %(count)s. Please call the restaurant.")
    choice = choices.choice
    can_take = choices.can_take and not (only_free and choice and choice.state != SlotState.FREE)
    if choices.at and not can_take and not refusal and not is_for_staff:
        choices.refuse_time()
    own = (reservation.date, reservation.time, reservation.party_size, reservation.area)
    return {
        "choices": choices,
        "only_free": only_free,
        "can_take": can_take,
        "is_same": (choices.chosen.day, choices.at, choices.party, choices.area) == own,
        "outcome": choice.state if choice else "",
        "for_staff": for_staff % {"count": choices.party} if is_for_staff else "",
        "alternatives": (refusal.extra or {}).get("alternatives", []) if refusal else [],
    }


@guest_page("GET", "HEAD")
def calendar(request: HttpRequest, reservation: Reservation) -> HttpResponse:
    """Download the calendar file; after the end of the reservation, the page that says so."""
    if permissions.guest_status(reservation, now=reservation.venue.now()) == permissions.GuestStatus.PAST:
        return show(request, reservation)
    response = HttpResponse(calendar_file.build(reservation), content_type="text/calendar; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{calendar_file.FILE_NAME}"'
    return response


@guest_page("GET", "HEAD", "POST")
def cancel(request: HttpRequest, reservation: Reservation) -> HttpResponse:
    """Ask for confirmation (GET), then cancel (POST)."""
    if request.method == "POST":
        return run_command(request, reservation, permissions.cancel)
    return show(request, reservation, template="cancel")


@guest_page("POST")
def set_language(request: HttpRequest, reservation: Reservation) -> HttpResponse:
    """Show the page, and send the mail, in the language that the guest has chosen."""
    language = find_language(request.POST.get("lang", ""))
    if language:
        Reservation.objects.filter(pk=reservation.pk).update(language=language)
    return redirect("guest", token=links.token_of(reservation))


reservation = guest_page("GET", "HEAD")(show)
confirm = guest_page("POST")(partial(run_command, command=email_confirmation.confirm_email))
accept = guest_page("POST")(partial(run_command, command=partial(waitlist.accept_offer, actor="guest")))
decline = guest_page("POST")(partial(run_command, command=partial(waitlist.decline_offer, actor="guest")))

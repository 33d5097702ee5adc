"""A guest's pages of the own reservation, opened by a signed link. GET changes nothing: mail clients follow links."""

import logging
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from framework.errors import ApiError
from reservations.booking import email_confirmation, waitlist
from reservations.mail import templates
from reservations.models import Reservation
from reservations.self_service import links, permissions

logger = logging.getLogger("tablewire.guests")

HEADERS = {
    # The link is a credential, and the page contains personal data.
    "Cache-Control": "no-store, private",
    "X-Robots-Tag": "noindex, nofollow",
    # Not `no-referrer`: browsers then send `Origin: null` with the forms, which Django's CSRF check refuses.
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
}

GuestView = Callable[[HttpRequest, Reservation], HttpResponse]


def respond(
    request: HttpRequest, view: Callable[[], HttpResponse], *, folder: str, headers: Mapping[str, str]
) -> HttpResponse:
    """Call the view of a guest page and add the headers; an invalid link and a database error get a page, too."""
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


def guest_page(*methods: str) -> Callable[[GuestView], Callable[..., HttpResponse]]:
    """Call the view with the reservation of the token in the URL, and add the private headers."""

    def decorate(view: GuestView) -> Callable[..., HttpResponse]:
        @wraps(view)
        def wrapper(request: HttpRequest, *, token: str) -> HttpResponse:
            def call() -> HttpResponse:
                reservation = links.find(token)
                if request.method in methods:
                    return view(request, reservation)
                if request.method in ("GET", "HEAD"):
                    return redirect("guest", token=token)
                response = render_csrf_failed(request, token, status=405)
                response["Allow"] = ", ".join(methods)
                return response

            return respond(request, call, folder="self_service", headers=HEADERS)

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
        command(reservation, now=timezone.now())
    except ApiError as refusal:
        return show(request, links.find(token), refusal=refusal)
    return redirect("guest", token=token)


def show(
    request: HttpRequest, reservation: Reservation, *, template: str = "reservation", refusal: ApiError | None = None
) -> HttpResponse:
    """Render a page of the reservation: 410 if it is past, 409 with an error."""
    state = permissions.guest_status(reservation, now=timezone.now())
    is_past = state == permissions.GuestStatus.PAST
    until = reservation.confirm_by or waitlist.offer_expires_at(reservation)
    context = {
        "reservation": reservation,
        "token": links.token_of(reservation),
        "state": state,
        "may_cancel": state in permissions.CANCELLABLE,
        "day": templates.format_day(reservation.date),
        "until": templates.format_moment(until, reservation.venue.timezone) if until else "",
        "may_book_again": state == permissions.GuestStatus.CANCELLED and reservation.venue.is_bookable_online,
        "error": refusal,
    }
    if is_past:
        template = "past_reservation"
    elif not context["may_cancel"]:
        # The cancel page would offer what is not possible; this page says why.
        template = "reservation"
    status = 409 if refusal else 410 if is_past else 200
    return render(request, f"reservations/self_service/{template}.html", context, status=status)


@guest_page("GET", "HEAD", "POST")
def cancel(request: HttpRequest, reservation: Reservation) -> HttpResponse:
    """Ask for confirmation (GET), then cancel (POST)."""
    if request.method == "POST":
        return run_command(request, reservation, permissions.cancel)
    return show(request, reservation, template="cancel")


reservation = guest_page("GET", "HEAD")(show)
confirm = guest_page("POST")(partial(run_command, command=email_confirmation.confirm_email))
accept = guest_page("POST")(partial(run_command, command=partial(waitlist.accept_offer, actor="guest")))
decline = guest_page("POST")(partial(run_command, command=partial(waitlist.decline_offer, actor="guest")))

"""The pages of a guest, reached by the link in the mail. Looking changes nothing: mail programs follow links."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.csrf import csrf_failure

from framework.errors import ApiError
from reservations.booking import email_confirmation, waitlist
from reservations.mail import templates
from reservations.models import Reservation
from reservations.self_service import links, permissions

logger = logging.getLogger("tablewire.guests")

HEADERS = {
    # The link is a key, and the page is about a person.
    "Cache-Control": "no-store, private",
    "X-Robots-Tag": "noindex, nofollow",
    # Not `no-referrer`: browsers then send `Origin: null` with the forms, which Django's CSRF check refuses.
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
}

GuestView = Callable[[HttpRequest, Reservation], HttpResponse]


def by_link(*methods: str) -> Callable[[GuestView], Callable[..., HttpResponse]]:
    """Hand the view the reservation of the link, if it has the method, and make its answer private."""

    def decorate(view: GuestView) -> Callable[..., HttpResponse]:
        @wraps(view)
        def answer(request: HttpRequest, *, token: str) -> HttpResponse:
            try:
                found = links.find(token)
                response = view(request, found) if request.method in methods else elsewhere(request, token, methods)
            except links.NoSuchLink:
                response = render(request, "reservations/self_service/link_not_found.html", status=404)
            except (OperationalError, InterfaceError) as error:
                logger.warning("database away: %s", error)
                response = render(request, "reservations/self_service/unavailable.html", status=503)
                response["Retry-After"] = "2"
            return private(response)

        return answer

    return decorate


def private(response: HttpResponse) -> HttpResponse:
    """The answer with the headers of a guest's page."""
    for name, value in HEADERS.items():
        response[name] = value
    return response


def elsewhere(request: HttpRequest, token: str, methods: tuple[str, ...]) -> HttpResponse:
    """Answer a method that this address does not have: who only looks is shown the reservation."""
    if request.method in ("GET", "HEAD"):
        return redirect("guest", token=token)
    response = render(request, "reservations/self_service/csrf_failed.html", {"token": token}, status=405)
    response["Allow"] = ", ".join(methods)
    return response


def form_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that came without its CSRF token (CSRF_FAILURE_VIEW): a guest by a page, others as Django does."""
    found = request.resolver_match
    if found is None or not str(found.url_name).startswith("guest"):
        return csrf_failure(request, reason=reason)
    token = found.kwargs["token"]
    return private(render(request, "reservations/self_service/csrf_failed.html", {"token": token}, status=403))


@by_link("GET", "HEAD")
def reservation(request: HttpRequest, found: Reservation) -> HttpResponse:
    """What is booked, how it stands, and what can be done about it."""
    return show(request, found)


@by_link("GET", "HEAD", "POST")
def cancel(request: HttpRequest, found: Reservation) -> HttpResponse:
    """Ask whether it is meant, then cancel."""
    if request.method == "POST":
        return act(request, found, permissions.cancel)
    return show(request, found, template="cancel")


@by_link("POST")
def confirm(request: HttpRequest, found: Reservation) -> HttpResponse:
    """Say that it was this guest who booked."""
    return act(request, found, email_confirmation.prove)


@by_link("POST")
def accept(request: HttpRequest, found: Reservation) -> HttpResponse:
    """Take the table that is held."""
    return act(request, found, waitlist.accept, actor="guest")


@by_link("POST")
def decline(request: HttpRequest, found: Reservation) -> HttpResponse:
    """Leave the table that is held to others."""
    return act(request, found, waitlist.decline, actor="guest")


def act(request: HttpRequest, found: Reservation, verb: Callable[..., Any], **how: Any) -> HttpResponse:
    """Do it and go back to the page; where it cannot be done the page says why."""
    try:
        verb(found, now=timezone.now(), **how)
    except ApiError as refusal:
        return show(request, links.find(links.token_of(found)), refusal=refusal)
    return redirect("guest", token=links.token_of(found))


def show(
    request: HttpRequest, found: Reservation, *, template: str = "reservation", refusal: ApiError | None = None
) -> HttpResponse:
    """One of the pages, in the words of the mail. 410 when the reservation is over, 409 when a wish was refused."""
    standing = permissions.standing(found, now=timezone.now())
    is_over = standing == permissions.Standing.OVER
    until = found.prove_by or waitlist.held_until(found)
    context = {
        "reservation": found,
        "token": links.token_of(found),
        "state": standing,
        "may_cancel": standing in permissions.CANCELLABLE,
        "day": templates.day_in_words(found.date),
        "until": templates.hour_of(until, found.venue.timezone) if until else "",
        "error": refusal,
    }
    status = 409 if refusal else 410 if is_over else 200
    if is_over:
        template = "past_reservation"
    elif not context["may_cancel"]:
        template = "reservation"  # this page says why there is nothing to cancel
    return render(request, f"reservations/self_service/{template}.html", context, status=status)

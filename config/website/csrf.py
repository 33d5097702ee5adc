"""The page that offers a form again: whose CSRF token is missing or old, or whose user has been signed out since."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.urls import reverse

from reservations.self_service import views as self_service

# Fields that the page does not repeat, by their whole name or a part of it.
SECRET_NAMES = {"code", "otp", "otp_token"}
SECRET_PARTS = ("passw", "secret")


class SignedOutFormMiddleware:
    """Offers a form again that was refused because its user is signed out, instead of opening the sign-in page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        path, has_next, _ = response.headers.get("Location", "").partition("?next=")
        if request.method != "POST" or not has_next or request.user.is_authenticated:
            return response
        is_refused = path in (resolve_url(settings.LOGIN_URL), reverse("admin:login"))
        return csrf_failed(request) if is_refused and is_our_form(request) else response


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Refuse the form (CSRF_FAILURE_VIEW), and offer to submit it again with what was typed.

    Only a form of our own pages is offered again: another site could otherwise write a form that only needs a click.
    """
    match = request.resolver_match
    if match is not None and str(match.url_name).startswith("guest") and "token" in match.kwargs:
        return self_service.csrf_failed(request, match.kwargs["token"])
    is_ours = is_our_form(request)
    referer = request.headers.get("Referer", "")
    context = {
        "fields": list_fields(request) if is_ours else [],
        "has_files": is_ours and bool(request.FILES),
        # Without them the form would be refused, or save less than was typed.
        "has_secrets": any(is_secret(name) and value for name, value in request.POST.items()),
        "is_signed_in": request.user.is_authenticated,
        "path": request.get_full_path(),
        # The path of the form may have no page of its own.
        "page": referer if referer.startswith(f"{own_origin(request)}/") else "/",
    }
    return render(request, "403_csrf.html", context, status=403)


def own_origin(request: HttpRequest) -> str:
    return f"{request.scheme}://{request.get_host()}"


def is_our_form(request: HttpRequest) -> bool:
    return request.headers.get("Origin") == own_origin(request)


def is_secret(name: str) -> bool:
    return name.lower() in SECRET_NAMES or any(part in name.lower() for part in SECRET_PARTS)


def list_fields(request: HttpRequest) -> list[tuple[str, str]]:
    """The names and values of the submitted form, without secrets."""
    return [
        (name, value)
        for name, values in request.POST.lists()
        if name != "csrfmiddlewaretoken" and not is_secret(name)
        for value in values
    ]

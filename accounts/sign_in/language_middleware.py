"""The language of the dashboard and of the sign-in pages; all other paths choose their own, or are in English."""

from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from framework.api.error_handler import is_below
from framework.languages import language_of_dashboard

PATHS = ("/dashboard", "/account")


class LanguageMiddleware:
    """Activates the language that the user has chosen, else that of the browser."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not any(is_below(request, path) for path in PATHS):
            return self.get_response(request)
        language = language_of(request)
        with translation.override(language):
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        patch_vary_headers(response, ["Accept-Language"])
        return response


def language_of(request: HttpRequest) -> str:
    """Return the language of the pages of a user."""
    try:
        chosen = request.user.language if request.user.is_authenticated else ""
    except (OperationalError, InterfaceError):
        # The view meets the error again, and its page says so.
        chosen = ""
    return language_of_dashboard(request, chosen=chosen)

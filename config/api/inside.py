"""The way of an API call from its doorway to its view: past the middleware that pages alone need."""

from collections.abc import Callable
from functools import lru_cache
from typing import cast

from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.request import split_domain_port, validate_host

from config.api import headers

Broke = Callable[[HttpRequest, Exception], None]


class Inside(BaseHandler):
    """Django's own way to a view, without sessions, messages, CSRF and whatever else serves people with browsers.

    `broke` hears of what no view has foreseen, before Django makes it a 500.
    """

    def __init__(self, *, broke: Broke) -> None:
        self._view_middleware: list[object] = []
        self._template_response_middleware: list[object] = []
        self._exception_middleware = [broke]
        self.answer = convert_exception_to_response(self.from_view)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer of the view, or what Django's handlers make of an error; for a Host that is not ours 400."""
        response = cast("HttpResponseBase", self.answer(request))
        headers.put(response, PROTECTION)
        if isinstance(response, HttpResponse) and "Content-Length" not in response.headers:
            response.headers["Content-Length"] = str(len(response.content))
        return response

    def from_view(self, request: HttpRequest) -> HttpResponseBase:
        """The answer of the view. Raises DisallowedHost."""
        if not _is_ours(request.META.get("HTTP_HOST", ""), tuple(settings.ALLOWED_HOSTS)):
            # Says what is wrong with it.
            request.get_host()
        response: HttpResponseBase = self._get_response(request)  # type: ignore[attr-defined]  # not in the stubs
        return response


@lru_cache(maxsize=256)
def _is_ours(host: str, allowed: tuple[str, ...]) -> bool:
    """Whether Django would take this Host, which few callers vary."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


# What SecurityMiddleware and XFrameOptionsMiddleware say of pages holds for whoever opens an answer in a browser.
PROTECTION = (
    ("X-Frame-Options", "DENY"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)

"""Addresses of staff's pages that nothing can be looked up by: told in words, not as something broken."""

from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from framework.api.error_handler import is_below

NUL = b"\0"


class NulByteMiddleware:
    """Answers 400 with a page where an address of the admin has the character NUL, which no text in PostgreSQL has."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """A page with a link back; all others go on."""
        if is_below(request, "/admin") and NUL in unquote_to_bytes(f"{request.path}{request.META['QUERY_STRING']}"):
            back = "/admin/" if "\0" in request.path else request.path
            return render(request, "admin/bad_url.html", {"back": back}, status=400)
        return self.get_response(request)

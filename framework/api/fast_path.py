"""The way of data API requests and MCP messages past Django's middleware for pages: see docs/fast-path.md."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, cast

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.request import split_domain_port, validate_host
from django.template.response import SimpleTemplateResponse
from django.urls import get_resolver
from django.utils.log import log_response

from framework.db import prepared_statements
from framework.django_internals import call_on_close, stored_headers

PREFIXES = ("/v1/", "/mcp")
# The headers of SecurityMiddleware and XFrameOptionsMiddleware, for responses that are opened in a browser.
SECURITY_HEADERS = (
    ("X-Frame-Options", "DENY"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)


class FastWSGIHandler(WSGIHandler):
    """Django's WSGIHandler, but without the request signals for calls of the data API and MCP.

    For such a call the receivers only maintain the thread's database connection, which `refresh_connection` does here.
    The signals are a twelfth of the Python time of a call.
    """

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:  # type: ignore[override]
        """The response; a plain one as a list, which granian sends in one piece.

        granian iterates over any other response and closes it after the last part: a receipt counts as delivered then
        (payments.x402.receipts.PaidResponse).
        """
        if not environ.get("PATH_INFO", "").startswith(PREFIXES):
            page: Iterable[bytes] = super().__call__(environ, start_response)
            return page
        prepared_statements.refresh_connection()
        request = self.request_class(environ)
        response: HttpResponseBase = self._middleware_chain(request)  # type: ignore[attr-defined]  # not in the stubs
        call_on_close(response, request.close)
        if response.status_code >= 400:
            logged = cast("HttpResponse", response)
            log_response("%s: %s", response.reason_phrase, request.path, response=logged, request=request)
        cookies = (("Set-Cookie", morsel.OutputString()) for morsel in response.cookies.values())
        start_response(
            f"{response.status_code} {response.reason_phrase}", [*stored_headers(response).values(), *cookies]
        )
        if type(response) is HttpResponse:
            request.close()
            return [response.content]
        return response


def call_view(request: HttpRequest) -> HttpResponseBase:
    """The response of the view, or of Django's error handlers; 400 for a Host that is not ours."""
    response = cast("HttpResponseBase", _call_view(request))
    set_headers(response, SECURITY_HEADERS)
    if isinstance(response, HttpResponse) and "Content-Length" not in response.headers:
        response.headers["Content-Length"] = str(len(response.content))
    return response


@convert_exception_to_response
def _call_view(request: HttpRequest) -> HttpResponseBase:
    if not _is_allowed_host(request.META.get("HTTP_HOST", ""), tuple(settings.ALLOWED_HOSTS)):
        # Raises DisallowedHost with the reason.
        request.get_host()
    request.resolver_match = match = get_resolver().resolve(request.path_info)
    response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return response.render() if isinstance(response, SimpleTemplateResponse) else response


@lru_cache(maxsize=256)
def _is_allowed_host(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


def set_headers(response: HttpResponseBase, headers: Iterable[tuple[str, str]]) -> None:
    """Set headers whose names and values are our own, in ASCII and on one line: nothing validates them."""
    store = stored_headers(response)
    for header in headers:
        store[header[0].lower()] = header

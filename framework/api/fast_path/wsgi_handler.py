"""The WSGI application."""

from collections.abc import Iterable
from typing import Any, cast

from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.log import log_response

from framework.api.fast_path import headers
from framework.db import prepared_statements
from framework.django_internals import call_on_close

API_PREFIXES = ("/v1/", "/api/", "/mcp")


class ApiWSGIHandler(WSGIHandler):
    """Django's WSGIHandler, but without the request signals for calls of the APIs.

    For an API call the receivers only maintain the thread's database connection, which `refresh_connection` does here.
    The signals are a twelfth of the Python time of a call.
    """

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:  # type: ignore[override]
        """The response; a plain one as a list, which granian sends in one piece.

        granian iterates over any other response and closes it after the last part: a receipt counts as delivered then
        (payments.x402.PaidResponse).
        """
        if not environ.get("PATH_INFO", "").startswith(API_PREFIXES):
            page: Iterable[bytes] = super().__call__(environ, start_response)
            return page
        prepared_statements.refresh_connection()
        request = self.request_class(environ)
        response = self.get_api_response(request)
        start_response(f"{response.status_code} {response.reason_phrase}", headers.wsgi_headers(response))
        if type(response) is HttpResponse:
            request.close()
            return [response.content]
        return response

    def get_api_response(self, request: HttpRequest) -> HttpResponseBase:
        """The response of the middleware; errors are logged, as Django does."""
        response: HttpResponseBase = self._middleware_chain(request)  # type: ignore[attr-defined]  # not in the stubs
        call_on_close(response, request.close)
        if response.status_code >= 400:
            logged = cast("HttpResponse", response)
            log_response("%s: %s", response.reason_phrase, request.path, response=logged, request=request)
        return response

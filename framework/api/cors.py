"""Calls from web pages of other origins."""

import re

from corsheaders.middleware import CorsMiddleware
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from framework.api import origin_check
from framework.api.fast_path import headers

# What acts for whoever runs the program that calls: not every page may. What is below it is for everybody to read.
GUARDED = "/mcp"
OPEN = re.compile(settings.CORS_URLS_REGEX)


class ApiCorsMiddleware(CorsMiddleware):
    """django-cors-headers, whose answer to a preflight is an empty page: here it is empty and nothing else."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve it; who comes from no page is told only that pages are answered otherwise."""
        if "HTTP_ORIGIN" in request.META or request.method == "OPTIONS":
            return super().__call__(request)  # type: ignore[return-value]  # a coroutine under ASGI, which we are not
        response: HttpResponseBase = self.get_response(request)  # type: ignore[assignment]
        if OPEN.match(request.path_info):
            said = response.headers.get("Vary")
            headers.set_headers(response, [("Vary", f"{said}, origin" if said else "origin")])
        return response

    def check_preflight(self, request: HttpRequest) -> HttpResponseBase | None:
        """Answer a preflight, before keys and limits: a browser sends it without either."""
        response = super().check_preflight(request)
        if response is not None:
            response.status_code = 204
            del response["Content-Type"]
        return response

    def add_response_headers(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Let the page read the answer, unless it may not call there."""
        is_guarded = request.path_info.rstrip("/") == GUARDED
        if is_guarded and not origin_check.is_allowed_origin(request.headers.get("Origin")):
            patch_vary_headers(response, ("origin",))
            return response
        return super().add_response_headers(request, response)

"""CORS: calls from web pages of other origins."""

import re

from corsheaders.middleware import CorsMiddleware
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from framework.api import fast_path, origin_check

# An MCP client may act for its user, so pages of other origins may not call it. Documents below it are public.
ORIGIN_CHECKED_PATHS = ("/mcp", "/mcp/account")
CORS_PATHS = re.compile(settings.CORS_URLS_REGEX)


class ApiCorsMiddleware(CorsMiddleware):
    """django-cors-headers, with 204 for preflight requests and only a Vary header for requests without an Origin."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "HTTP_ORIGIN" in request.META or request.method == "OPTIONS":
            return super().__call__(request)  # type: ignore[return-value]  # a coroutine under ASGI, which we are not
        response: HttpResponseBase = self.get_response(request)  # type: ignore[assignment]
        if CORS_PATHS.match(request.path_info):
            vary = response.headers.get("Vary")
            fast_path.set_headers(response, [("Vary", f"{vary}, origin" if vary else "origin")])
        return response

    def check_preflight(self, request: HttpRequest) -> HttpResponseBase | None:
        """Answer a preflight request before authentication and rate limits: a browser sends no credentials with it."""
        response = super().check_preflight(request)
        if response is not None:
            response.status_code = 204
            del response["Content-Type"]
        return response

    def add_response_headers(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_guarded = request.path_info.rstrip("/") in ORIGIN_CHECKED_PATHS
        if is_guarded and not origin_check.is_allowed_origin(request.headers.get("Origin")):
            patch_vary_headers(response, ("origin",))
            return response
        return super().add_response_headers(request, response)

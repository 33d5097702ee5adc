"""Calls from web pages of other origins."""

from corsheaders.middleware import CorsMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class Cors(CorsMiddleware):
    """django-cors-headers, whose answer to a preflight is an empty page: here it is empty and nothing else."""

    def check_preflight(self, request: HttpRequest) -> HttpResponseBase | None:
        """Answer a preflight, before keys and limits: a browser sends it without either."""
        response = super().check_preflight(request)
        if response is not None:
            response.status_code = 204
            del response["Content-Type"]
        return response

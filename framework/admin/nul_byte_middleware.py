"""Rejects admin URLs with a NUL byte, which PostgreSQL text cannot contain."""

from urllib.parse import unquote_to_bytes

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from framework.api.error_handler import is_below

NUL = b"\0"


class NulByteMiddleware(MiddlewareMixin):
    """400 with a page for an admin URL that contains a NUL byte."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if is_below(request, "/admin") and NUL in unquote_to_bytes(f"{request.path}{request.META['QUERY_STRING']}"):
            back = "/admin/" if "\0" in request.path else request.path
            return render(request, "admin/bad_url.html", {"back": back}, status=400)
        return None

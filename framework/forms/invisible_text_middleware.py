"""Removes invisible characters from submitted forms, those of the admin included."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from framework.api.error_handler import is_api
from framework.invisible_text import remove_invisible

FORM_TYPES = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})


class InvisibleTextMiddleware(MiddlewareMixin):
    """Cleans the values of a form before its view reads them. Passwords stay as they are.

    Pages are in UTF-8: another charset of the request is ignored, because Django takes any codec of Python, some of
    which fail or give characters that no page can show.
    """

    def process_request(self, request: HttpRequest) -> None:
        if request.encoding and not is_api(request):
            request.encoding = "utf-8"

    def process_view(self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any) -> None:
        # The APIs take no forms, and refuse one by its type.
        if request.method != "POST" or request.content_type not in FORM_TYPES or is_api(request):
            return
        cleaned = request.POST.copy()
        for name, values in request.POST.lists():
            if "password" not in name:
                cleaned.setlist(name, [remove_invisible(value) for value in values])
        if cleaned != request.POST:
            request.POST = cleaned  # type: ignore[assignment]

"""A decorator for public read-only pages."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from framework.api.error_handler import only_read


def read_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer 404 for a missing page, and 405 for methods other than GET and HEAD.

    Nothing is written, so there is no CSRF token.
    """

    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest, **named: Any) -> HttpResponse:
        found = view(request, **named)
        return only_read(request) or found

    return answer

"""A decorator for public pages that only GET and HEAD can request; other methods are refused in JSON."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from framework.api.error_handler import reject_unsafe_method


def read_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer 405 to methods other than GET and HEAD, but 404 where there is no page.

    The view writes nothing, so it needs no CSRF token.
    """

    @csrf_exempt
    @wraps(view)
    def read_only_view(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        response = view(request, **kwargs)
        return reject_unsafe_method(request) or response

    return read_only_view

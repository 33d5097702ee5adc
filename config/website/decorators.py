"""Pages that are only read: whatever else is asked of them is refused in JSON, as of all that nobody signs in for."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from framework.api.error_handler import only_read


def read_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer 404 what is not there, whatever the method, and 405 what is there to another method than GET and HEAD.

    Nothing is written, so nobody needs the token that forms carry.
    """

    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest, **named: Any) -> HttpResponse:
        found = view(request, **named)
        return only_read(request) or found

    return answer

"""Pages of staff that come to a row which somebody else is writing: told in words, not as something broken."""

import logging
from collections.abc import Callable

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from psycopg import errors

from config.api.errors import is_below

logger = logging.getLogger("tablewire.admin")

BUSY = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)


class BusyRows:
    """Answers 503 with a page where a row stayed locked for longer than we wait; nothing was written then."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Errors alone concern us."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """A page for the admin, with a link back; whatever else it is flies on."""
        is_busy = isinstance(exception, OperationalError) and isinstance(exception.__cause__, BUSY)
        if not is_busy or not is_below(request, "/admin"):
            return None
        logger.warning("%s %s: %s", request.method, request.path, exception)
        return render(request, "admin/busy.html", {"back": request.path}, status=503)

"""Pages that cannot be answered because PostgreSQL is slow, locked or away: 503 instead of 500.

The APIs answer for themselves (framework/api/error_handler.py).
"""

import logging
import sys
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from psycopg import errors

from framework.api.error_handler import is_api, is_below, server_error

logger = logging.getLogger("tablewire.pages")

LOCK_ERRORS = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)
RETRY_AFTER_S = 5


class DatabaseErrorMiddleware:
    """Answers the database errors of views and their templates."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return None if is_api(request) else unavailable_page(request, exception)


def internal_error(request: HttpRequest) -> HttpResponse:
    """The response to an exception that nothing else has answered (handler500), such as one of a middleware.

    Django calls it while it handles the exception.
    """
    error = sys.exception() if sys.version_info >= (3, 12) else sys.exc_info()[1]
    page = unavailable_page(request, error) if isinstance(error, Exception) and not is_api(request) else None
    return page or server_error(request)


def unavailable_page(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    """503 with a page that says what to do; None for an exception that is not PostgreSQL's."""
    if not isinstance(exception, OperationalError | InterfaceError):
        return None
    logger.warning("%s %s: %s", request.method, request.path, str(exception).strip())
    cause = exception.__cause__
    template = "503.html"
    if isinstance(cause, LOCK_ERRORS):
        template = "admin/lock_timeout.html" if is_below(request, "/admin") else "locked.html"
    elif isinstance(cause, errors.QueryCanceled) and is_below(request, "/admin"):
        template = "admin/query_timeout.html"
    context = {"back": request.path, "may_have_written": request.method not in ("GET", "HEAD")}
    response = render(request, template, context, status=503)
    response["Retry-After"] = str(RETRY_AFTER_S)
    return response

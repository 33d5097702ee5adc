"""Admin error pages for lock timeouts and statement timeouts."""

import logging

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from psycopg import errors

from framework.api.error_handler import is_below

logger = logging.getLogger("tablewire.admin")

LOCK_ERRORS = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)


class DatabaseErrorMiddleware(MiddlewareMixin):
    """503 with a page when a row stayed locked (nothing was written), 400 when a statement took too long."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        cause = exception.__cause__ if isinstance(exception, OperationalError) else None
        if not isinstance(cause, (*LOCK_ERRORS, errors.QueryCanceled)) or not is_below(request, "/admin"):
            return None
        logger.warning("%s %s: %s", request.method, request.path, exception)
        if isinstance(cause, errors.QueryCanceled):
            context = {"back": request.path, "wrote": request.method == "POST"}
            return render(request, "admin/query_timeout.html", context, status=400)
        return render(request, "admin/lock_timeout.html", {"back": request.path}, status=503)

"""Sign-in while Valkey is unavailable: the page answers 503."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from redis.exceptions import RedisError

logger = logging.getLogger("tablewire.sign_in")


class RedisOutageMiddleware:
    """Answers 503 with a page when the rate limit of sign-in attempts cannot be counted (fail closed).

    Signed-in users are not affected: sessions are rows of the database.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, RedisError):
            return None
        logger.warning("%s %s: Valkey is unavailable: %s", request.method, request.path, type(exception).__name__)
        response = render(request, "503.html", status=503)
        response["Retry-After"] = "30"
        return response

"""Signing in while the counters are away: nobody gets in, and nobody sees something broken."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from redis.exceptions import RedisError

logger = logging.getLogger("tablewire.entrance")


class ClosedDoors:
    """Answers 503 with a page where guesses cannot be counted: a door without its lock stays shut.

    Who is signed in goes on working: sessions are rows of the database.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Errors alone concern us."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """A page for the counters' absence; whatever else it is flies on."""
        if not isinstance(exception, RedisError):
            return None
        logger.warning("%s %s: the counters are away: %s", request.method, request.path, type(exception).__name__)
        answer = render(request, "503.html", status=503)
        answer["Retry-After"] = "30"
        return answer

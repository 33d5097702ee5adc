"""Health endpoints, before host checks and rate limits: /livez (the process runs), /readyz (it can serve)."""

from collections.abc import Callable, Mapping

import orjson
import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase


def component_states() -> dict[str, str]:
    """The state of each service: "ok" or "away"."""
    state = {"database": "ok", "counters": "ok"}
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        state["database"] = "away"
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=0.2, socket_connect_timeout=0.2) as store:
            store.ping()
    except redis.RedisError:
        state["counters"] = "away"
    return state


def overall_status(states: Mapping[str, str]) -> str:
    """Return "ok", "degraded" without the rate-limit store, or "away" without the database: not ready."""
    if states["database"] != "ok":
        return "away"
    return "ok" if states["counters"] == "ok" else "degraded"


class HealthMiddleware:
    """The outermost middleware. Not ready without the database; degraded without the rate-limit store."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info == "/livez":
            return HttpResponse(b'{"status":"ok"}', content_type="application/json")
        if request.path_info == "/readyz":
            state = component_states()
            status = overall_status(state)
            return HttpResponse(
                orjson.dumps({"status": status, "parts": state}),
                status=503 if status == "away" else 200,
                content_type="application/json",
            )
        return self.get_response(request)

"""The rate limit by django-ratelimit on RedisCache, and what each answer carries."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_vary_headers
from django_ratelimit.core import get_usage
from uuid_utils import uuid7

from benchmarks.references.textbook.keys import caller_of


class RateLimitMiddleware:
    """Counts each call of a key, and stamps its answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, or refuse what is too much."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        caller = caller_of(token.encode()) if scheme.lower() == "bearer" else None
        if caller is None:
            return self.get_response(request)
        usage = get_usage(
            request,
            group="data",
            key=lambda _group, _request: caller.bucket,
            rate=(caller.per_minute, 60),
            increment=True,
        )
        if usage["should_limit"]:
            response: HttpResponse = JsonResponse({"detail": "Too many."}, status=429)
        else:
            response = self.get_response(request)
        left = max(0, usage["limit"] - usage["count"])
        response["X-RateLimit-Limit"] = str(usage["limit"])
        response["X-RateLimit-Remaining"] = str(left)
        response["X-RateLimit-Reset"] = str(usage["time_left"])
        response["RateLimit-Policy"] = f'"data";q={usage["limit"]};w=60'
        response["RateLimit"] = f'"data";r={left};t={usage["time_left"]}'
        response["X-Request-Id"] = str(uuid7())
        response["X-Tier"] = caller.tier
        is_sold = request.path.endswith("/reviews")
        response["Cache-Control"] = (
            "private, no-store" if is_sold else "public, max-age=60, stale-while-revalidate=300"
        )
        patch_vary_headers(response, ("Authorization", "SIGN-IN-WITH-X", "X-Payment", "PAYMENT-SIGNATURE"))
        return response

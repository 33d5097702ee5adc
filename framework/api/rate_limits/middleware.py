"""The outermost middleware of an API: it identifies the caller, counts the call and sets the rate-limit headers.

A subclass says which paths it handles and who is calling. Whatever happens further in, the response that leaves here
is JSON and has the rate-limit headers.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from django.conf import settings
from django.core.cache import caches
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponseBase

from framework.api import error_handler, fast_path
from framework.api.rate_limits import counter
from framework.api.rate_limits.local_fallback import local_counter
from framework.api.rate_limits.valkey_backend import ValkeyCounterCache
from framework.errors import ApiError, ErrorCode, ServiceUnavailable
from framework.public_ids import encode, new_id

logger = logging.getLogger("tablewire.api")

HOUR_S = 3600
# The policy of an allowance that many buckets share is named after theirs.
SHARED_SUFFIX = "-shared"


class RateLimitExceeded(ApiError):
    """The calls of this window are used up."""

    code = ErrorCode.RATE_LIMIT_EXCEEDED


def count_within_an_hour(policy: str, value: str, *, limit: int, what: str) -> None:
    """Count one more of `what` for a value, which is not stored. Raises RateLimitExceeded above the limit."""
    check_hourly_limit(count_call(policy, Allowance(counter.hash_bucket(value), limit, HOUR_S)), what=what)


@contextmanager
def successes_within_an_hour(policy: str, value: str, *, limit: int, what: str) -> Iterator[None]:
    """Count one more of `what` for a value, which is not stored, unless the block raises an ApiError.

    Raises RateLimitExceeded above the limit.
    """
    usage = count_call(policy, Allowance(counter.hash_bucket(value), limit, HOUR_S))
    try:
        check_hourly_limit(usage, what=what)
        yield
    except ApiError:
        undo_count(usage)
        raise


def check_hourly_limit(usage: "Usage", *, what: str) -> None:
    """Raise RateLimitExceeded above the limit. Its headers name this limit, beside that of the request itself."""
    if usage.count > usage.limit:
        wait_s = max(usage.wait_s, 1)
        raise RateLimitExceeded(
            f"Rate limit: {usage.limit} {what} an hour; next call in {wait_s} s.",
            headers={"Retry-After": str(wait_s), **usage.draft_headers},
        )


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many calls a bucket may make in a window of so many seconds.

    `bucket` has a fixed width: django-ratelimit joins it to its neighbours without a separator. A call counts on
    `shared` too, which limits all buckets of one origin together.
    """

    bucket: str
    limit: int
    window_s: int
    shared: "Allowance | None" = None


@dataclass(frozen=True, slots=True)
class Usage:
    """The count of a bucket after this call, under the limit `policy`. `resets_at` and `now` are Unix seconds.

    `cache_key` names the count in Valkey; None if this process counted. `shared` is the count of all buckets of the
    origin.
    """

    policy: str
    bucket: str
    limit: int
    window_s: int
    count: int
    resets_at: int
    now: int
    cache_key: str | None = None
    shared: "Usage | None" = None

    @property
    def remaining(self) -> int:
        return max(self.limit - self.count, 0)

    @property
    def wait_s(self) -> int:
        return max(self.resets_at - self.now, 0)

    @property
    def draft_headers(self) -> dict[str, str]:
        """The two fields of the IETF draft (draft-ietf-httpapi-ratelimit-headers-10)."""
        return {
            "RateLimit-Policy": f'"{self.policy}";q={self.limit};w={self.window_s}',
            "RateLimit": f'"{self.policy}";r={self.remaining};t={self.wait_s}',
        }

    @property
    def headers(self) -> dict[str, str]:
        """The three headers of the contract, and the two of the draft."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.resets_at),
            **self.draft_headers,
        }


@dataclass(frozen=True, slots=True)
class Admission:
    """The bucket that a call is counted on, and the error that answers it whatever its count."""

    allowance: Allowance
    error: ApiError | None = None


def count_call(policy: str, allowance: Allowance) -> Usage:
    """Count this call in Valkey, or in this process while Valkey is unavailable.

    A call above the shared allowance is not counted on its own bucket: the usage of the shared one is returned.
    """
    own = _count_bucket(policy, allowance)
    if allowance.shared is None or own.count > own.limit:
        return own
    shared = _count_bucket(f"{policy}{SHARED_SUFFIX}", allowance.shared)
    if shared.count > shared.limit:
        undo_count(own)
        return shared
    return replace(own, shared=shared)


def _count_bucket(policy: str, allowance: Allowance) -> Usage:
    counted = counter.count(policy, allowance.bucket, window_s=allowance.window_s)
    return Usage(
        policy,
        f"{policy}:{allowance.bucket}",
        allowance.limit,
        allowance.window_s,
        counted.count,
        counted.ends_at,
        counted.now,
        counted.cache_key,
    )


def undo_count(usage: Usage) -> None:
    """Count one call less where it was counted. It stays counted if Valkey is unavailable by now."""
    if usage.cache_key is None:
        local_counter.undo(usage.bucket, usage.resets_at)
    else:
        counter_cache().decrement(usage.cache_key)
    if usage.shared is not None:
        undo_count(usage.shared)


def counter_cache() -> ValkeyCounterCache:
    """The counts that all processes share, by this thread's connection."""
    return cast("ValkeyCounterCache", caches[settings.RATELIMIT_USE_CACHE])


def set_rate_headers(response: HttpResponseBase, usage: Usage, *more: tuple[str, str]) -> None:
    """Set the contract's three headers, those of the IETF draft on RateLimit header fields, and `more`.

    The draft's fields are lists: a limit that the view has reached is named first.
    """
    headers = usage.headers
    for name in ("RateLimit-Policy", "RateLimit"):
        if name in response:
            headers[name] = f"{response[name]}, {headers[name]}"
    fast_path.set_headers(response, (*headers.items(), *more))


class RateLimitMiddleware(ABC):
    """Count the call, answer it, set the headers."""

    prefix: ClassVar[str]
    policy: ClassVar[str]

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    @abstractmethod
    def admit(self, request: HttpRequest) -> Admission:
        """Identify the caller, and set on the request what the views need of it.

        May use the database and may raise its errors, which are answered with 503.
        """

    @abstractmethod
    def anonymous_allowance(self, request: HttpRequest) -> Allowance:
        """The allowance of a caller that could not be identified."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not self.handles(request):
            return self.get_response(request)
        request.request_id = encode("req", new_id())  # type: ignore[attr-defined]
        try:
            admission = self.admit(request)
        except DatabaseError:
            logger.warning("database unavailable", exc_info=True)
            admission = Admission(self.anonymous_allowance(request), ServiceUnavailable())
        except Exception:
            # Our own bugs are answered in JSON with the rate-limit headers, too.
            logger.exception(
                "identifying the caller failed", extra={"request_id": error_handler.request_id_of(request)}
            )
            admission = Admission(self.anonymous_allowance(request), error_handler.InternalError())
        usage = self.count_call(request, admission.allowance)
        request.usage = usage  # type: ignore[attr-defined]
        response, usage = self.adjust_usage(request, self.respond(request, admission, usage), usage)
        self.set_rate_headers(request, response, usage)
        return response

    def handles(self, request: HttpRequest) -> bool:
        return error_handler.is_below(request, self.prefix)

    def get_policy(self, request: HttpRequest) -> str:
        """The name of the limit of this request; each limit counts separately."""
        return self.policy

    def count_call(self, request: HttpRequest, allowance: Allowance, *, policy: str | None = None) -> Usage:
        return count_call(policy or self.get_policy(request), allowance)

    def adjust_usage(
        self, request: HttpRequest, response: HttpResponseBase, usage: Usage
    ) -> tuple[HttpResponseBase, Usage]:
        """The response to send and the usage for its headers, once the response is known."""
        return response, usage

    def respond(self, request: HttpRequest, admission: Admission, usage: Usage) -> HttpResponseBase:
        """Reject the call, or call the view."""
        if admission.error:
            return error_handler.error_response(admission.error, request)
        if usage.count > usage.limit:
            return self.rate_limit_response(request, usage)
        response = self.call_view(request)
        if response.status_code == 304:
            # Django says 0, and it would be the length of the whole answer (RFC 9110, 8.6).
            del response["Content-Length"]
        if response.status_code >= 400 and "json" not in response.get("Content-Type", ""):
            # Django's own middleware answers with pages.
            page, response = response, error_handler.status_response(response.status_code, request)
            if "Allow" in page:
                response["Allow"] = page["Allow"]
        return response

    def call_view(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def rate_limit_response(self, request: HttpRequest, usage: Usage, *, of: str = "requests") -> HttpResponseBase:
        error = RateLimitExceeded(
            f"The allowance of {usage.limit} {of} in {usage.window_s} seconds is used up;"
            f" the next window begins in {usage.wait_s} seconds.",
            headers={"Retry-After": str(max(usage.wait_s, 1))},
        )
        return error_handler.error_response(error, request)

    def set_rate_headers(self, request: HttpRequest, response: HttpResponseBase, usage: Usage) -> None:
        """Set them on each response, with its id."""
        set_rate_headers(response, usage, ("X-Request-Id", error_handler.request_id_of(request)))

"""The doorway of an API: the outermost middleware that counts each call and stamps each answer.

A subclass says whose paths these are and who is calling; everything else is the same for every API. Whatever happens
further in, the answer that leaves here is JSON and carries the rate headers.
"""

import hashlib
import ipaddress
import logging
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, cast

from django.conf import settings
from django.core.cache import caches
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponseBase
from django_ratelimit.core import get_usage

from framework.api import error_handler
from framework.api.fast_path import headers
from framework.api.fast_path.dispatch import ApiDispatcher
from framework.api.rate_limits.valkey_backend import ValkeyCounterCache, last_count
from framework.errors import ApiError, ErrorCode, ServiceUnavailable
from framework.public_ids import encode, new_id

logger = logging.getLogger("tablewire.api")


class RateLimitExceeded(ApiError):
    """The allowance of this window is used up."""

    code = ErrorCode.RATE_LIMIT_EXCEEDED


# Some proxies write the caller's port too: 192.0.2.1:5000, [2001:db8::1]:5000.
WITH_PORT = re.compile(r"^(?:\[(.+)\]|([^:]+))(?::[0-9]+)?$")


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many calls a bucket may make in a window of so many seconds.

    `bucket` is of fixed width: django-ratelimit joins it to its neighbours without a separator.
    """

    bucket: str
    limit: int
    window_s: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Where a bucket stands after this call, under the limit of this name: `resets_at` in Unix seconds.

    `name` is the count's in the shared store, None where this process has counted.
    """

    policy: str
    bucket: str
    limit: int
    window_s: int
    count: int
    resets_at: int
    now: int
    name: str | None = None

    @property
    def remaining(self) -> int:
        """Calls left in the window."""
        return max(self.limit - self.count, 0)

    @property
    def wait_s(self) -> int:
        """Seconds until the window ends."""
        return max(self.resets_at - self.now, 0)


@dataclass(frozen=True, slots=True)
class Admission:
    """Who came in: the bucket that pays for the call, and the refusal that the call meets whatever its count."""

    allowance: Allowance
    error: ApiError | None = None


class LocalCounter:
    """The same limits counted within this process, for while the store is away."""

    MOST = 10_000

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.windows: dict[str, tuple[int, int]] = {}

    def count(self, bucket: str, window_s: int, now: int) -> tuple[int, int]:
        """Count one call; return the count and the second with which its window has ended."""
        with self.lock:
            if len(self.windows) >= self.MOST:
                live = [(name, window) for name, window in self.windows.items() if window[1] > now]
                # Of more callers than there is room for, those who came first are forgotten.
                self.windows = dict(live[-self.MOST // 2 :])
            count, ends = self.windows.get(bucket, (0, 0))
            if ends <= now:
                count, ends = 0, now + window_s
            self.windows[bucket] = (count + 1, ends)
            return count + 1, ends

    def undo_count(self, bucket: str, ends: int) -> None:
        """Count one call less, if its window is still the one that ends then."""
        with self.lock:
            count, its_end = self.windows.get(bucket, (0, 0))
            if its_end == ends and count > 0:
                self.windows[bucket] = (count - 1, ends)


local_counter = LocalCounter()


def counter_cache() -> ValkeyCounterCache:
    """The counts that all processes share, as this thread reaches them."""
    return cast("ValkeyCounterCache", caches[settings.RATELIMIT_USE_CACHE])


def peer_address(request: HttpRequest) -> str:
    """The caller's address as the peer, or the proxies that we trust, wrote it."""
    address: str = request.META.get("REMOTE_ADDR") or "0.0.0.0"  # noqa: S104  # no peer: one bucket for all of them
    hops = settings.TRUSTED_PROXIES
    if hops:
        seen = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if hop.strip()]
        if len(seen) >= hops:
            address = WITH_PORT.sub(r"\1\2", seen[-hops])
    return address


def client_ip(request: HttpRequest) -> str | None:
    """The caller's IP address, without a zone; None where a proxy wrote something else."""
    return _ip_in(peer_address(request))


@lru_cache(maxsize=4096)
def _ip_in(address: str) -> str | None:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(parsed)


def client_network(request: HttpRequest) -> str:
    """What callers without a name are counted by: their address; of IPv6 the /64, which one customer holds whole."""
    address = client_ip(request)
    if address is None:
        return peer_address(request)
    if ":" in address:
        return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    return address


def address_bucket(request: HttpRequest) -> str:
    """The bucket of callers that only have an address."""
    return _bucket_of(client_network(request))


@lru_cache(maxsize=4096)
def _bucket_of(address: str) -> str:
    return hashlib.sha256(address.encode()).hexdigest()[:32]


class RateLimitMiddleware(ABC):
    """Count the call, answer it, stamp the answer."""

    prefix: ClassVar[str]
    policy: ClassVar[str]

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.dispatch = ApiDispatcher(on_error=self.add_request_id)

    @abstractmethod
    def admit(self, request: HttpRequest) -> Admission:
        """Say who is calling, and leave on the request what the views need to know of them.

        May use the database; may raise its errors, which are answered with 503.
        """

    @abstractmethod
    def anonymous_allowance(self, request: HttpRequest) -> Allowance:
        """The allowance of a caller whom nothing could be found out about."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve a request on one of our paths; pass on any other."""
        if not self.handles(request):
            return self.get_response(request)
        request.request_id = encode("req", new_id())  # type: ignore[attr-defined]
        try:
            admission = self.admit(request)
        except DatabaseError:
            logger.warning("database away", exc_info=True)
            admission = Admission(self.anonymous_allowance(request), ServiceUnavailable())
        except Exception:
            # Also of our own mistakes a caller learns in JSON, with the rate headers.
            logger.exception("the doorway broke", extra={"request_id": error_handler.request_id_of(request)})
            admission = Admission(
                self.anonymous_allowance(request), error_handler.InternalError(error_handler.INTERNAL_ERROR_MESSAGE)
            )
        usage = self.count_call(request, admission.allowance)
        request.usage = usage  # type: ignore[attr-defined]
        response, usage = self.adjust_usage(request, self.respond(request, admission, usage), usage)
        self.set_rate_headers(request, response, usage)
        return response

    def handles(self, request: HttpRequest) -> bool:
        """Whether the path is one of ours."""
        return error_handler.is_below(request, self.prefix)

    def get_policy(self, request: HttpRequest) -> str:
        """The name of the limit that this request falls under; each counts apart."""
        return self.policy

    def add_request_id(self, request: HttpRequest, error: Exception) -> None:
        """Sign what broke, so that its admission in the log is found by the id that the caller is told."""
        error.add_note(f"request_id: {error_handler.request_id_of(request)}")

    def count_call(self, request: HttpRequest, allowance: Allowance, *, policy: str | None = None) -> Usage:
        """Count this call in the shared store, or in this process while the store is away."""
        policy = policy or self.get_policy(request)
        usage = get_usage(
            request,
            group=f"{policy}:",
            key=lambda _group, _request: allowance.bucket,
            # It counts each limit apart; ours is compared below, so that keys of one family share a count.
            rate=(1, allowance.window_s),
            increment=True,
        )
        now = int(time.time())
        bucket, name = f"{policy}:{allowance.bucket}", None
        if usage["limit"]:
            # The second in which it sees a window end still belongs to that window.
            count, ends = usage["count"], now + max(usage["time_left"], 0) + 1
            name = last_count.name
        else:
            count, ends = local_counter.count(bucket, allowance.window_s, now)
        return Usage(policy, bucket, allowance.limit, allowance.window_s, count, ends, now, name)

    def undo_count(self, usage: Usage) -> None:
        """Count one call less where it was counted. Where that cannot be reached any more it stays counted."""
        if usage.name is None:
            local_counter.undo(usage.bucket, usage.resets_at)
        else:
            counter_cache().undo_count(usage.name)

    def adjust_usage(
        self, request: HttpRequest, response: HttpResponseBase, usage: Usage
    ) -> tuple[HttpResponseBase, Usage]:
        """The answer that goes out, and the count that its headers tell, now that it is known what was answered."""
        return response, usage

    def respond(self, request: HttpRequest, admission: Admission, usage: Usage) -> HttpResponseBase:
        """Refuse, or go on inwards."""
        request_id = error_handler.request_id_of(request)
        if admission.error:
            return error_handler.error_response(admission.error, request_id=request_id)
        if usage.count > usage.limit:
            return self.rate_limit_response(request, usage)
        response = self.dispatch(request)
        if response.status_code == 304:
            # Django says 0, and it would be the length of the whole answer (RFC 9110, 8.6).
            del response["Content-Length"]
        if response.status_code >= 400 and "json" not in response.get("Content-Type", ""):
            # Middleware of Django's own answers with pages.
            said = error_handler.error_response(
                error_handler.error_of_status(response.status_code), request_id=request_id
            )
            if "Allow" in response:
                said["Allow"] = response["Allow"]
            return said
        return response

    def rate_limit_response(self, request: HttpRequest, usage: Usage, *, of: str = "requests") -> HttpResponseBase:
        """The answer where the allowance of a window is used up."""
        refusal = RateLimitExceeded(
            f"The allowance of {usage.limit} {of} in {usage.window_s} seconds is used up;"
            f" the next window begins in {usage.wait_s} seconds.",
            headers={"Retry-After": str(max(usage.wait_s, 1))},
        )
        return error_handler.error_response(refusal, request_id=error_handler.request_id_of(request))

    def set_rate_headers(self, request: HttpRequest, response: HttpResponseBase, usage: Usage) -> None:
        """Write the contract's three headers, and those of the IETF draft on RateLimit header fields."""
        headers.set_headers(
            response,
            (
                ("X-RateLimit-Limit", str(usage.limit)),
                ("X-RateLimit-Remaining", str(usage.remaining)),
                ("X-RateLimit-Reset", str(usage.resets_at)),
                ("RateLimit-Policy", f'"{usage.policy}";q={usage.limit};w={usage.window_s}'),
                ("RateLimit", f'"{usage.policy}";r={usage.remaining};t={usage.wait_s}'),
                ("X-Request-Id", error_handler.request_id_of(request)),
            ),
        )

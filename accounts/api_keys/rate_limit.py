"""Middleware of the management API: authentication by key, and its hourly rate limit."""

import time
from dataclasses import replace
from functools import partial
from http import HTTPStatus

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from accounts.api_keys.authentication import InactiveApiKey, Unauthorized, authenticate_request, bearer_token
from accounts.api_keys.cache import api_key_cache
from accounts.models import ApiKey
from accounts.oauth.access import authenticate_app, is_access_token
from accounts.request_log.writer import request_log
from framework.api.rate_limits.client_ip import address_bucket, client_ip
from framework.api.rate_limits.middleware import Admission, Allowance, RateLimitMiddleware, Usage, undo_count
from framework.errors import InvalidRequest

HOUR_S = 3600
# Seed 000, "Limits": 1000 requests per hour per API key.
ALLOWANCE_WITHOUT_KEY = 1000
# The count of free 304s.
UNCHANGED = "mgmt-unchanged"


class ManagementRateLimitMiddleware(RateLimitMiddleware):
    """Authenticates before routing and rate limits: without a valid key, 401 precedes 404 and 429."""

    prefix = "/api"
    policy = "mgmt"

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the request, and log it for the venue if it has a known key."""
        at, started = timezone.now(), time.perf_counter()
        response = super().__call__(request)
        key: ApiKey | None = getattr(request, "known_key", None)
        if key is not None:
            request_log.log(request, response, key, duration_s=time.perf_counter() - started, at=at)
        return response

    def admit(self, request: HttpRequest) -> Admission:
        """Authenticate. The rate limit counts the key family, so that rotation does not reset it."""
        now = timezone.now()
        try:
            token = bearer_token(request) or ""
            if is_access_token(token):
                key = authenticate_app(request, token, now=now)
            else:
                key = authenticate_request(request, now=now)
        except InvalidRequest as refusal:
            return Admission(self.anonymous_allowance(request), refusal)
        except Unauthorized as refusal:
            if isinstance(refusal, InactiveApiKey):
                request.known_key = refusal.key  # type: ignore[attr-defined]
            return Admission(self.anonymous_allowance(request), refusal)
        api_key_cache.record_use(key, now=now, address=partial(client_ip, request))
        request.api_key = request.known_key = key  # type: ignore[attr-defined]
        return Admission(Allowance(bucket=key.family.hex, limit=key.allowance, window_s=HOUR_S))

    def adjust_usage(
        self, request: HttpRequest, response: HttpResponseBase, usage: Usage
    ) -> tuple[HttpResponseBase, Usage]:
        """Do not count a 304, for as many of them as the key has calls (docs/decisions/0088).

        Until it is answered it is in the count of concurrent calls: one that is refused because of it is not counted.
        """
        if response.status_code == HTTPStatus.NOT_MODIFIED:
            key: ApiKey = request.api_key  # type: ignore[attr-defined]
            free = self.count_call(request, Allowance(key.family.hex, usage.limit, usage.window_s), policy=UNCHANGED)
            if free.count <= free.limit:
                undo_count(usage)
                return response, replace(usage, count=usage.count - 1)
        elif response.status_code == HTTPStatus.TOO_MANY_REQUESTS and usage.count > usage.limit:
            undo_count(usage)
        return response, usage

    def anonymous_allowance(self, request: HttpRequest) -> Allowance:
        """Count the calls without a valid key by address, for the rate limit headers."""
        return Allowance(bucket=address_bucket(request), limit=ALLOWANCE_WITHOUT_KEY, window_s=HOUR_S)

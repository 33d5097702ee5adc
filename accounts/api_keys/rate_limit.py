"""The doorway of the management API: a key before anything else, and its hourly allowance."""

import time
from functools import partial

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from accounts.api_keys.authentication import EndedApiKey, Unauthorized, identify
from accounts.api_keys.cache import api_key_cache
from accounts.models import ApiKey
from accounts.request_log.writer import request_log
from framework.api.rate_limits.client_ip import address_bucket, client_ip
from framework.api.rate_limits.middleware import Admission, Allowance, RateLimitMiddleware

HOUR_S = 3600
# Seed 000, "Limits": 1000 requests per hour per API key.
WITHOUT_KEY = 1000


class ManagementRateLimitMiddleware(RateLimitMiddleware):
    """401 comes before 404 and 429: a call without a valid key is told so, whatever it asks for and how often."""

    prefix = "/api"
    policy = "mgmt"

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the request; have the call noted in the log of its venue if a key of ours made it."""
        at, began = timezone.now(), time.perf_counter()
        response = super().__call__(request)
        key: ApiKey | None = getattr(request, "known_key", None)
        if key is not None:
            request_log.note(request, response, key, duration_s=time.perf_counter() - began, at=at)
        return response

    def admit(self, request: HttpRequest) -> Admission:
        """Find the key. Rotation gives no fresh allowance: the count is of the key's family."""
        now = timezone.now()
        try:
            key = identify(request, now=now)
        except Unauthorized as refusal:
            if isinstance(refusal, EndedApiKey):
                request.known_key = refusal.key  # type: ignore[attr-defined]
            return Admission(self.anonymous_allowance(request), refusal)
        api_key_cache.used(key, now=now, address=partial(client_ip, request))
        request.api_key = request.known_key = key  # type: ignore[attr-defined]
        return Admission(Allowance(bucket=key.family.hex, limit=key.allowance, window_s=HOUR_S))

    def anonymous_allowance(self, request: HttpRequest) -> Allowance:
        """The rate headers of a caller without a key count the address."""
        return Allowance(bucket=address_bucket(request), limit=WITHOUT_KEY, window_s=HOUR_S)

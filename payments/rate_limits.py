"""The doorway of the data API: no key needed, a rate a minute by tier."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from framework.api.fast_path import headers
from framework.api.rate_limits.client_ip import address_bucket
from framework.api.rate_limits.middleware import Admission, Allowance, RateLimitMiddleware, Usage
from framework.errors import ApiError
from framework.resilience.deadline import response_deadline
from payments import x402
from payments.identity.caller import Caller, anonymous, caller_of, identify
from payments.tiers.definitions import FREE

MINUTE_S = 60
HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class Apart:
    """A limit beside those of the tiers: by address, and no tier raises it."""

    policy: str
    limit: int
    window_s: int = MINUTE_S


# Each takes a table from others. Tries count, so that nobody looks for the last one by trying.
BOOKINGS = Apart("bookings", limit=10, window_s=HOUR_S)
APART: Mapping[str, Apart] = {
    # Each try may cost us a trip to the chain. Who comes with an old token can get a new one.
    "auth(/.*)?": Apart("auth", limit=30),
    # Fetched in many pieces, by whoever was given the signed link, which needs no token.
    "exports/[^/]+/files(/.*)?": Apart("files", limit=600),
    "flow/offers/[^/]+/bookings/?": BOOKINGS,
    # People read each of them. A day has its own bound, by address too (catalogue.moderation.reports).
    "restaurants/[^/]+/reports/?": Apart("reports", limit=5),
}
POLICIES = {own.policy: own for own in APART.values()}
# All in one, so that a path is read once; the group that matched is named as the policy.
APART_PATHS = re.compile("/v1/(?:" + "|".join(f"(?P<{own.policy}>{path})" for path, own in APART.items()) + ")")


# A paid request is often two, and the first one, which is told the price, gets nothing: it takes nothing of what its
# caller has either. So many a minute, or as many as the caller's tier has requests: no tier may pay for more.
CHALLENGES = "challenges"
MOST_CHALLENGES = 120


class DataRateLimitMiddleware(RateLimitMiddleware):
    """Leaves the Caller on the request, and says its tier on every answer."""

    prefix = "/v1"
    policy = "data"

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve it in the time that is promised, also while the chain or the facilitator hangs."""
        with response_deadline():
            return super().__call__(request)

    def admit(self, request: HttpRequest) -> Admission:
        """Find the caller; a credential that is refused is counted on the address."""
        if self.apart(request):
            request.caller = anonymous(request)  # type: ignore[attr-defined]
            return Admission(self.anonymous_allowance(request))
        return self.known(request)

    def known(self, request: HttpRequest, *, meta: Mapping[str, Any] | None = None) -> Admission:
        """Find the caller, also by a payment in the `meta` of a message, and what they may call."""
        try:
            caller = identify(request, meta=meta, now=timezone.now())
        except ApiError as refusal:
            request.caller = anonymous(request)  # type: ignore[attr-defined]
            return Admission(self.anonymous_allowance(request), refusal)
        request.caller = caller  # type: ignore[attr-defined]
        return Admission(Allowance(bucket=caller.bucket, limit=caller.terms.per_minute, window_s=MINUTE_S))

    def apart(self, request: HttpRequest) -> Apart | None:
        """The limit that this request falls under, if it is not that of its caller's tier."""
        found = APART_PATHS.fullmatch(request.path_info)
        return POLICIES[str(found.lastgroup)] if found else None

    def anonymous_allowance(self, request: HttpRequest) -> Allowance:
        """Free, by address, or the limit apart."""
        own = self.apart(request)
        limit, window_s = (own.limit, own.window_s) if own else (FREE.per_minute, MINUTE_S)
        return Allowance(bucket=address_bucket(request), limit=limit, window_s=window_s)

    def get_policy(self, request: HttpRequest) -> str:
        """The tier's, or that apart."""
        own = self.apart(request)
        return own.policy if own else self.policy

    def adjust_usage(
        self, request: HttpRequest, response: HttpResponseBase, usage: Usage
    ) -> tuple[HttpResponseBase, Usage]:
        """Count a 402 to a request without payment as a challenge instead. One challenge too many counts as both, so
        that who asks on and on is soon stopped at the door.
        """
        if usage.policy != self.policy:
            return response, usage
        if self.is_challenge(request, response):
            caller = caller_of(request)
            limit = max(MOST_CHALLENGES, caller.terms.per_minute)
            asked = self.count_call(request, Allowance(caller.bucket, limit, MINUTE_S), policy=CHALLENGES)
            if asked.count > asked.limit:
                return self.rate_limit_response(
                    request, asked, of="requests without a payment for what is sold"
                ), asked
            self.undo_count(usage)
            return response, asked
        if usage.count > usage.limit:
            # Challenges that are under way stand in the count: what is refused because of them must not stay there.
            self.undo_count(usage)
        return response, usage

    def is_challenge(self, request: HttpRequest, response: HttpResponseBase) -> bool:
        """Whether this answer tells the price to who has sent no payment."""
        return response.status_code == HTTPStatus.PAYMENT_REQUIRED and x402.payment_header(request.headers) is None

    def set_rate_headers(self, request: HttpRequest, response: HttpResponseBase, usage: Usage) -> None:
        """Add the tier to the rate headers."""
        super().set_rate_headers(request, response, usage)
        caller: Caller | None = getattr(request, "caller", None)
        headers.set_headers(response, [("X-Tier", caller.tier.name if caller else FREE.name)])

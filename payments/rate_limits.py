"""The middleware of the data API: identifies the caller and limits requests by tier. An API key is optional."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from accounts import idempotency
from framework.api import fast_path
from framework.api.rate_limits.client_ip import address_bucket
from framework.api.rate_limits.middleware import (
    SHARED_SUFFIX,
    Admission,
    Allowance,
    RateLimitMiddleware,
    Usage,
    undo_count,
)
from framework.errors import ApiError
from framework.resilience.deadline import response_deadline
from payments.identity.caller import Caller, anonymous_caller, caller_of, identify_caller
from payments.tiers.definitions import FREE
from payments.x402.proofs import payment_header

MINUTE_S = 60
HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class FixedLimit:
    """A limit that does not depend on the tier; by address, unless the middleware counts it by person."""

    policy: str
    limit: int
    window_s: int = MINUTE_S

    def allowance(self, request: HttpRequest) -> Allowance:
        return Allowance(address_bucket(request), self.limit, self.window_s)


# Anybody can create wallets, and accounts without a confirmed email address. Each on the free tier has a count of its
# own, and those at one address have together so many times what an anonymous caller there has.
FREE_CALLERS_FACTOR = 10
# A booking takes a table from other guests. Failed attempts count too, so that nobody can probe for the last table.
# One guest has ten tries (catalogue.offers.booking); a caller may book for many guests: an agent platform has one
# address, and a wallet above the free tier or a confirmed account is known.
BOOKINGS = FixedLimit("bookings", limit=60, window_s=HOUR_S)
MAX_BOOKINGS_OF_KNOWN = 600
# A request for each letter that somebody types. The limit is this number, or the tier's number of requests if that is
# higher.
AUTOCOMPLETE = FixedLimit("autocomplete", limit=120)
FIXED_LIMITS: Mapping[str, FixedLimit] = {
    # Each attempt may cost a trip to the chain. It applies to expired sessions too: they sign in here again.
    "auth(/.*)?": FixedLimit("auth", limit=30),
    # Downloads in many parts by signed links, which need no token.
    "exports/[^/]+/files(/.*)?": FixedLimit("files", limit=600),
    "(?:flow/offers|restaurants)/[^/]+/bookings/?": BOOKINGS,
    "autocomplete/?": AUTOCOMPLETE,
    # Staff read each report. There is a daily limit too, also by address (catalogue.moderation.reports).
    "restaurants/[^/]+/reports/?": FixedLimit("reports", limit=5),
}
# Pages for people, and files of the sitemap (catalogue.public_pages): their views count.
PAGES = FixedLimit("pages", limit=60)
SITEMAP_FILES = FixedLimit("sitemap", limit=20)
POLICIES = {fixed.policy: fixed for fixed in FIXED_LIMITS.values()}
# One expression for all paths; the group that matched is named as the policy.
FIXED_LIMIT_PATHS = re.compile(
    "/v1/(?:" + "|".join(f"(?P<{fixed.policy}>{path})" for path, fixed in FIXED_LIMITS.items()) + ")"
)


# A purchase often takes two requests. The first one, which is answered with the price (402), counts here and not as a
# request. The limit is this number a minute, or the tier's number of requests if that is higher.
CHALLENGES = "challenges"
MAX_CHALLENGES = 120
# Answers of 304: a client that asks whether something has changed takes nothing from its requests, up to this number
# a minute, or the tier's number of requests if that is higher. Further ones count as requests.
UNCHANGED = "data-unchanged"
MAX_UNCHANGED = 120


def person_allowance(caller: Caller, limit: int, window_s: int, *, of_address: int) -> Allowance:
    """Return the allowance of this caller. Those with one shared bucket have FREE_CALLERS_FACTOR of `of_address`."""
    if not caller.shared_bucket:
        return Allowance(caller.bucket, limit, window_s)
    shared = Allowance(caller.shared_bucket, FREE_CALLERS_FACTOR * of_address, window_s)
    return Allowance(caller.bucket, limit, window_s, shared=shared)


class DataApiMiddleware(RateLimitMiddleware):
    """Sets `request.caller`, applies the rate limit, and adds the tier to every response."""

    prefix = "/v1"
    policy = "data"

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # The deadline holds also while the chain or the facilitator does not answer.
        with response_deadline():
            return super().__call__(request)

    def call_view(self, request: HttpRequest) -> HttpResponseBase:
        return fast_path.call_view(request)

    def admit(self, request: HttpRequest) -> Admission:
        fixed = self.fixed_limit(request)
        if fixed is BOOKINGS:
            return self.admit_booking(request)
        if fixed is AUTOCOMPLETE:
            return self.admit_person(request, fixed, at_least_tier=True)
        if fixed:
            request.caller = anonymous_caller(request)  # type: ignore[attr-defined]
            return Admission(self.anonymous_allowance(request))
        return self.identify(request)

    def admit_person(
        self,
        request: HttpRequest,
        fixed: FixedLimit,
        *,
        at_least_tier: bool = False,
        meta: Mapping[str, Any] | None = None,
    ) -> Admission:
        """Count by the person, and by the address only who is anonymous or has a wrong credential.

        `at_least_tier`: the limit is the tier's number of requests if that is higher.
        """
        admission = self.identify(request, meta=meta)
        if admission.error:
            return Admission(self.anonymous_allowance(request), admission.error)
        limit = max(fixed.limit, caller_of(request).terms.per_minute) if at_least_tier else fixed.limit
        return Admission(person_allowance(caller_of(request), limit, fixed.window_s, of_address=fixed.limit))

    def admit_booking(self, request: HttpRequest, *, meta: Mapping[str, Any] | None = None) -> Admission:
        """Count a booking by the person; one without a shared bucket (see Caller) books for many guests."""
        admission = self.admit_person(request, BOOKINGS, meta=meta)
        caller = caller_of(request)
        if admission.error or caller.shared_bucket or caller.bucket == address_bucket(request):
            return admission
        return Admission(Allowance(caller.bucket, MAX_BOOKINGS_OF_KNOWN, BOOKINGS.window_s))

    def identify(self, request: HttpRequest, *, meta: Mapping[str, Any] | None = None) -> Admission:
        """Set `request.caller`, and return its allowance; a refused credential counts on the address.

        `meta` may hold the payment of an MCP message.
        """
        try:
            caller = identify_caller(request, meta=meta, now=timezone.now())
        except ApiError as refusal:
            request.caller = anonymous_caller(request)  # type: ignore[attr-defined]
            return Admission(self.anonymous_allowance(request), refusal)
        request.caller = caller  # type: ignore[attr-defined]
        limit = caller.terms.per_minute
        return Admission(person_allowance(caller, limit, MINUTE_S, of_address=FREE.per_minute))

    def fixed_limit(self, request: HttpRequest) -> FixedLimit | None:
        """Return the limit of a path that has its own; None if the tier's limit applies."""
        found = FIXED_LIMIT_PATHS.fullmatch(request.path_info)
        return POLICIES[str(found.lastgroup)] if found else None

    def anonymous_allowance(self, request: HttpRequest) -> Allowance:
        fixed = self.fixed_limit(request)
        return (fixed or FixedLimit(self.policy, FREE.per_minute)).allowance(request)

    def get_policy(self, request: HttpRequest) -> str:
        fixed = self.fixed_limit(request)
        return fixed.policy if fixed else self.policy

    def adjust_usage(
        self, request: HttpRequest, response: HttpResponseBase, usage: Usage
    ) -> tuple[HttpResponseBase, Usage]:
        """Count a 402 to a request without payment as a challenge, and a 304 as unchanged, instead of a request.

        Above the limit of challenges it counts as both, so that a client that never pays is limited soon. The
        repetition of a booking is no try to book.
        """
        if usage.policy == BOOKINGS.policy and idempotency.REPLAYED_HEADER in response:
            undo_count(usage)
            return response, replace(usage, count=usage.count - 1)
        if usage.policy == f"{self.policy}{SHARED_SUFFIX}":
            # Only a refusal names the shared count. As below, it is not counted.
            undo_count(usage)
        if usage.policy != self.policy:
            return response, usage
        if self.is_challenge(request, response):
            challenges = self.count_beside(request, CHALLENGES, MAX_CHALLENGES)
            if challenges.count > challenges.limit:
                refused = self.rate_limit_response(
                    request, challenges, of="requests without a payment for what is sold"
                )
                return refused, challenges
            undo_count(usage)
            return response, challenges
        if response.status_code == HTTPStatus.NOT_MODIFIED:
            unchanged = self.count_beside(request, UNCHANGED, MAX_UNCHANGED)
            if unchanged.count <= unchanged.limit:
                undo_count(usage)
                return response, replace(usage, count=usage.count - 1)
        elif usage.count > usage.limit:
            # Concurrent challenges are in this count until they are answered: a request refused because of them is
            # not counted.
            undo_count(usage)
        return response, usage

    def count_beside(self, request: HttpRequest, policy: str, limit: int) -> Usage:
        """Count the request under a policy with this limit a minute, or the tier's number of requests if higher."""
        caller = caller_of(request)
        at_most = max(limit, caller.terms.per_minute)
        return self.count_call(request, person_allowance(caller, at_most, MINUTE_S, of_address=limit), policy=policy)

    def is_challenge(self, request: HttpRequest, response: HttpResponseBase) -> bool:
        return response.status_code == HTTPStatus.PAYMENT_REQUIRED and payment_header(request.headers) is None

    def set_rate_headers(self, request: HttpRequest, response: HttpResponseBase, usage: Usage) -> None:
        super().set_rate_headers(request, response, usage)
        caller: Caller | None = getattr(request, "caller", None)
        fast_path.set_headers(response, [("X-Tier", caller.tier.name if caller else FREE.name)])

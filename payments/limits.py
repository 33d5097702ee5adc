"""The doorway of the data API: no key needed, a rate a minute by tier."""

import re

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from accounts.authentication import Unauthorized
from config.api import errors
from config.api.limits import Allowance, Doorway, Entry, Usage, address_bucket
from payments.callers import Caller, anonymous, identify
from payments.tiers import FREE

MINUTE_S = 60
# Signing in has a limit of its own, and no tier raises it: each try may cost us a trip to the chain.
SIGN_INS = 30
# Files are fetched in many pieces, by whoever was given the signed link.
FILES = re.compile(r"/v1/exports/[^/]+/files(/.*)?")


class DataDoorway(Doorway):
    """Leaves the Caller on the request, and says its tier on every answer."""

    prefix = "/v1"
    policy = "data"

    def enter(self, request: HttpRequest) -> Entry:
        """Find the caller; a wrong token is 401, counted on the address."""
        request.caller = anonymous(request)  # type: ignore[attr-defined]
        if self.is_sign_in(request) or FILES.fullmatch(request.path_info):
            # Who comes with an old token can get a new one, and what a signed link opens needs none.
            return Entry(self.unknown(request), counts=self.is_sign_in(request))
        try:
            caller = identify(request, now=timezone.now())
        except Unauthorized as refusal:
            return Entry(self.unknown(request), refusal)
        request.caller = caller  # type: ignore[attr-defined]
        return Entry(Allowance(bucket=caller.bucket, limit=caller.tier.per_minute, window_s=MINUTE_S))

    def unknown(self, request: HttpRequest) -> Allowance:
        """Free, by address."""
        limit = SIGN_INS if self.is_sign_in(request) else FREE.per_minute
        return Allowance(bucket=address_bucket(request), limit=limit, window_s=MINUTE_S)

    def is_sign_in(self, request: HttpRequest) -> bool:
        """Whether the path is of signing in and out."""
        return errors.is_below(request, "/v1/auth")

    def policy_of(self, request: HttpRequest) -> str:
        """Two limits, counted apart."""
        return "auth" if self.is_sign_in(request) else self.policy

    def stamp(self, request: HttpRequest, response: HttpResponseBase, usage: Usage) -> None:
        """Add the tier to the rate headers."""
        super().stamp(request, response, usage)
        caller: Caller | None = getattr(request, "caller", None)
        response["X-Tier"] = caller.tier.name if caller else FREE.name

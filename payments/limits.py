"""The doorway of the data API: no key needed, a rate a minute by tier."""

from django.http import HttpRequest, HttpResponseBase

from config.api.limits import Allowance, Doorway, Entry, Usage, address_bucket
from payments.callers import identify
from payments.tiers import FREE

MINUTE_S = 60


class DataDoorway(Doorway):
    """Leaves the Caller on the request, and says its tier on every answer."""

    prefix = "/v1"
    policy = "data"

    def enter(self, request: HttpRequest) -> Entry:
        """Find the caller."""
        caller = identify(request)
        request.caller = caller  # type: ignore[attr-defined]
        return Entry(Allowance(bucket=caller.bucket, limit=caller.tier.per_minute, window_s=MINUTE_S))

    def unknown(self, request: HttpRequest) -> Allowance:
        """Free, by address."""
        return Allowance(bucket=address_bucket(request), limit=FREE.per_minute, window_s=MINUTE_S)

    def stamp(self, request: HttpRequest, response: HttpResponseBase, usage: Usage) -> None:
        """Add the tier to the rate headers."""
        super().stamp(request, response, usage)
        caller = getattr(request, "caller", None)
        response["X-Tier"] = caller.tier.name if caller else FREE.name

"""Who calls the data API, and on which tier."""

from dataclasses import dataclass

from django.http import HttpRequest

from config.api.limits import address_bucket
from payments.tiers import FREE, Tier


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who calls: `bucket` is what their rate counts on, `wallet` the address that a session has proven."""

    bucket: str
    tier: Tier
    wallet: str | None = None


def identify(request: HttpRequest) -> Caller:
    """The caller behind a request: without a proof of holdings, the address on the free tier."""
    return Caller(bucket=address_bucket(request), tier=FREE)

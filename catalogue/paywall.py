"""HTTP responses of the data API: free ones are cacheable with an ETag, sold ones need a payment."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request

from catalogue.responses import Content
from framework.api import conditional_requests, fast_path
from framework.api.renderers import JSONRenderer
from framework.signed_tokens import KeyedHash
from payments.interface import (
    CALLER_HEADERS,
    TIERS,
    PaidResponse,
    Purchase,
    Tier,
    TierRequired,
    caller_of,
    collect_payment,
    is_free_by_plan,
    parse_proof,
    read_signed_payment,
)
from payments.models import Product

# "Open now" may be a minute old; a cache may serve it five more minutes while it revalidates.
PUBLIC_CACHE = "public, max-age=60, stale-while-revalidate=300"
NO_STORE = "private, no-store"
VARY = ", ".join(CALLER_HEADERS)
SAFE = ("GET", "HEAD")
ETAG_HASH = KeyedHash("catalogue.paywall")


def build_response(
    request: Request, body: Any, *, sold: Sequence[str] = (), now: datetime, etag_of: bytes | None = None
) -> HttpResponse:
    """Return the response with this body (JSON bytes, or values to render), after payment if products are `sold` with
    it.

    A body that the client has, by If-None-Match, is 304 and free. `etag_of` is the content of a weak ETag, for a body
    with members that change by themselves (a cursor, a moment). Raises what payments.checkout.collect raises. Call it
    last and outside of transactions, because the payment cannot be undone.
    """
    content = body if isinstance(body, bytes) else JSONRenderer().render(body)
    etag = compute_etag(content) if etag_of is None else f"W/{compute_etag(etag_of)}"
    if client_has(request, etag, accepts_any=not sold):
        unchanged = HttpResponse(status=304)
        del unchanged["Content-Type"]
        return set_cache_headers(unchanged, etag, NO_STORE if sold else PUBLIC_CACHE)
    if not sold:
        return set_cache_headers(HttpResponse(content, content_type=JSONRenderer.media_type), etag, PUBLIC_CACHE)
    caller = caller_of(request)
    if is_free_by_plan(sold, caller=caller, now=now):
        return set_cache_headers(HttpResponse(content, content_type=JSONRenderer.media_type), etag, NO_STORE)
    receipt = collect_payment(
        Purchase.for_request(request),
        products=sold,
        caller=caller,
        # A HEAD request receives no content.
        proof=None if request.method == "HEAD" else parse_proof(request.headers),
        receipt_token=request.headers.get("X-Receipt"),
        now=now,
    )
    return set_cache_headers(PaidResponse(content, receipt), etag, NO_STORE)


def serve(request: Request, content: Content, *, now: datetime) -> HttpResponse:
    """Return the response with this content; see `build_response`."""
    return build_response(request, content.body, sold=content.sold, now=now, etag_of=content.etag_of())


def require_tier(request: Request, tier: Tier) -> None:
    """Raise TierRequired for a caller below a tier."""
    caller_tier = caller_of(request).tier
    if caller_tier < tier:
        raise TierRequired(
            f"This is for the {tier.name} tier and above, and you call on the {caller_tier.name} tier.",
            extra={"tier": caller_tier.name, "tier_required": tier.name},
            headers={"Cache-Control": "no-store"},
        )


def is_buyer(
    request: Request | HttpRequest, product: str, *, meta: Mapping[str, Any] | None = None, now: datetime
) -> bool:
    """Whether the caller could buy the product: their tier suffices, or the request has a signed payment.

    `meta` contains the payment of an MCP message. One query, and one more with a payment.
    """
    from_tier = Product.objects.filter(pk=product).values_list("from_tier", flat=True).first()
    if from_tier is None:
        return False
    return caller_of(request).tier >= TIERS[from_tier] or read_signed_payment(request, meta=meta, now=now) is not None


def compute_etag(content: bytes) -> str:
    """Return the entity tag of a content, keyed so that sold content cannot be guessed and confirmed for free."""
    return f'"{ETAG_HASH.hexdigest(content)[:32]}"'


def client_has(request: Request, etag: str, *, accepts_any: bool) -> bool:
    """Whether If-None-Match names the content. `*` counts only with `accepts_any`, because it proves nothing."""
    known = request.META.get("HTTP_IF_NONE_MATCH")
    if known is None or request.method not in SAFE or (known.strip() == "*" and not accepts_any):
        return False
    return conditional_requests.matches_if_none_match(request, etag.removeprefix("W/").strip('"'))


def set_cache_headers(response: HttpResponse, etag: str, caching: str) -> HttpResponse:
    """Set the headers for caches on a response. It varies by caller, because tiers see different content."""
    fast_path.set_headers(response, (("ETag", etag), ("Cache-Control", caching), ("Vary", VARY)))
    return response

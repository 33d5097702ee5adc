"""How answers of the data API leave: free ones with an ETag that caches keep, sold ones through the gate."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request

from catalogue.responses import Content
from framework.api import conditional_requests
from framework.api.fast_path import headers
from framework.api.renderers import JSONRenderer
from framework.signed_tokens import KeyedHash
from payments import checkout, x402
from payments.checkout import TierRequired
from payments.identity.caller import caller_of, read_signed_payment
from payments.models import Product
from payments.tiers.definitions import TIERS, Tier

# A minute is as fresh as "open now" is asked for; five more while a cache fetches the next.
SHARED = "public, max-age=60, stale-while-revalidate=300"
OWN = "private, no-store"
VARY = ", ".join(x402.CALLER_HEADERS)
SAFE = ("GET", "HEAD")
ETAG_HASH = KeyedHash("catalogue.paywall")


def answer(
    request: Request, body: Any, *, sold: Sequence[str] = (), now: datetime, etag_of: bytes | None = None
) -> HttpResponse:
    """The answer with this body, bytes of JSON or plain values; paid for first where products are `sold` with it.

    An answer that the caller has already, by If-None-Match, is 304 and free. `etag_of` is what counts as the content
    where the body also tells what changes by itself, a cursor or a moment; the ETag is weak then. Raises what
    payments.checkout.collect raises; call it outside of any transaction, when nothing can fail any more.
    """
    content = body if isinstance(body, bytes) else JSONRenderer().render(body)
    etag = tag(content) if etag_of is None else f"W/{tag(etag_of)}"
    if has(request, etag, any_will_do=not sold):
        unchanged = HttpResponse(status=304)
        del unchanged["Content-Type"]
        return stamped(unchanged, etag, OWN if sold else SHARED)
    if not sold:
        return stamped(HttpResponse(content, content_type=JSONRenderer.media_type), etag, SHARED)
    caller = caller_of(request)
    if checkout.is_free_by_plan(sold, caller=caller, now=now):
        return stamped(HttpResponse(content, content_type=JSONRenderer.media_type), etag, OWN)
    receipt = checkout.collect(
        checkout.Purchase.for_request(request),
        products=sold,
        caller=caller,
        # Who asks for the head alone gets no goods.
        proof=None if request.method == "HEAD" else x402.parse_proof(request.headers),
        receipt_token=request.headers.get("X-Receipt"),
        now=now,
    )
    return stamped(x402.PaidResponse(content, receipt), etag, OWN)


def served(request: Request, content: Content, *, now: datetime) -> HttpResponse:
    """The answer with this content; see `answer`."""
    return answer(request, content.body, sold=content.sold, now=now, etag_of=content.etag_of())


def require_tier(request: Request, tier: Tier) -> None:
    """Refuse a caller below this tier what is free but not for everybody. Raises TierRequired."""
    theirs = caller_of(request).tier
    if theirs < tier:
        raise TierRequired(
            f"This is for the {tier.name} tier and above, and you call on the {theirs.name} tier.",
            extra={"tier": theirs.name, "tier_required": tier.name},
            headers={"Cache-Control": "no-store"},
        )


def is_buyer(
    request: Request | HttpRequest, product: str, *, meta: Mapping[str, Any] | None = None, now: datetime
) -> bool:
    """Whether the caller could buy the product: by their tier, or as a payment that they have signed came along.

    `meta` is where the payment of a message of MCP stands. One query, and one more where a payment came.
    """
    from_tier = Product.objects.filter(pk=product).values_list("from_tier", flat=True).first()
    if from_tier is None:
        return False
    return caller_of(request).tier >= TIERS[from_tier] or read_signed_payment(request, meta=meta, now=now) is not None


def tag(content: bytes) -> str:
    """The entity tag of a content. Keyed, so that a sold one cannot be guessed and then confirmed for free."""
    return f'"{ETAG_HASH.hexdigest(content)[:32]}"'


def has(request: Request, etag: str, *, any_will_do: bool) -> bool:
    """Whether If-None-Match names the content; `*` is for what everybody may have, as it proves nothing."""
    known = request.META.get("HTTP_IF_NONE_MATCH")
    if known is None or request.method not in SAFE or (known.strip() == "*" and not any_will_do):
        return False
    return conditional_requests.matches_if_none_match(request, etag.removeprefix("W/").strip('"'))


def stamped(response: HttpResponse, etag: str, caching: str) -> HttpResponse:
    """The same answer with what caches need to know."""
    # Tiers see different things at one address.
    headers.set_headers(response, (("ETag", etag), ("Cache-Control", caching), ("Vary", VARY)))
    return response

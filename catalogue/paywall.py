"""HTTP responses of the data API: free ones are cacheable with an ETag, sold ones need a payment."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request

from catalogue.attribution import list_sources
from catalogue.responses import Content
from framework.api import conditional_requests, fast_path
from framework.api.renderers import JSONRenderer
from framework.signed_tokens import KeyedHash
from payments.interface import (
    CALLER_HEADERS,
    STANDARD,
    TIERS,
    PaidResponse,
    Purchase,
    Tier,
    TierRequired,
    caller_of,
    collect_payment,
    is_free_by_plan,
    parse_proof,
    read_receipt_token,
    read_signed_payment,
)
from payments.models import Payment, Product

# "Open now" may be a minute old; a cache may serve it five more minutes while it revalidates.
PUBLIC_CACHE = "public, max-age=60, stale-while-revalidate=300"
NO_STORE = "private, no-store"
VARY = ", ".join(CALLER_HEADERS)
SAFE = ("GET", "HEAD")
AI_INSIGHT = "ai_insight"
# How long the buyer of an insight can read the reviews that it cites, and how many payments are searched for it.
CITATIONS_READABLE_FOR = timedelta(hours=24)
MAX_PAYMENTS = 1_000
ETAG_HASH = KeyedHash("catalogue.paywall")


def build_response(
    request: Request,
    body: Any,
    *,
    sold: Sequence[str] = (),
    is_bought: bool = False,
    quoted: Sequence[str] = (),
    now: datetime,
    etag_of: bytes | None = None,
    at: datetime | None = None,
    version: int | None = None,
) -> HttpResponse:
    """Return the response with this body (JSON bytes, or values to render), after payment if products are `sold` with
    it.

    A body that the client has, by If-None-Match, is 304 and free. `etag_of` is the content of a weak ETag, for a body
    with members that change by themselves (a cursor, a moment). `is_bought`, `quoted`, `at` and `version` are those
    of Content.
    Raises what payments.checkout.collect raises. Call it last and outside of transactions, because the payment cannot
    be undone.
    """
    if quoted:
        require_signed_payment(request, Purchase.for_request(request), quoted, now=now)
    content = body if isinstance(body, bytes) else JSONRenderer().render(body)
    etag = compute_etag(content) if etag_of is None else f"W/{compute_etag(etag_of)}"
    # Empty answers are equal, so that the ETag of one would confirm another.
    if not quoted and client_has(request, etag, accepts_any=not sold):
        unchanged = HttpResponse(status=304)
        del unchanged["Content-Type"]
        return set_cache_headers(unchanged, etag, NO_STORE if sold else PUBLIC_CACHE)
    if not sold:
        caching = NO_STORE if quoted else PUBLIC_CACHE
        return set_cache_headers(HttpResponse(content, content_type=JSONRenderer.media_type), etag, caching)
    caller = caller_of(request)
    if is_bought or is_free_by_plan(sold, caller=caller, now=now):
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
    answer = PaidResponse(content, receipt, at=at or now, version=version, sources=list_sources(content))
    return set_cache_headers(answer, etag, NO_STORE)


def serve(request: Request, content: Content, *, now: datetime) -> HttpResponse:
    """Return the response with this content; see `build_response`."""
    return build_response(
        request,
        content.body,
        sold=content.sold,
        is_bought=content.is_bought,
        quoted=content.quoted,
        now=now,
        etag_of=content.etag_of(),
        at=content.at,
        version=content.version,
    )


def require_signed_payment(
    request: Request | HttpRequest,
    purchase: Purchase,
    products: Sequence[str],
    *,
    meta: Mapping[str, Any] | None = None,
    now: datetime,
) -> None:
    """Raise the price of these products as PaymentRequired, unless the request has a signed payment for us.

    It is not settled. `meta` contains the payment of an MCP message. One query with the price, none otherwise.
    """
    caller = caller_of(request)
    if not is_free_by_plan(products, caller=caller, now=now) and not read_signed_payment(request, meta=meta, now=now):
        collect_payment(purchase, products=products, caller=caller, proof=None, receipt_token=None, now=now)


def has_bought_insight(request: Request | HttpRequest, slug: str, *, receipt_token: str | None, now: datetime) -> bool:
    """Whether the caller has bought the insight of this restaurant lately, by a receipt or by a proven wallet.

    One query, none for a caller who brings neither.
    """
    wallets, payment = caller_of(request).wallets, read_receipt_token(receipt_token)
    if not wallets and payment is None:
        return False
    bought = Payment.objects.filter(
        Q(payer__in=wallets) | Q(pk=payment),
        state__in=Payment.EARNED,
        products__contains=[AI_INSIGHT],
        created_at__gt=now - CITATIONS_READABLE_FOR,
    )
    resources = bought.order_by("-created_at").values_list("resource", flat=True)[:MAX_PAYMENTS]
    return any(_is_about(resource, slug) for resource in resources)


def _is_about(resource: str, slug: str) -> bool:
    """Whether the address of a purchase is that of an insight or a record of this restaurant."""
    url = urlsplit(resource)
    if url.scheme == "mcp":
        return parse_qs(url.query).get("slug") == [slug]
    return url.path.rstrip("/").removesuffix("/insight").endswith(f"/v1/restaurants/{slug}")


def require_tier(request: Request, tier: Tier) -> None:
    """Raise TierRequired for a caller below a tier, or without a proven wallet or key: a payment can be copied."""
    caller = caller_of(request)
    terms = caller.terms if caller.is_identified else STANDARD
    if terms.tier < tier:
        raise TierRequired(
            f"This is for the {tier.name} tier and above, and you call on the {terms.tier.name} tier.",
            terms=terms,
            required=tier,
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

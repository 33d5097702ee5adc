"""The landing page at `/`: what Tablewire is, with example calls that the page makes."""

import json
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.models import Venue
from accounts.seed import FURNISHED
from catalogue import search
from catalogue.agent_discovery import x402_manifest
from catalogue.agent_discovery.x402_manifest import CARD, MCP
from catalogue.models import Market, Review, SearchRow
from config.website.docs import highlight
from framework.api.urls import public_url
from framework.cache import CachedValue
from framework.db.row_estimates import estimate_rows
from framework.errors import InvalidRequest
from payments.tiers.definitions import FREE

CACHE_TTL_S = 60.0
# Of the example call, with so many restaurants.
EXAMPLE_PLACE, EXAMPLE_LIMIT = "Tivoli", 2
# The field that every tier may buy.
PAID_FIELD = "context"
# For agents that read headers only (RFC 8631).
LINKS = (
    '</llms.txt>; rel="alternate"; type="text/markdown", </docs>; rel="service-doc",'
    ' </docs/openapi/data.json>; rel="service-desc", </docs/openapi/management.json>; rel="service-desc",'
    f' <{CARD}>; rel="service-meta"'
)


def load_extent() -> dict[str, Any]:
    """Read approximate numbers of rows, and the demo restaurant if it can be booked online. At most four queries."""
    estimates = estimate_rows([SearchRow, Review])
    demo = Venue.objects.filter(name=FURNISHED, is_bookable_online=True, account__closed_at=None)
    return {
        # A table that was never analysed is new and small.
        "restaurants": estimates[SearchRow] or SearchRow.objects.count(),
        "reviews": estimates[Review],
        "markets": Market.objects.count(),
        "demo": demo.order_by("created_at", "id").first(),
    }


cached_extent = CachedValue(load_extent)


def load_example() -> dict[str, Any] | None:
    """Search the data API near a well-known place, or near a market's city where this one is unknown.

    Return the place, the JSON of the answer as highlighted HTML, and the slug of its first restaurant; None without
    restaurants. A dozen queries at most.
    """
    cities = Market.objects.order_by("name").values_list("name", flat=True)[:1]
    for near in (EXAMPLE_PLACE, *cities):
        try:
            page = search.search_restaurants(search.Query(near=near, limit=EXAMPLE_LIMIT), now=timezone.now())
        except InvalidRequest:
            continue
        if page.hits:
            answer = json.dumps(json.loads(page.to_json()), indent=2, ensure_ascii=False)
            code = highlight(answer, "json")
            return {"near": near, "limit": EXAMPLE_LIMIT, "answer": code, "slug": page.hits[0].slug}
    return None


cached_example = CachedValue(load_example)


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    """The page; while the database is not available, without counts and prices."""
    extent = cached_extent.get_or_stale(max_age_s=CACHE_TTL_S)
    prices = x402_manifest.cached_prices.get_or_stale(max_age_s=CACHE_TTL_S) or {}
    context = {
        "base": settings.PUBLIC_BASE_URL.rstrip("/"),
        "extent": extent,
        "restaurants": f"{extent['restaurants']:,}" if extent else "",
        "reviews": f"{extent['reviews']:,}" if extent and extent["reviews"] else "",
        "free_per_minute": FREE.per_minute,
        "example": cached_example.get_or_stale(max_age_s=CACHE_TTL_S),
        "prices": x402_manifest.price_ranges(prices),
        "paid_field": PAID_FIELD,
        "paid_field_price": x402_manifest.amount(prices.get(PAID_FIELD, {}).get(FREE.rate)),
        "mcp": public_url(MCP),
    }
    response = render(request, "landing/landing.html", context)
    response["Link"] = LINKS
    return response

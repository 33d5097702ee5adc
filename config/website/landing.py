"""The page at `/`: what Tablewire is, in one screen, with calls that are made from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.models import Venue
from accounts.seed import FURNISHED
from catalogue.agent_discovery import x402_manifest
from catalogue.agent_discovery.x402_manifest import MCP, absolute
from catalogue.models import Market, Review, SearchRow
from framework.cache import Lately
from payments.tiers.definitions import FREE

REMEMBERED_S = 60.0
# What the planner believes: counting millions of rows would take longer than the page.
BELIEVED = "SELECT relname, greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = ANY(%s::regclass[])"


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is, about; and where the demo's restaurant takes guests."""

    restaurants: int
    reviews: int
    markets: int
    demo: str | None


def read() -> Extent:
    """The extent of this moment. Four queries at most."""
    tables = [SearchRow._meta.db_table, Review._meta.db_table]
    with connection.cursor() as cursor:
        cursor.execute(BELIEVED, [tables])
        believed = dict(cursor.fetchall())
    # A table that was never analysed is young, and small.
    restaurants = believed[tables[0]] or SearchRow.objects.count()
    demo = Venue.objects.filter(name=FURNISHED, is_bookable_online=True, account__closed_at=None)
    first = demo.order_by("created_at", "id").first()
    return Extent(
        restaurants=restaurants,
        reviews=believed[tables[1]],
        markets=Market.objects.count(),
        demo=first.public_id if first else None,
    )


lately: Lately[Extent] = Lately(read)


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    """The page, also while the database is away: then without counts and prices."""
    extent = lately.as_known(REMEMBERED_S)
    context = {
        "base": settings.PUBLIC_BASE_URL.rstrip("/"),
        "extent": extent,
        "restaurants": f"{extent.restaurants:,}" if extent else "",
        "reviews": f"{extent.reviews:,}" if extent and extent.reviews else "",
        "free_per_minute": FREE.per_minute,
        "prices": told(x402_manifest.lately_priced.as_known(REMEMBERED_S) or {}),
        "mcp": absolute(MCP),
    }
    return render(request, "landing/landing.html", context)


def told(priced: Mapping[str, Mapping[str, Decimal]]) -> list[dict[str, str | None]]:
    """What is sold by the call, with its lowest and highest price in USDC."""
    return [
        {
            "product": product.replace("_", " "),
            "low": x402_manifest.amount(min(rates.values())),
            "high": x402_manifest.amount(max(rates.values())),
        }
        for product, rates in sorted(priced.items())
        if rates and not product.startswith("export_")
    ]

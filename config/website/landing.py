"""The landing page, with live API calls."""

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

MAX_AGE_S = 60.0
# The planner's estimate: counting millions of rows would take too long.
ROW_ESTIMATES = "SELECT relname, greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = ANY(%s::regclass[])"


@dataclass(frozen=True, slots=True)
class Extent:
    """Approximate totals, and the venue id of the demo booking page."""

    restaurants: int
    reviews: int
    markets: int
    demo: str | None


def read() -> Extent:
    """Read the current totals. At most four queries."""
    tables = [SearchRow._meta.db_table, Review._meta.db_table]  # noqa: SLF001  # Django's documented attribute
    with connection.cursor() as cursor:
        cursor.execute(ROW_ESTIMATES, [tables])
        estimates = dict(cursor.fetchall())
    # A table that was never analysed is new and small.
    restaurants = estimates[tables[0]] or SearchRow.objects.count()
    demo = Venue.objects.filter(name=FURNISHED, is_bookable_online=True, account__closed_at=None)
    first = demo.order_by("created_at", "id").first()
    return Extent(
        restaurants=restaurants,
        reviews=estimates[tables[1]],
        markets=Market.objects.count(),
        demo=first.public_id if first else None,
    )


lately: Lately[Extent] = Lately(read)


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    """Render the page; without totals and prices while the database is unavailable."""
    extent = lately.as_known(MAX_AGE_S)
    context = {
        "base": settings.PUBLIC_BASE_URL.rstrip("/"),
        "extent": extent,
        "restaurants": f"{extent.restaurants:,}" if extent else "",
        "reviews": f"{extent.reviews:,}" if extent and extent.reviews else "",
        "free_per_minute": FREE.per_minute,
        "prices": price_ranges(x402_manifest.lately_priced.as_known(MAX_AGE_S) or {}),
        "mcp": absolute(MCP),
    }
    return render(request, "landing/landing.html", context)


def price_ranges(priced: Mapping[str, Mapping[str, Decimal]]) -> list[dict[str, str | None]]:
    """Return the products paid per call, with the lowest and the highest price in USDC."""
    return [
        {
            "product": product.replace("_", " "),
            "low": x402_manifest.amount(min(rates.values())),
            "high": x402_manifest.amount(max(rates.values())),
        }
        for product, rates in sorted(priced.items())
        if rates and not product.startswith("export_")
    ]

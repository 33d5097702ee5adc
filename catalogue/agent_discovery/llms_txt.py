"""/llms.txt in the format of llmstxt.org, and the documentation pages that it links."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from django.conf import settings
from django.template.loader import render_to_string

from catalogue.agent_discovery import x402_manifest
from catalogue.agent_discovery.x402_manifest import amount
from catalogue.models import Market, SearchRow
from framework.api.urls import public_url
from framework.cache import CachedValue
from payments.interface import FREE

BASE = Path(settings.BASE_DIR)
PAGES = BASE / "docs"
# Counting 354,000 rows takes 30 ms.
COUNTS_MAX_AGE_S = 600.0

# The pages for callers of the data API; the others are for venues and operators.
FOR_CALLERS: Mapping[str, str] = {
    "quickstart-data-buyer": "a search, a price, a payment and an export in five minutes",
    "quickstart-agent-builder": "calls of tools, and a price, in five minutes",
    "search": "by place, words, hours, cuisine, price, stars and offers",
    "finding": "landmarks, suggestions while somebody types, and which restaurant a place of your list is",
    "records": "what a restaurant has, what it was, and what changes",
    "hours": "when it is open, on which clock",
    "reviews": "reviews, photos, surroundings and insights, which are sold",
    "offers": "discounts at a time of day, and how a table is booked at one",
    "exports": "the whole catalogue as files",
    "paying": "a call for a fraction of a cent: x402 in full",
    "receipts": "signed offers, receipts and statements, and how to verify them",
    "tiers": "limits and prices by what your wallet holds or stakes",
    "ledger": "your payments, and refunds",
    "reports": "saying what is wrong",
    "errors": "every code, and what to do about it",
    "versions": "what may change, and how you learn of it",
}
PRICES_PAGES = ("paying", "tiers")
# The address in the files' examples: that of `manage.py up`.
EXAMPLE_ADDRESS = "http://127.0.0.1:8000"


# How many restaurants are listed, in how many markets. Two queries.
cached_counts: CachedValue[tuple[int, int]] = CachedValue(lambda: (SearchRow.objects.count(), Market.objects.count()))


def render() -> bytes:
    """Render the document; without counts and prices if the database is down and they were never read."""
    context = {
        "base": public_url(""),
        "size": _size(),
        "per_minute": FREE.per_minute,
        "prices": _prices(),
        "prices_pages": [f"{_link(name)}: {FOR_CALLERS[name]}" for name in PRICES_PAGES],
        "caller_pages": [f"{_link(name)}: {words}" for name, words in FOR_CALLERS.items() if name not in PRICES_PAGES],
        "other_pages": [_link(name) for name in pages() if name not in (*FOR_CALLERS, "mcp")],
    }
    return render_to_string("llms.txt", context).encode()


def render_full() -> bytes:
    """The document with the text of the pages for callers and agents, about 100 kB."""
    texts = (read_page(PAGES / f"{name}.md").encode() for name in ("mcp", *FOR_CALLERS))
    return b"\n\n".join([render(), *texts])


def read_page(file: Path) -> str:
    """The Markdown of a page; requests in its examples have the address of this server."""
    return file.read_text().replace(EXAMPLE_ADDRESS, public_url(""))


def _size() -> str:
    """The size of the catalogue as text; empty if it is unknown."""
    counts = cached_counts.get_or_stale(max_age_s=COUNTS_MAX_AGE_S)
    return f" ({counts[0]:,} restaurants in {counts[1]} markets)" if counts else ""


def _prices() -> str:
    """The lowest and highest price of each product; empty if they are unknown."""
    prices = x402_manifest.cached_prices.get_or_stale(max_age_s=x402_manifest.MAX_AGE_S) or {}
    ranges = [
        f"{product} {amount(min(rates.values()))} to {amount(max(rates.values()))}"
        for product, rates in sorted(prices.items())
        if rates
    ]
    return f"; now, in USDC by tier: {', '.join(ranges)}" if ranges else ""


def pages() -> list[str]:
    """The names of all pages, sorted."""
    return sorted(path.stem for path in PAGES.glob("*.md"))


@cache
def files() -> Mapping[str, Path]:
    """The served files of the documentation by path: the pages and the files that they link."""
    linked = (path for pattern in ("*.md", "*.svg", "decisions/*.md") for path in PAGES.glob(pattern))
    return {path.relative_to(BASE).as_posix(): path for path in (BASE / "CHANGELOG.md", *linked)}


def _link(name: str) -> str:
    title = (PAGES / f"{name}.md").read_text().partition("\n")[0].removeprefix("# ")
    return f"[{title}]({public_url(f'/docs/{name}.md')})"

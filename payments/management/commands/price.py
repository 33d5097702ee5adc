"""`manage.py price`: shows and changes the prices of products."""

import getpass
import json
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from rich.console import Console
from rich.table import Table

from framework.errors import ApiError, InvalidRequest, unknown_name
from payments.formatting import format_amount, format_time
from payments.models import Price, Product
from payments.pricing import price_changes
from payments.pricing.price_changes import NewPrice, ProductPrices
from payments.tiers.definitions import TIERS, Tier

# Width of a table in a file or a pipe.
PRINTED_WIDTH = 140


class Command(BaseCommand):
    """`manage.py price list|set|close|cancel|open|history`."""

    help = "Show and change the prices of products, by product and tier. Prices are in USDC, times in UTC."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        list_ = verbs.add_parser("list", help="show all products with their prices at the four rates")
        set_ = verbs.add_parser(
            "set", help="sell a product to a tier at a price: sets its rate, and opens it to the tier"
        )
        close = verbs.add_parser("close", help="end the sale of a product at the rate of a tier")
        cancel = verbs.add_parser("cancel", help="cancel the future prices of a product for a tier")
        open_ = verbs.add_parser("open", help="sell a product from a tier on, and to none below it")
        history = verbs.add_parser("history", help="show all past, current and future prices of a product")
        for verb in (set_, close, cancel, open_, history):
            verb.add_argument("product", metavar="PRODUCT", help="its slug: reviews")
        for verb in (set_, close, cancel, open_):
            verb.add_argument("tier", metavar="TIER", help=", ".join(TIERS))
        set_.add_argument("amount", metavar="USDC", help="for a call, as 0.004")
        for verb in (set_, close, open_):
            verb.add_argument("--yes", action="store_true", help="confirm an unusual change")
        for verb in (set_, close):
            verb.add_argument("--from", dest="valid_from", metavar="TIME", help="2026-12-01T00:00Z (default now)")
        for verb in (list_, set_, close, cancel, open_, history):
            verb.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        run = getattr(self, f"run_{options['verb']}")
        try:
            run(options, timezone.now())
        except price_changes.ConfirmationRequired as required:
            raise CommandError(f"{required.message} Nothing was changed. Add --yes if you mean it.") from required
        except ApiError as refusal:
            raise CommandError(refusal.message) from refusal

    def run_list(self, options: dict[str, Any], now: datetime) -> None:
        products = price_changes.list_product_prices(now=now)
        if options["json"]:
            self._print_json({"data": [product_json(prices) for prices in products]})
            return
        headings = ["product", "sold from", *(f"{tier.rate} ({name})" for name, tier in TIERS.items())]
        rows = (
            [prices.product.slug, prices.product.from_tier, *(_cell(prices, tier) for tier in TIERS.values())]
            for prices in products
        )
        self._print_table(headings, rows)

    def run_set(self, options: dict[str, Any], now: datetime) -> None:
        product, tier = price_changes.get_product(options["product"]), get_tier(options["tier"])
        prices, opened = price_changes.set_tier_price(
            product,
            tier,
            parse_amount(options["amount"]),
            valid_from=parse_time(options["valid_from"]),
            by=actor(),
            now=now,
            is_confirmed=options["yes"],
        )
        self._report(options, product, prices=prices, opened=opened)

    def run_close(self, options: dict[str, Any], now: datetime) -> None:
        product, tier = price_changes.get_product(options["product"]), get_tier(options["tier"])
        end = NewPrice(tier.rate, None, parse_time(options["valid_from"]))
        prices = price_changes.set_prices(product, [end], by=actor(), now=now, is_confirmed=options["yes"])
        self._report(options, product, prices=prices)

    def run_cancel(self, options: dict[str, Any], now: datetime) -> None:
        product, tier = price_changes.get_product(options["product"]), get_tier(options["tier"])
        upcoming = product.prices.filter(rate=tier.rate, valid_from__gt=now).values_list("pk", flat=True)
        cancelled = price_changes.cancel_prices(upcoming, now=now)
        self._report(options, product, cancelled=cancelled, unchanged="there is no future price")

    def run_open(self, options: dict[str, Any], now: datetime) -> None:
        product, tier = price_changes.get_product(options["product"]), get_tier(options["tier"])
        opened = price_changes.set_minimum_tier(product, tier, is_confirmed=options["yes"])
        self._report(options, product, opened=opened)

    def run_history(self, options: dict[str, Any], now: datetime) -> None:
        prices = price_changes.list_price_history(price_changes.get_product(options["product"]))
        if options["json"]:
            self._print_json({"data": [price_json(price) for price in prices]})
            return
        rows = (
            [
                *(price.rate, format_amount(price.amount_usdc), format_time(price.valid_from)),
                *(price.by, format_time(price.created_at)),
            ]
            for price in prices
        )
        self._print_table(["rate", "USDC", "from", "set by", "set at"], rows)

    def _report(
        self,
        options: dict[str, Any],
        product: Product,
        *,
        prices: Iterable[Price] = (),
        opened: bool = False,
        cancelled: int = 0,
        unchanged: str = "that is so already",
    ) -> None:
        product.refresh_from_db()
        if options["json"]:
            rows = [price_json(price) for price in prices]
            self._print_json({"set": rows, "cancelled": cancelled, "from_tier": product.from_tier})
            return
        lines = [
            f"{product.slug}, {price.rate}: {format_amount(price.amount_usdc)} from {format_time(price.valid_from)}."
            for price in prices
        ]
        if cancelled:
            lines.append(f"{product.slug}: {cancelled} cancelled.")
        if opened:
            lines.append(f"{product.slug} is sold from the {product.from_tier} tier on.")
        self.stdout.write("\n".join(lines) or f"{product.slug}: {unchanged}.")

    def _print_json(self, content: object) -> None:
        self.stdout.write(json.dumps(content, indent=2))

    def _print_table(self, headings: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
        table = Table(*headings)
        for row in rows:
            table.add_row(*row)
        width = None if self.stdout.isatty() else PRINTED_WIDTH
        Console(file=cast("IO[str]", self.stdout), width=width).print(table)


def product_json(prices: ProductPrices) -> dict[str, Any]:
    """Return a product as JSON."""
    return {
        "product": prices.product.slug,
        "from_tier": prices.product.from_tier,
        "prices": {tier.rate: _amount_json(prices.amount(tier.rate)) for tier in TIERS.values()},
        "upcoming": [price_json(price) for tier in TIERS.values() for price in prices.upcoming(tier.rate)],
    }


def price_json(price: Price) -> dict[str, Any]:
    """Return a price as JSON: the amount is text, or null if the product is not sold."""
    return {
        "rate": price.rate,
        "amount": _amount_json(price.amount_usdc),
        "valid_from": price.valid_from.isoformat(),
        "by": price.by,
        "created_at": price.created_at.isoformat(),
    }


def get_tier(name: str) -> Tier:
    """Return the tier. Raises InvalidRequest with the names of all tiers."""
    if name not in TIERS:
        raise InvalidRequest(unknown_name("tier", name, list(TIERS)).message)
    return TIERS[name]


def parse_amount(text: str) -> Decimal:
    """Parse an amount in USDC. Raises InvalidRequest."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise InvalidRequest(f"`{text}` is no price: write it as 0.004, in USDC.") from None


def parse_time(text: str | None) -> datetime | None:
    """Parse a time with its zone. Raises InvalidRequest."""
    if text is None:
        return None
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidRequest(f"`{text}` is no time with its zone: write it as 2026-12-01T00:00Z.")
    return moment


def actor() -> str:
    """Return the name of the operating system's user, for the price history."""
    try:
        return f"command:{getpass.getuser()}"
    except (KeyError, OSError):
        # A container's user may have no name.
        return "command"


def _cell(prices: ProductPrices, tier: Tier) -> str:
    upcoming = (
        f"{format_amount(price.amount_usdc)} from {format_time(price.valid_from)}"
        for price in prices.upcoming(tier.rate)
    )
    return "\n".join([format_amount(prices.amount(tier.rate)), *upcoming])


def _amount_json(amount: Decimal | None) -> str | None:
    return None if amount is None else format_amount(amount)

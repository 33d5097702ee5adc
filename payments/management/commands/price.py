"""`manage.py price`: shows and changes the prices of products."""

import getpass
import json
from argparse import ArgumentTypeError
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console
from rich.table import Table

from framework.errors import ApiError, unknown_name
from payments.formatting import format_amount, format_time
from payments.models import Price, Product
from payments.pricing import price_changes
from payments.pricing.price_changes import NewPrice
from payments.tiers.definitions import TIERS, Tier

# Width of a table in a file or a pipe.
PRINTED_WIDTH = 140


class Command(BaseCommand):
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
            verb.add_argument("tier", metavar="TIER", type=parse_tier, help=", ".join(TIERS))
        set_.add_argument("amount", metavar="USDC", type=parse_amount, help="for a call, as 0.004")
        for verb in (set_, close, open_):
            verb.add_argument("--yes", action="store_true", help="confirm an unusual change")
        for verb in (set_, close):
            verb.add_argument(
                "--from", dest="valid_from", metavar="TIME", type=parse_time, help="2026-12-01T00:00Z (default now)"
            )
        for verb in (list_, set_, close, cancel, open_, history):
            verb.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        if options["verb"] == "list":
            self.print_products(options, now)
            return
        try:
            product = price_changes.get_product(options["product"])
            if options["verb"] == "history":
                self.print_history(options, product)
                return
            prices, opened, cancelled = change(product, options, now)
        except price_changes.ConfirmationRequired as required:
            raise CommandError(f"{required.message} Nothing was changed. Add --yes if you mean it.") from required
        except ApiError as refusal:
            raise CommandError(refusal.message) from refusal
        product.refresh_from_db()
        if options["json"]:
            rows = [price_json(price) for price in prices]
            result = {"set": rows, "cancelled": cancelled, "from_tier": product.from_tier}
            self.stdout.write(json.dumps(result, indent=2))
            return
        lines = [
            f"{product.slug}, {price.rate}: {format_amount(price.amount_usdc)} from {format_time(price.valid_from)}."
            for price in prices
        ]
        if cancelled:
            lines.append(f"{product.slug}: {cancelled} cancelled.")
        if opened:
            lines.append(f"{product.slug} is sold from the {product.from_tier} tier on.")
        unchanged = "there is no future price" if options["verb"] == "cancel" else "that is so already"
        self.stdout.write("\n".join(lines) or f"{product.slug}: {unchanged}.")

    def print_products(self, options: dict[str, Any], now: datetime) -> None:
        products = Product.objects.order_by("slug").prefetch_related("prices")
        headings = ["product", "sold from", *(f"{tier.rate} ({name})" for name, tier in TIERS.items())]
        rows = (
            [product.slug, product.from_tier, *(table_cell(product, tier.rate, now) for tier in TIERS.values())]
            for product in products
        )
        self.print_rows(options, [product_json(product, now) for product in products], headings, rows)

    def print_history(self, options: dict[str, Any], product: Product) -> None:
        prices = price_changes.list_price_history(product)
        rows = (
            [
                *(price.rate, format_amount(price.amount_usdc), format_time(price.valid_from)),
                *(price.by, format_time(price.created_at)),
            ]
            for price in prices
        )
        data = [price_json(price) for price in prices]
        self.print_rows(options, data, ["rate", "USDC", "from", "set by", "set at"], rows)

    def print_rows(
        self, options: dict[str, Any], data: list[Any], headings: Iterable[str], rows: Iterable[Iterable[str]]
    ) -> None:
        if options["json"]:
            self.stdout.write(json.dumps({"data": data}, indent=2))
            return
        table = Table(*headings)
        for row in rows:
            table.add_row(*row)
        width = None if self.stdout.isatty() else PRINTED_WIDTH
        Console(file=cast("IO[str]", self.stdout), width=width).print(table)


def change(product: Product, options: dict[str, Any], now: datetime) -> tuple[Sequence[Price], bool, int]:
    """Return the new prices, whether the product was opened to the tier, and the number of cancelled prices."""
    tier: Tier = options["tier"]
    match options["verb"]:
        case "set":
            prices, opened = price_changes.set_tier_price(
                product,
                NewPrice(tier.rate, options["amount"], options["valid_from"]),
                tier=tier,
                by=actor(),
                now=now,
                is_confirmed=options["yes"],
            )
            return prices, opened, 0
        case "close":
            end = NewPrice(tier.rate, None, options["valid_from"])
            prices = price_changes.set_prices(product, [end], by=actor(), now=now, is_confirmed=options["yes"])
            return prices, False, 0
        case "cancel":
            upcoming = product.prices.filter(rate=tier.rate, valid_from__gt=now).values_list("pk", flat=True)
            return [], False, price_changes.cancel_prices(upcoming, now=now)
    return [], price_changes.set_minimum_tier(product, tier, is_confirmed=options["yes"]), 0


def product_json(product: Product, now: datetime) -> dict[str, Any]:
    prices = product.prices.all()
    amounts = {tier.rate: price_changes.amount_at(prices, tier.rate, now) for tier in TIERS.values()}
    return {
        "product": product.slug,
        "from_tier": product.from_tier,
        "prices": {rate: amount and format_amount(amount) for rate, amount in amounts.items()},
        "upcoming": [price_json(price) for rate in amounts for price in price_changes.upcoming(prices, rate, now)],
    }


def price_json(price: Price) -> dict[str, Any]:
    """Return a price as JSON: the amount is text, or null if the product is not sold."""
    return {
        "rate": price.rate,
        "amount": price.amount_usdc and format_amount(price.amount_usdc),
        "valid_from": price.valid_from.isoformat(),
        "by": price.by,
        "created_at": price.created_at.isoformat(),
    }


def parse_tier(name: str) -> Tier:
    if name not in TIERS:
        raise ArgumentTypeError(unknown_name("tier", name, list(TIERS)).message)
    return TIERS[name]


def parse_amount(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ArgumentTypeError(f"`{text}` is no price: write it as 0.004, in USDC.") from None


def parse_time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ArgumentTypeError(f"`{text}` is no time with its zone: write it as 2026-12-01T00:00Z.")
    return moment


def actor() -> str:
    try:
        return f"command:{getpass.getuser()}"
    except (KeyError, OSError):
        # A container's user may have no name.
        return "command"


def table_cell(product: Product, rate: str, now: datetime) -> str:
    prices = product.prices.all()
    upcoming = price_changes.upcoming(prices, rate, now)
    lines = (f"{format_amount(price.amount_usdc)} from {format_time(price.valid_from)}" for price in upcoming)
    return "\n".join([format_amount(price_changes.amount_at(prices, rate, now)), *lines])

"""`manage.py price`: what products cost at each rate, and the verbs that change it."""

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
from payments.models import Price, Product
from payments.pricing import price_changes
from payments.pricing.price_changes import NewPrice, Offered, moment_told, told
from payments.tiers.definitions import TIERS, Tier

# Columns of a table that goes to a file or another program.
PRINTED_WIDTH = 140


class Command(BaseCommand):
    """`manage.py price list|set|close|take-back|open|history`."""

    help = "Show and change what products cost, by product and tier. Prices are in USDC, moments in UTC."

    def add_arguments(self, parser: CommandParser) -> None:
        """One parser for each verb."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        listed = verbs.add_parser("list", help="show all products with their prices at the four rates")
        sold = verbs.add_parser(
            "set", help="sell a product to a tier at a price: sets its rate, and opens it to the tier"
        )
        closed = verbs.add_parser("close", help="end the sale of a product at the rate of a tier")
        back = verbs.add_parser("take-back", help="forget the prices of a product for a tier that have not begun")
        opened = verbs.add_parser("open", help="sell a product from a tier on, and to none below it")
        past = verbs.add_parser("history", help="show every price that a product had, has and will have")
        for verb in (sold, closed, back, opened, past):
            verb.add_argument("product", metavar="PRODUCT", help="its slug: reviews")
        for verb in (sold, closed, back, opened):
            verb.add_argument("tier", metavar="TIER", help=", ".join(TIERS))
        sold.add_argument("amount", metavar="USDC", help="a call, as 0.004")
        for verb in (sold, closed, opened):
            verb.add_argument("--yes", action="store_true", help="also what hardly anybody means")
        for verb in (sold, closed):
            verb.add_argument("--from", dest="begins", metavar="MOMENT", help="2026-12-01T00:00Z; without it: now")
        for verb in (listed, sold, closed, back, opened, past):
            verb.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one verb."""
        run = {
            "list": self.list,
            "set": self.set,
            "close": self.close,
            "take-back": self.take_back,
            "open": self.open,
            "history": self.history,
        }
        try:
            run[options["verb"]](options, timezone.now())
        except price_changes.Doubtful as doubtful:
            raise CommandError(f"{doubtful.message} Nothing was changed. Add --yes if you mean it.") from doubtful
        except ApiError as refusal:
            raise CommandError(refusal.message) from refusal

    def list(self, options: dict[str, Any], now: datetime) -> None:
        """All products, with the prices of now and those to come."""
        offered = price_changes.board(now=now)
        if options["json"]:
            self._print_json({"data": [shown(each) for each in offered]})
            return
        headings = ["product", "sold from", *(f"{tier.rate} ({name})" for name, tier in TIERS.items())]
        rows = (
            [each.product.slug, each.product.from_tier, *(_cell(each, tier) for tier in TIERS.values())]
            for each in offered
        )
        self._print_table(headings, rows)

    def set(self, options: dict[str, Any], now: datetime) -> None:
        """Set a price, and open the product to the tier."""
        product, tier = price_changes.product_called(options["product"]), tier_called(options["tier"])
        written, opened = price_changes.set_for(
            product,
            tier,
            amount_of(options["amount"]),
            begins=moment_of(options["begins"]),
            by=who(),
            now=now,
            is_sure=options["yes"],
        )
        self._answer(options, product, written=written, opened=opened)

    def close(self, options: dict[str, Any], now: datetime) -> None:
        """End the sale at the rate of a tier."""
        product, tier = price_changes.product_called(options["product"]), tier_called(options["tier"])
        ended = NewPrice(tier.rate, None, moment_of(options["begins"]))
        written = price_changes.change(product, [ended], by=who(), now=now, is_sure=options["yes"])
        self._answer(options, product, written=written)

    def take_back(self, options: dict[str, Any], now: datetime) -> None:
        """Forget the prices to come."""
        product, tier = price_changes.product_called(options["product"]), tier_called(options["tier"])
        coming = product.prices.filter(rate=tier.rate, valid_from__gt=now).values_list("pk", flat=True)
        self._answer(
            options, product, taken_back=price_changes.take_back(coming, now=now), nothing="there is no price to come"
        )

    def open(self, options: dict[str, Any], now: datetime) -> None:
        """Sell a product from a tier on."""
        product, tier = price_changes.product_called(options["product"]), tier_called(options["tier"])
        self._answer(options, product, opened=price_changes.open_from(product, tier, is_sure=options["yes"]))

    def history(self, options: dict[str, Any], now: datetime) -> None:
        """Every price of a product, by rate, the newest first."""
        prices = price_changes.history(price_changes.product_called(options["product"]))
        if options["json"]:
            self._print_json({"data": [record(price) for price in prices]})
            return
        rows = (
            [
                price.rate,
                told(price.amount_usdc),
                moment_told(price.valid_from),
                price.by,
                moment_told(price.created_at),
            ]
            for price in prices
        )
        self._print_table(["rate", "USDC", "from", "set by", "set at"], rows)

    def _answer(
        self,
        options: dict[str, Any],
        product: Product,
        *,
        written: Iterable[Price] = (),
        opened: bool = False,
        taken_back: int = 0,
        nothing: str = "that is so already",
    ) -> None:
        """Say what has changed."""
        product.refresh_from_db()
        if options["json"]:
            changed = [record(price) for price in written]
            self._print_json({"set": changed, "taken_back": taken_back, "from_tier": product.from_tier})
            return
        lines = [
            f"{product.slug}, {price.rate}: {told(price.amount_usdc)} from {moment_told(price.valid_from)} on."
            for price in written
        ]
        if taken_back:
            lines.append(f"{product.slug}: {taken_back} taken back.")
        if opened:
            lines.append(f"{product.slug} is sold from the {product.from_tier} tier on.")
        self.stdout.write("\n".join(lines) or f"{product.slug}: {nothing}.")

    def _print_json(self, told: object) -> None:
        self.stdout.write(json.dumps(told, indent=2))

    def _print_table(self, headings: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
        table = Table(*headings)
        for row in rows:
            table.add_row(*row)
        width = None if self.stdout.isatty() else PRINTED_WIDTH
        Console(file=cast("IO[str]", self.stdout), width=width).print(table)


def shown(offered: Offered) -> dict[str, Any]:
    """A product as programs read it."""
    return {
        "product": offered.product.slug,
        "from_tier": offered.product.from_tier,
        "prices": {tier.rate: _number(offered.amount(tier.rate)) for tier in TIERS.values()},
        "coming": [record(price) for tier in TIERS.values() for price in offered.coming(tier.rate)],
    }


def record(price: Price) -> dict[str, Any]:
    """A price as programs read it: amounts as text, null where the product is not sold."""
    return {
        "rate": price.rate,
        "amount": _number(price.amount_usdc),
        "valid_from": price.valid_from.isoformat(),
        "by": price.by,
        "created_at": price.created_at.isoformat(),
    }


def tier_called(name: str) -> Tier:
    """The tier of this name. Raises InvalidRequest, which names them all."""
    if name not in TIERS:
        raise InvalidRequest(unknown_name("tier", name, list(TIERS)).message)
    return TIERS[name]


def amount_of(words: str) -> Decimal:
    """An amount in USDC. Raises InvalidRequest."""
    try:
        return Decimal(words)
    except InvalidOperation:
        raise InvalidRequest(f"`{words}` is no price: write it as 0.004, in USDC.") from None


def moment_of(words: str | None) -> datetime | None:
    """A moment with its zone. Raises InvalidRequest."""
    if words is None:
        return None
    try:
        moment = parse_datetime(words)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidRequest(f"`{words}` is no moment with its zone: write it as 2026-12-01T00:00Z.")
    return moment


def who() -> str:
    """Who sits at this command line."""
    try:
        return f"command:{getpass.getuser()}"
    except (KeyError, OSError):
        # A container's user may have no name.
        return "command"


def _cell(offered: Offered, tier: Tier) -> str:
    coming = (f"{told(price.amount_usdc)} from {moment_told(price.valid_from)}" for price in offered.coming(tier.rate))
    return "\n".join([told(offered.amount(tier.rate)), *coming])


def _number(amount: Decimal | None) -> str | None:
    return None if amount is None else told(amount)

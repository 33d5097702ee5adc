"""manage.py market: add a market from the name of a city or from a polygon, and list the markets."""

import json
from pathlib import Path
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Count
from django.utils import timezone
from rich.console import Console
from rich.table import Table

from catalogue import tasks
from catalogue.markets import MarketPlan, add_market, plan_market, read_area
from catalogue.markets.commands import check_market
from catalogue.models import Cuisine, Market
from catalogue.search.geocoding.distance import Location
from catalogue.search.geocoding.landmarks import read_coordinates
from framework.errors import ApiError

FIELDS = (
    "slug", "name", "country", "region", "timezone", "currency", "calling_code", "latitude", "longitude", "radius_m",
)  # fmt: skip
# Where the output is no terminal.
WIDTH = 140


class Command(BaseCommand):
    """`manage.py market add|list`."""

    help = "Add markets, the cities that the catalogue covers, and list them."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help="add a city; what is not stated is found out")
        add.add_argument("name", metavar="CITY", help="Lyon, Malmö, 大阪市 as GeoNames has it, or the name of a town")
        add.add_argument("--country", metavar="CC", help="ISO 3166-1, such as FR: tells cities of one name apart")
        place = add.add_mutually_exclusive_group()
        place.add_argument(
            "--polygon",
            type=Path,
            metavar="FILE",
            help="GeoJSON, or [west, south, east, north]: the market reaches it",
        )
        place.add_argument("--at", metavar="LAT,LNG", help="the centre; without it that of the city")
        add.add_argument("--radius-km", type=float, metavar="KM", help="without it by the number of inhabitants")
        add.add_argument("--slug", help="its name in addresses; without it from the name of the city")
        add.add_argument("--region", help="the region whose public holidays count, such as BE for Berlin")
        add.add_argument("--timezone", metavar="ZONE", help="such as Europe/Paris")
        add.add_argument("--currency", metavar="CODE", help="ISO 4217, such as EUR")
        add.add_argument("--calling-code", metavar="DIGITS", help="such as 33")
        add.add_argument("--allow-overlap", action="store_true", help="although it overlaps another market")
        add.add_argument("--dry-run", action="store_true", help="print what it would be, and store nothing")
        listed = verbs.add_parser("list", help="show the markets")
        listed.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            if options["verb"] == "add":
                self.add(options)
            else:
                self.list(options)
        except ApiError as error:
            raise CommandError(error.message) from error

    def add(self, options: dict[str, Any]) -> None:
        now = timezone.now()
        radius_km = options["radius_km"]
        if radius_km is not None and not 0.1 <= radius_km <= 500:
            raise CommandError("--radius-km is 0.1 to 500.")
        path = options["polygon"]
        plan = plan_market(
            options["name"],
            now=now,
            area=read_area(_read_file(path)) if path else None,
            at=_read_point(options["at"]) if options["at"] else None,
            radius_m=round(radius_km * 1000) if radius_km else None,
            **{name: options[name] for name in ("country", "slug", "region", "timezone", "currency", "calling_code")},
        )
        if options["dry_run"]:
            existing = check_market(plan, allows_overlap=options["allow_overlap"])
            self._print_plan(plan)
            outcome = f"The market {existing.slug} exists already" if existing else "Nothing was stored: a dry run"
            self.stdout.write(f"{outcome}.")
            return
        added = add_market(plan, now=now, allows_overlap=options["allow_overlap"])
        if not added.is_new:
            self.stdout.write(f"The market {added.market.slug} exists already: nothing was changed.")
            return
        tasks.enqueue_neighborhoods()
        self._print_plan(plan)
        self.stdout.write(
            f"Added the market {added.market.slug}, with {added.holidays} public holidays and {added.landmarks}"
            " landmarks that had no market. Import its restaurants: docs/importing.md."
        )

    def list(self, options: dict[str, Any]) -> None:
        rows = [
            {**{name: getattr(market, name) for name in FIELDS}, "restaurants": market.count}
            for market in Market.objects.annotate(count=Count("restaurants")).order_by("slug")
        ]
        if options["json"]:
            self.stdout.write(json.dumps({"data": rows}, indent=2))
            return
        table = Table(*FIELDS, "restaurants")
        for row in rows:
            table.add_row(*map(str, row.values()))
        Console(file=cast("IO[str]", self.stdout), width=max(WIDTH, Console().width)).print(table)

    def _print_plan(self, plan: MarketPlan) -> None:
        market = plan.market
        for name in FIELDS:
            self.stdout.write(f"{name:13} {getattr(market, name)}".rstrip())
        self.stdout.write(f"{'holidays':13} {_describe_holidays(plan)}")
        self.stdout.write(f"{'cuisines':13} {_describe_labels(plan)}")


def _describe_holidays(plan: MarketPlan) -> str:
    market = plan.market
    if not plan.holidays:
        return f"none: there is no calendar of {market.country}, staff enter them in the admin"
    text = f"{plan.holidays} of this year and the next two"
    if plan.regions and not market.region:
        text += f"; those of a region come with --region {'|'.join(plan.regions)}"
    return text


def _describe_labels(plan: MarketPlan) -> str:
    """How many cuisines have a label in each language of the country; those of an empty catalogue come with it."""
    labels = list(Cuisine.objects.values_list("labels", flat=True))
    counts = [f"{lang} {sum(lang in each for each in labels)}" for lang in plan.languages if lang != "en"]
    return f"{len(labels)} with labels in English{''.join(f', {count}' for count in counts)}"


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error


def _read_point(text: str) -> Location:
    point = read_coordinates(text)
    if point is None:
        raise CommandError("--at is a latitude and a longitude in degrees, such as 45.75,4.85.")
    return point

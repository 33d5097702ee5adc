"""manage.py demo_data: add generated restaurants, reviews, photos and offers."""

import time
from argparse import ArgumentParser, BooleanOptionalAction
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from catalogue import reference_data, tasks
from catalogue.demo import load
from catalogue.demo.load import SeedAlreadyLoaded
from catalogue.hours import holidays, open_intervals
from catalogue.offers.demo import create_offers
from framework.cli.arguments import count
from framework.cli.progress import show_progress

MAX_LISTINGS_PER_MARKET = 20


class Command(BaseCommand):
    help = (
        "Add generated restaurants, reviews, photos and offers in the twelve markets. The same numbers and seed add"
        " the same rows."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--restaurants", type=count, default=2_000, metavar="N")
        parser.add_argument("--reviews", type=count, default=40_000, metavar="M")
        parser.add_argument("--seed", type=count, default=1, metavar="S", help="Other seeds give other rows")
        parser.add_argument("--if-empty", action="store_true", help="Do nothing if generated restaurants exist")
        parser.add_argument(
            "--reference-data",
            action=BooleanOptionalAction,
            default=True,
            help="Add missing markets, cuisines, landmarks and holidays first",
        )
        parser.add_argument(
            "--offers",
            action=BooleanOptionalAction,
            default=True,
            help="Add bookable discounts at a few restaurants of each market",
        )
        parser.add_argument(
            "--today",
            type=date.fromisoformat,
            metavar="YYYY-MM-DD",
            help="All reviews are dated before this day (default: the current day, UTC)",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        now = timezone.now()
        started = time.monotonic()
        if options["reviews"] and not options["restaurants"]:
            raise CommandError("Reviews need restaurants.")
        if options["reference_data"]:
            reference_data.load_reference_data()
            holidays.add_missing_holidays(now=now)
        is_large = options["restaurants"] >= load.MIN_BULK
        offers = 0
        try:
            with show_progress("demo_data", self.stderr) as on_step:
                loaded = load.load_rows(
                    restaurants=options["restaurants"],
                    reviews=options["reviews"],
                    seed=options["seed"],
                    today=options["today"] or now.date(),
                    if_empty=options["if_empty"],
                    in_bulk=is_large,
                    on_step=on_step,
                )
        except SeedAlreadyLoaded:
            raise CommandError(
                f"The rows of seed {options['seed']} already exist. Use another --seed, or --if-empty."
            ) from None
        if loaded.restaurants and options["offers"]:
            per_market = min(MAX_LISTINGS_PER_MARKET, max(1, loaded.restaurants // 400))
            offers = create_offers(per_market=per_market, now=now)[2]
        if is_large and loaded.restaurants:
            # This takes minutes; the worker does it in slices.
            tasks.enqueue_open_intervals()
        elif loaded.restaurants:
            open_intervals.refresh_open_intervals(now=now, at_most=loaded.restaurants)
        if loaded.reviews:
            tasks.enqueue_insights()
        self.stdout.write(
            f"demo_data: {loaded.restaurants} restaurants, {loaded.reviews} reviews, {loaded.photos} photos and"
            f" {offers} offers in {time.monotonic() - started:.1f} s"
        )

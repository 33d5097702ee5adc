"""manage.py demo_data: restaurants and reviews that nobody had to write."""

import time
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from catalogue import dictionaries, opening, tasks
from catalogue.demo import load
from catalogue.demo.load import AlreadyLoadedError, OnBatch


class Command(BaseCommand):
    help = "Add generated restaurants and reviews in the twelve markets. The same numbers and seed add the same rows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--restaurants", type=_count, default=2_000, metavar="N")
        parser.add_argument("--reviews", type=_count, default=40_000, metavar="M")
        parser.add_argument("--seed", type=_count, default=1, metavar="S", help="Another seed gives other rows")
        parser.add_argument("--if-empty", action="store_true", help="Do nothing where generated restaurants exist")
        parser.add_argument("--offers", action=BooleanOptionalAction, default=True, help="Discounts for one in ten")
        parser.add_argument(
            "--today",
            type=date.fromisoformat,
            metavar="YYYY-MM-DD",
            help="The day before which all reviews are written (default: the present day, UTC)",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        now = timezone.now()
        started = time.monotonic()
        if options["reviews"] and not options["restaurants"]:
            raise CommandError("Reviews need restaurants.")
        dictionaries.load()
        try:
            with self._progress(options["restaurants"], options["reviews"]) as on_batch:
                loaded = load.load(
                    restaurants=options["restaurants"],
                    reviews=options["reviews"],
                    seed=options["seed"],
                    today=options["today"] or now.date(),
                    offers=options["offers"],
                    if_empty=options["if_empty"],
                    in_bulk=options["restaurants"] >= load.LARGE,
                    on_batch=on_batch,
                )
        except AlreadyLoadedError:
            raise CommandError(
                f"The rows of seed {options['seed']} are already there. Give another --seed, or --if-empty."
            ) from None
        if loaded.restaurants >= load.LARGE:
            # Minutes of work, which the worker does in slices.
            tasks.ring_for_open_spans()
        elif loaded.restaurants:
            opening.refresh(now=now, at_most=loaded.restaurants)
        if loaded.reviews:
            tasks.ring_for_insights()
        self.stdout.write(
            f"demo_data: {loaded.restaurants} restaurants, {loaded.reviews} reviews and {loaded.rules} offers"
            f" in {time.monotonic() - started:.1f} s"
        )

    @contextmanager
    def _progress(self, restaurants: int, reviews: int) -> Iterator[OnBatch]:
        """A bar on a terminal; elsewhere a line for each tenth, so that a log stays short."""
        if self.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
                places = progress.add_task("restaurants", total=restaurants)
                texts = progress.add_task("reviews", total=reviews)

                def advance(some: int, more: int) -> None:
                    progress.advance(places, some)
                    progress.advance(texts, more)

                yield advance
            return
        done = 0

        def log(some: int, _: int) -> None:
            nonlocal done
            tenth, done = done * 10 // restaurants, done + some
            if done * 10 // restaurants > tenth:
                self.stderr.write(f"demo_data: {done} of {restaurants} restaurants")

        yield log


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)

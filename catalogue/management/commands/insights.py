"""manage.py insights: write the insights that are due, see why, check what they cite, and tell languages."""

import time
from argparse import ArgumentParser, ArgumentTypeError
from itertools import islice
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.table import Table

from catalogue import insights
from catalogue.insights.guardrails import citation_audit
from catalogue.insights.pipeline import statistics
from catalogue.models import Restaurant
from catalogue.reviews import language_detection
from framework.cli.progress import show_progress

# Faults that the table shows; all are counted.
SHOWN = 20
# Reviews that are read between two steps of the bar: about a fifth of a second.
SLICE = 1_000
# Where this is no terminal, 80 columns is a guess, and the table would be cut.
WIDTH = 120


class Command(BaseCommand):
    help = (
        "Write the insights that are missing or stale. With --check compare what they cite with the reviews: it ends"
        " with 1 where something does not hold."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        either = parser.add_mutually_exclusive_group()
        either.add_argument("--dry-run", action="store_true", help="Say how many are due, and why; write nothing")
        either.add_argument("--check", action="store_true", help="Whether each review that is cited says so")
        either.add_argument("--stats", action="store_true", help="What there is, by provider and by language")
        either.add_argument(
            "--languages", action="store_true", help="Guess the language of the reviews whose source did not say it"
        )
        parser.add_argument(
            "--limit", type=_count, metavar="N", help="Stop once N are written; a batch of 1,000 reviews is one whole"
        )
        parser.add_argument("--restaurant", metavar="SLUG", help="That of this restaurant alone (or with --check)")

    def handle(self, *_: Any, **options: Any) -> None:
        started = time.monotonic()
        _refuse(options)
        slug = options["restaurant"]
        only = Restaurant.objects.filter(slug=slug).first() if slug else None
        if slug and only is None:
            raise CommandError(f"There is no restaurant `{slug}`.")
        if options["check"]:
            message = self._check(only)
        elif options["dry_run"]:
            message = self._print_due()
        elif options["stats"]:
            message = self._print_stats()
        elif options["languages"]:
            message = self._detect_languages()
        elif only:
            message = self._write_one(only)
        else:
            message = self._write(options["limit"])
        self.stdout.write(f"insights: {message}, {time.monotonic() - started:.1f} s")

    def _write(self, limit: int | None) -> str:
        total = insights.due_restaurants(now=timezone.now()).count()
        target = total if limit is None else min(limit, total)
        done = 0
        with show_progress("insights", self.stderr) as on_step:
            while done < target:
                written = insights.refresh(now=timezone.now(), max_reviews=SLICE)
                if not written:
                    break
                done += written
                on_step("insights", min(done, target), target)
        if not total:
            return "nothing is due, nothing written"
        if not done:
            return f"{total} are due, and another worker is at it: nothing written"
        left = insights.due_restaurants(now=timezone.now()).count()
        return f"{done} written, {left} still due" if left else f"{done} written, none is due"

    def _write_one(self, restaurant: Restaurant) -> str:
        due = insights.due_restaurants(now=timezone.now(), only=restaurant.pk)
        if not due.exists():
            return f"that of {restaurant.slug} is not due, nothing written"
        insights.refresh(now=timezone.now(), max_reviews=1, only=restaurant.pk)
        return f"that of {restaurant.slug} {'could not be written' if due.exists() else 'is written'}"

    def _print_due(self) -> str:
        reasons = statistics.count_due_by_reason(now=timezone.now())
        if reasons:
            table = Table("why", "due")
            for reason, count in reasons.most_common():
                table.add_row(reason, str(count))
            self._print(table)
        return f"{reasons.total()} are due" if reasons else "nothing is due"

    def _print_stats(self) -> str:
        table = Table(
            "provider", "version", "model", "insights", "without text", "hidden", "approved", "failed", "USD"
        )
        written = statistics.count_by_provider()
        for row in written:
            table.add_row(*map(str, row))
        self._print(table)
        message = ", ".join(f"{lang} {count}" for lang, count in statistics.count_reviews_by_language().items())
        self.stdout.write(f"Reviews behind them by language: {message or 'none'}")
        return f"{sum(count for _, _, _, count, *_ in written)} there are"

    def _detect_languages(self) -> str:
        with show_progress("insights", self.stderr) as on_step:
            filled = language_detection.fill_missing(now=timezone.now(), on_step=on_step)
        return f"{filled.detected} reviews have a language now, {filled.unknown} are too short or unsure"

    def _check(self, only: Restaurant | None) -> str:
        with show_progress("insights", self.stderr) as on_step:
            faults = citation_audit.audit_citations(restaurant=only.pk if only else None, on_step=on_step)
            first = list(islice(faults, SHOWN))
            found = len(first) + sum(1 for _ in faults)
        if not found:
            return "each citation holds"
        table = Table("restaurant", "claim", "review", "what")
        for fault in first:
            table.add_row(fault.slug, fault.claim, fault.review, fault.message)
        self._print(table)
        raise CommandError(f"{found} citations do not hold. `manage.py insights` regenerates what is stale.")

    def _print(self, table: Table) -> None:
        Console(file=cast("IO[str]", self.stdout), width=max(WIDTH, Console().width)).print(table)


def _refuse(options: dict[str, Any]) -> None:
    """Options that would be ignored. Raises CommandError."""
    if options["restaurant"] and (options["dry_run"] or options["stats"] or options["languages"]):
        raise CommandError("--restaurant goes alone or with --check.")
    if options["limit"] and any(options[name] for name in ("restaurant", "dry_run", "check", "stats", "languages")):
        raise CommandError("--limit goes alone.")


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)

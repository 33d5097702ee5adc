"""`manage.py catalogue_import`: import files of other sources."""

from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.table import Table

from catalogue import reference_data, tasks
from catalogue.hours import holidays
from catalogue.importers import runner, snapshot_sync
from catalogue.importers.parsing.market_lookup import MarketIndex
from catalogue.importers.row_errors import UnreadableFileError
from catalogue.importers.runner import ImportStopped, RejectsFile, RunTotals
from catalogue.importers.sources import foursquare, native_jsonl, nyc_inspections, osm, overture
from catalogue.importers.sources.wikidata_landmarks import LandmarkImport
from catalogue.importers.upsert import RestaurantImport, SourceReader
from catalogue.models import Market
from framework.cli.progress import show_progress
from framework.errors import unknown_name

LANDMARKS = "landmarks"
READERS: dict[str, SourceReader] = {
    "overture": overture.READER,
    "foursquare": foursquare.READER,
    "osm": osm.READER,
    "dohmh": nyc_inspections.READER,
    "native": native_jsonl.READER,
}
COUNTS = ("read", "created", "merged", "changed", "unchanged", "skipped", "rejected", "queued", "closed")


class Command(BaseCommand):
    help = "Import restaurants or landmarks from files. Importing a file again changes nothing (docs/importing.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", choices=(*READERS, LANDMARKS), help="What the files are")
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--market", help="Where the rows have to be; else each goes to the market around it")
        parser.add_argument("--rejects", type=Path, metavar="FILE", help="Where rejected rows go, as JSON lines")
        parser.add_argument("--dry-run", action="store_true", help="Say what would happen, and change nothing")
        parser.add_argument(
            "--force", action="store_true", help="Go on though more than 5 %% of a market would change"
        )
        extent = parser.add_mutually_exclusive_group()
        extent.add_argument(
            "--complete",
            dest="complete",
            action="store_true",
            default=None,
            help="The files are all there are in their markets: close what is absent (overture, foursquare, dohmh)",
        )
        extent.add_argument(
            "--partial",
            dest="complete",
            action="store_false",
            help="The files are an extract: close nothing (osm, native)",
        )
        parser.add_argument(
            "--release", choices=("base", "current"), help="Which of the two releases in a file of overture"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        now = timezone.now()
        source, dry_run = options["source"], options["dry_run"]
        for path in options["files"]:
            if not path.is_file():
                raise CommandError(f"No such file: {path}")
        if options["release"] and source != "overture":
            raise CommandError("--release is for overture only.")
        reference_data.load_reference_data()
        holidays.add_missing_holidays(now=now)
        market = _find_market(options["market"])
        markets = MarketIndex.load(only=market)
        reader = overture.select_release(options["release"]) if source == "overture" else READERS.get(source)
        is_complete = options["complete"] if options["complete"] is not None else bool(reader and reader.is_complete)
        rejects_path = options["rejects"] or settings.STATE_DIR / "rejects" / f"{source}-{now:%Y%m%dT%H%M%S%f}.jsonl"
        # All files of a complete release form one import: only together they show what is missing.
        parts = [options["files"]] if reader and is_complete else [[path] for path in options["files"]]
        results: list[tuple[str, RunTotals]] = []
        errors: list[str] = []
        with closing(RejectsFile(rejects_path)) as rejects:
            common: Any = {"market": market, "rejects": rejects, "now": now, "dry_run": dry_run}
            for paths in parts:
                name = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"
                with show_progress(f"catalogue_import {name}", self.stderr) as on_step:
                    try:
                        if reader is None:
                            totals = runner.import_rows(LandmarkImport(markets), paths[0], on_step=on_step, **common)
                        else:
                            totals = snapshot_sync.import_snapshot(
                                RestaurantImport(reader, markets, timezone.now),
                                paths,
                                is_complete=is_complete,
                                forced=options["force"],
                                on_step=on_step,
                                **common,
                            )
                    except (UnreadableFileError, ImportStopped) as error:
                        errors.append(f"{', '.join(map(str, paths))}: {error}")
                    else:
                        results.append((name, totals))
        if results:
            self._print_summary(results, rejects, dry_run=dry_run)
        is_changed = any(totals.created or totals.changed or totals.merged or totals.closed for _, totals in results)
        if source != LANDMARKS and not dry_run and (is_changed or errors):
            tasks.enqueue_open_intervals()
            tasks.enqueue_insights()
        if errors:
            raise CommandError("\n".join(errors))

    def _print_summary(self, results: list[tuple[str, RunTotals]], rejects: RejectsFile, *, dry_run: bool) -> None:
        table = Table(title="Nothing was stored: a dry run" if dry_run else None)
        table.add_column("file", overflow="fold")
        for count in COUNTS:
            table.add_column(count, justify="right")
        for name, totals in results:
            table.add_row(name, *(str(getattr(totals, count)) for count in COUNTS))
        # A narrower table would cut the numbers.
        console = Console(file=cast("IO[str]", self.stdout), width=max(120, Console().width))
        console.print(table)
        if rejected := sum(totals.rejected for _, totals in results):
            console.print(f"{rejected} rejected: see {rejects.path}", soft_wrap=True)


def _find_market(slug: str | None) -> Market | None:
    markets = Market.objects.in_bulk()
    if slug is not None and slug not in markets:
        raise CommandError(unknown_name("market", slug, sorted(markets)).message)
    return markets[slug] if slug else None

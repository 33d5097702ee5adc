"""`manage.py catalogue_import`: import files of other sources."""

from argparse import ArgumentParser
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from catalogue import reference_data, tasks
from catalogue.hours import holidays
from catalogue.importers import runner, snapshot_sync, suppliers
from catalogue.importers.parsing.input_files import STDIN
from catalogue.importers.parsing.market_lookup import MarketIndex
from catalogue.importers.row_errors import UnreadableFileError
from catalogue.importers.runner import ImportStopped, RejectsFile, RunTotals
from catalogue.importers.sources import foursquare, native_jsonl, nyc_inspections, osm, overture
from catalogue.importers.sources.exported_photos import PhotoRowImport
from catalogue.importers.sources.exported_reviews import ReviewImport
from catalogue.importers.sources.wikidata_landmarks import LandmarkImport
from catalogue.importers.upsert import RestaurantImport, SourceReader
from catalogue.models import Market
from framework.cli.progress import show_progress
from framework.errors import unknown_name

LANDMARKS = "landmarks"
# Datasets of our own exports.
EXPORTED: dict[str, Any] = {"reviews": ReviewImport, "photos": PhotoRowImport}
READERS: dict[str, SourceReader] = {
    "overture": overture.READER,
    "foursquare": foursquare.READER,
    "osm": osm.READER,
    "dohmh": nyc_inspections.READER,
    "native": native_jsonl.READER,
}
# The exit status of a run that rejected more than --max-rejected; 1 is an error, 2 a wrong option.
TOO_MANY_REJECTED = 3
# Reasons of an outcome, and unread keys, in the summary.
SHOWN = 15


class Command(BaseCommand):
    help = (
        "Import restaurants, landmarks or exported reviews from files. Importing a file again changes nothing"
        " (docs/importing.md)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", choices=(*READERS, LANDMARKS, *EXPORTED), help="What the files are")
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="- is standard input")
        parser.add_argument(
            "--supplier", metavar="KEY", help="Whose files these are: a source of its own, with ids of its own"
        )
        parser.add_argument("--supplier-name", metavar="NAME", help="For a supplier that is not known yet")
        parser.add_argument("--license", metavar="SPDX", help="For a supplier that is not known yet")
        parser.add_argument("--attribution", metavar="TEXT", help="For a supplier that is not known yet")
        parser.add_argument(
            "--max-rejected",
            type=float,
            default=5,
            metavar="PERCENT",
            help="Exit with 3 if more of the rows are rejected (default 5)",
        )
        parser.add_argument("--market", help="Where the rows have to be; else each goes to the market around it")
        parser.add_argument("--rejects", type=Path, metavar="FILE", help="Where rejected rows go, as JSON lines")
        parser.add_argument("--dry-run", action="store_true", help="Say what would happen, and change nothing")
        parser.add_argument("--force", action="store_true", help="Go on though the safety check objects")
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
            if path != STDIN and not path.is_file():
                raise CommandError(f"No such file: {path}")
        if options["release"] and source != "overture":
            raise CommandError("--release is for overture only.")
        if source in EXPORTED and (options["supplier"] or options["market"]):
            raise CommandError(
                f"Exported {source} name their source and restaurant: leave out --supplier and --market."
            )
        reference_data.load_reference_data()
        holidays.add_missing_holidays(now=now)
        market = _find_market(options["market"])
        supplier = _find_supplier(options)
        markets = MarketIndex.load(only=market)
        reader = overture.select_release(options["release"]) if source == "overture" else READERS.get(source)
        if reader and supplier:
            reader = replace(reader, source=supplier)
        is_complete = options["complete"] if options["complete"] is not None else bool(reader and reader.is_complete)
        rejects_path = (
            options["rejects"] or settings.STATE_DIR / "rejects" / f"{supplier or source}-{now:%Y%m%dT%H%M%S%f}.jsonl"
        )
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
                            importer: Any = (
                                EXPORTED[source](timezone.now)
                                if source in EXPORTED
                                else LandmarkImport(markets, supplier or "wikidata")
                            )
                            totals = runner.import_rows(importer, paths[0], on_step=on_step, **common)
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
        if not dry_run:
            # Landmarks of the files, and those that load_reference_data has added.
            tasks.enqueue_neighborhoods()
        if source in ("native", "photos") and not dry_run:
            tasks.enqueue_photo_downloads()
        if errors:
            raise CommandError("\n".join(errors))
        read, rejected = (sum(getattr(totals, count) for _, totals in results) for count in ("read", "rejected"))
        if rejected > read * options["max_rejected"] / 100:
            raise CommandError(
                f"{rejected} of {read} rows were rejected, more than {options['max_rejected']:g} %.",
                returncode=TOO_MANY_REJECTED,
            )

    def _print_summary(self, results: list[tuple[str, RunTotals]], rejects: RejectsFile, *, dry_run: bool) -> None:
        table = Table(title="Nothing was stored: a dry run" if dry_run else None)
        table.add_column("file", overflow="fold")
        for count in runner.COUNTS:
            table.add_column(count, justify="right")
        for name, totals in results:
            table.add_row(name, *(str(getattr(totals, count)) for count in runner.COUNTS))
        # A narrower table would cut the numbers.
        console = Console(file=cast("IO[str]", self.stdout), width=max(130, Console().width))
        console.print(table)
        for name, totals in results:
            self._print_reasons(console, name, totals)
        if rejects.file is not None:
            counts = {
                count: sum(getattr(totals, count) for _, totals in results) for count in ("rejected", "incomplete")
            }
            stated = ", ".join(f"{number} {count}" for count, number in counts.items() if number)
            console.print(f"{stated}: see {rejects.path}", soft_wrap=True)

    def _print_reasons(self, console: Console, name: str, totals: RunTotals) -> None:
        """Print why rows were rejected or skipped, what was left out, and the keys that are not read."""
        table = Table(title=name, title_justify="left")
        for column in ("outcome", "reason", "rows", "first"):
            table.add_column(column, justify="right" if column == "rows" else "left", overflow="fold")
        for outcome in (runner.REJECTED, runner.LEFT_OUT, runner.SKIPPED):
            reasons = totals.most_common(outcome)
            for reason, counted in reasons[:SHOWN]:
                table.add_row(outcome, escape(reason), str(counted.rows), escape(counted.example))
            if len(reasons) > SHOWN:
                table.add_row(outcome, f"{len(reasons) - SHOWN} more reasons", "", "see the rejects file")
        if table.row_count:
            console.print(table)
        if totals.unread_keys:
            keys = [f"{key} {count}" for key, count in totals.unread_keys.most_common(SHOWN)]
            more = len(totals.unread_keys) - len(keys)
            console.print(
                f"Keys of {name} that are not read, with the number of values: {', '.join(keys)}"
                + (f" and {more} more" if more > 0 else ""),
                soft_wrap=True,
                markup=False,
            )


def _find_supplier(options: dict[str, Any]) -> str | None:
    """Return the key of the supplier's source. Raises CommandError."""
    stated = {
        "name": options["supplier_name"],
        "terms": options["license"],
        "attribution": options["attribution"],
    }
    if options["supplier"] is None:
        if any(stated.values()):
            raise CommandError("--supplier-name, --license and --attribution describe a --supplier.")
        return None
    try:
        return suppliers.find_or_create_supplier(options["supplier"], **stated).key
    except suppliers.InvalidSupplier as error:
        raise CommandError(str(error)) from error


def _find_market(slug: str | None) -> Market | None:
    markets = Market.objects.in_bulk()
    if slug is not None and slug not in markets:
        raise CommandError(unknown_name("market", slug, sorted(markets)).message)
    return markets[slug] if slug else None

"""manage.py catalogue_import: files of others into the catalogue."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from catalogue import dictionaries, tasks
from catalogue.importers import native, osm
from catalogue.importers.atlas import Atlas
from catalogue.importers.landmarks import LandmarkImport
from catalogue.importers.restaurants import RestaurantImport
from catalogue.importers.rows import UnreadableFileError
from catalogue.importers.runs import Import, Rejects, Totals, run
from catalogue.models import Market
from config.api.refusal import unknown

READERS = {"osm": osm, "native": native}
COUNTS = ("read", "created", "changed", "unchanged", "skipped", "refused")

OnBatch = Callable[[int, Totals], None]


class Command(BaseCommand):
    help = "Import restaurants or landmarks from files. Importing a file again changes nothing (docs/importing.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", choices=("osm", "landmarks", "native"), help="What the files are")
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--market", help="Where the rows have to be; else each goes to the market around it")
        parser.add_argument("--rejects", type=Path, metavar="FILE", help="Where refused rows go, as JSON lines")
        parser.add_argument("--dry-run", action="store_true", help="Say what would happen, and change nothing")

    def handle(self, *_: Any, **options: Any) -> None:
        now = timezone.now()
        source, dry_run = options["source"], options["dry_run"]
        for path in options["files"]:
            if not path.is_file():
                raise CommandError(f"No such file: {path}")
        dictionaries.load()
        market = _market(options["market"])
        atlas = Atlas.load(only=market)
        rejects_path = options["rejects"] or settings.STATE_DIR / "rejects" / f"{source}-{now:%Y%m%dT%H%M%S%f}.jsonl"
        results: list[tuple[Path, Totals]] = []
        problems: list[str] = []
        with closing(Rejects(rejects_path)) as rejects:
            for path in options["files"]:
                with self._progress(path) as on_batch:
                    try:
                        totals = run(
                            _importer(source, atlas, now),
                            path,
                            market=market,
                            rejects=rejects,
                            now=now,
                            dry_run=dry_run,
                            on_batch=on_batch,
                        )
                    except UnreadableFileError as error:
                        problems.append(f"{path}: {error}")
                    else:
                        results.append((path, totals))
        if results:
            self._summarise(results, rejects, dry_run=dry_run)
        is_changed = any(totals.created or totals.changed for _, totals in results)
        if source != "landmarks" and not dry_run and (is_changed or problems):
            tasks.ring_for_open_spans()
            tasks.ring_for_insights()
        if problems:
            raise CommandError("\n".join(problems))

    @contextmanager
    def _progress(self, path: Path) -> Iterator[OnBatch]:
        """A bar by bytes read; where nobody looks at a terminal, a line for each batch."""
        console = Console(stderr=True)
        if not console.is_terminal:
            yield lambda _, totals: self.stderr.write(f"{path.name}: {totals.read} rows read")
            return
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task(path.name, total=path.stat().st_size)
            yield lambda position, _: progress.update(task, completed=position)

    def _summarise(self, results: list[tuple[Path, Totals]], rejects: Rejects, *, dry_run: bool) -> None:
        table = Table(title="Nothing was stored: a dry run" if dry_run else None)
        table.add_column("file", overflow="fold")
        for name in COUNTS:
            table.add_column(name, justify="right")
        for path, totals in results:
            table.add_row(path.name, *(str(getattr(totals, name)) for name in COUNTS))
        # Narrower, the figures would be cut; where this is no terminal, 80 columns is a guess anyway.
        console = Console(width=max(100, Console().width))
        refused = sum(totals.refused for _, totals in results)
        with console.capture() as captured:
            console.print(table)
            if refused:
                console.print(f"{refused} refused: see {rejects.path}", soft_wrap=True)
        self.stdout.write(captured.get())


def _market(slug: str | None) -> Market | None:
    if slug is None:
        return None
    markets = {market.slug: market for market in Market.objects.order_by("slug")}
    if slug not in markets:
        raise CommandError(unknown("market", slug, list(markets)).message)
    return markets[slug]


def _importer(source: str, atlas: Atlas, now: datetime) -> Import[Any]:
    return LandmarkImport(atlas, now) if source == "landmarks" else RestaurantImport(READERS[source], atlas, now)

"""`manage.py backup PATH`: everything that cannot be made again, as one file."""

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from config.backup import dump


class Command(BaseCommand):
    """Write all rows of one moment, and the files of exports and photos, to one file."""

    help = "Write a backup: all rows of one moment, and the files of exports and photos that are kept in folders."

    def add_arguments(self, parser: CommandParser) -> None:
        """Name the file."""
        parser.add_argument("path", type=Path, help="the file to write, which must not be there yet")

    def handle(self, *args: object, **options: Any) -> None:
        """Write it, with a line for each table that has rows."""
        path: Path = options["path"].absolute()
        started = time.monotonic()
        try:
            made = dump.write(path, now=timezone.now(), say=self.stdout.write)
        except (dump.TakenName, OSError) as error:
            raise CommandError(str(error)) from None
        rows = sum(table.rows for table in made.tables.values())
        self.stdout.write(
            f"{path}: {rows:,} rows of {len(made.tables)} tables, {len(made.files):,} files,"
            f" {path.stat().st_size:,} bytes, {time.monotonic() - started:.1f} s."
        )

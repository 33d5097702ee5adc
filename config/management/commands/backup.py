"""`manage.py backup PATH`: the database and the stored files as one folder."""

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from config.backup.dump import write_backup
from config.backup.programs import BackupError
from framework.cli.progress import show_steps


class Command(BaseCommand):
    help = "Write a backup: a dump of the database, and the files of exports and photos that are stored in folders."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="the folder to write, which must not exist")

    def handle(self, *args: object, **options: Any) -> None:
        path: Path = options["path"].absolute()
        started = time.monotonic()
        try:
            with show_steps("backup", self.stderr) as report:
                manifest = write_backup(path, created_at=timezone.now(), report=report)
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from None
        for table, rows in manifest.tables.items():
            if rows:
                self.stdout.write(f"  {table}: {rows:,} rows")
        size = sum(file.stat().st_size for file in path.rglob("*"))
        self.stdout.write(
            f"{path}: {sum(manifest.tables.values()):,} rows of {len(manifest.tables)} tables,"
            f" {len(manifest.files):,} files, {size:,} bytes, {time.monotonic() - started:.1f} s."
        )

"""`manage.py restore PATH`: what a backup holds, back in its place and proven."""

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.backup import format, restore


class Command(BaseCommand):
    """Restore a backup, into an empty database unless told otherwise."""

    help = "Restore a backup and hold every table against it before anything is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        """Name the file, and what may be lost."""
        parser.add_argument("path", type=Path, help="a file that `manage.py backup` has written")
        parser.add_argument(
            "--replace", action="store_true", help="also into a database that has rows; all of them are gone then"
        )

    def handle(self, *args: object, **options: Any) -> None:
        """Restore it, and say in what time."""
        started = time.monotonic()
        try:
            found = restore.read(options["path"], replaces=options["replace"], say=self.stdout.write)
        except (restore.NotRestored, OSError) as error:
            raise CommandError(str(error)) from None
        rows = sum(table.rows for table in found.tables.values())
        self.stdout.write(
            f"{rows:,} rows of {len(found.tables)} tables and {len(found.files):,} files, as of {found.made_at}, every"
            f" one as the backup says: {time.monotonic() - started:.1f} s."
        )
        if found.mark != format.mark(found.made_at):
            self.stderr.write(
                "SECRET_KEY is not the one of the backup: put that one into SECRET_KEY_FALLBACKS, or the secrets of"
                " webhook endpoints and second factors cannot be read, and guests' links are dead."
            )

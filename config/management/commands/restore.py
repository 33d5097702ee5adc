"""`manage.py restore PATH`: replace the database and the stored files by those of a backup."""

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from config.backup.manifest import secret_key_hmac
from config.backup.programs import BackupError
from config.backup.restore import restore_backup
from framework.cli.progress import show_steps


class Command(BaseCommand):
    help = "Restore a backup; the number of rows of every table is compared before anything is committed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="a folder that `manage.py backup` has written")
        parser.add_argument(
            "--replace", action="store_true", help="restore into a database that has rows, and delete all of them"
        )

    def handle(self, *args: object, **options: Any) -> None:
        started = time.monotonic()
        try:
            with show_steps("restore", self.stderr) as report:
                manifest = restore_backup(options["path"], replace=options["replace"], report=report)
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{sum(manifest.tables.values()):,} rows of {len(manifest.tables)} tables and {len(manifest.files):,}"
            f" files of {manifest.created_at} restored and verified: {time.monotonic() - started:.1f} s."
        )
        executor = MigrationExecutor(connection)
        if pending := executor.migration_plan(executor.loader.graph.leaf_nodes()):
            self.stderr.write(
                f"The backup is of version {manifest.version}: run `manage.py migrate` ({len(pending)} migrations)."
            )
        if manifest.secret_key_hmac != secret_key_hmac(manifest.created_at):
            self.stderr.write(
                "SECRET_KEY is not the one of the backup: add that one to SECRET_KEY_FALLBACKS, or the secrets of"
                " webhook endpoints and second factors cannot be read, and guests' links are invalid."
            )

"""`manage.py schema_snapshot`: write the schema snapshot, or check that it is what the migrations make."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.dev_stack import Stack
from config.dev_stack.postgres import binaries
from framework.db import schema_snapshot


class Command(BaseCommand):
    help = "Write the schema snapshot from the migrations; with --check, fail if it differs."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail if the file is out of date")

    def handle(self, *args: object, **options: Any) -> None:
        with tempfile.TemporaryDirectory(prefix="tablewire-snapshot-") as folder:
            stack = Stack(Path(folder), valkey=False, chain=False, durable=False, shared_buffers="32MB")
            with stack:
                env = {**os.environ, **stack.environment(), "TABLEWIRE_STATE_DIR": folder}
                command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "migrate", "--no-snapshot", "-v0"]
                subprocess.run(command, env=env, check=True)  # noqa: S603 - our own command
                text = dump_database(env["DATABASE_URL"])
        if not options["check"]:
            schema_snapshot.FILE.write_text(text, encoding="utf-8")
        elif text != schema_snapshot.FILE.read_text(encoding="utf-8"):
            raise CommandError(f"{schema_snapshot.FILE.name} is out of date; run `manage.py schema_snapshot`.")


def dump_database(url: str) -> str:
    """Return the tables, functions, triggers and rows of a database, as the snapshot writes them."""
    options = ("--no-owner", "--no-privileges", "--rows-per-insert=1000")
    command = [str(binaries() / "pg_dump"), *options, f"--dbname={url}"]
    dump = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own command
    return schema_snapshot.clean_dump(dump.stdout)

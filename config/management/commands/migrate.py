"""`manage.py migrate`: Django's, which begins an empty database with the schema snapshot."""

from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS

from framework.db import schema_snapshot


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--no-snapshot", action="store_true", help="run every migration, also on an empty database"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        other_use = ("app_label", "plan", "check_unapplied", "fake", "fake_initial", "no_snapshot")
        is_plain = options["database"] == DEFAULT_DB_ALIAS and not any(options.get(name) for name in other_use)
        if is_plain and schema_snapshot.load_into_empty_database() and options["verbosity"] > 0:
            self.stdout.write("Loaded the schema snapshot.")
        super().handle(*args, **options)

"""`manage.py up`: everything that Tablewire needs, started on this machine and kept running in the foreground."""

import signal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.dev_stack import StackError
from config.up.supervisor import REVIEWS_EACH, Run
from framework.cli.arguments import count, port_number


class Command(BaseCommand):
    """Start PostgreSQL, Valkey, the worker and the web server, and keep them until SIGINT or SIGTERM."""

    help = "Start Tablewire here: PostgreSQL, Valkey, worker and web server, with data to look at."
    # They may ask the database, which this command is yet to start.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Name the flags."""
        parser.add_argument("--host", default="127.0.0.1", help="address to serve on (default 127.0.0.1)")
        parser.add_argument("--port", type=port_number, default=8000, help="0 = any free one (default 8000)")
        parser.add_argument(
            "--state-dir",
            type=Path,
            default=settings.STATE_DIR,
            help="where data, logs and secrets live (default .state, or TABLEWIRE_STATE_DIR)",
        )
        parser.add_argument(
            "--restaurants",
            type=count,
            default=2000,
            help=f"size of the generated catalogue, with {REVIEWS_EACH} reviews each (default 2000)",
        )
        parser.add_argument("--no-seed", action="store_true", help="add no accounts, keys and restaurants")
        parser.add_argument("--json", action="store_true", help="when ready, print up.json as one line and no panel")

    def handle(self, *args: object, **options: Any) -> None:
        """Run until a signal ends it; a second signal ends the patience with the children."""
        run = Run(
            host=options["host"],
            port=options["port"],
            state_dir=options["state_dir"].resolve(),
            restaurants=options["restaurants"],
            seeds=not options["no_seed"],
            as_json=options["json"],
            out=self.stdout.write,
        )
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, run.on_signal)
        try:
            run.serve()
        except StackError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            run.say("Stopped.")

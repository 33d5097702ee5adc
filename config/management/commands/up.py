"""`manage.py up`: run Tablewire and its servers on this machine, in the foreground."""

import signal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.up.supervisor import Run
from framework.cli.arguments import count, port_number
from framework.state_directory import StackError, find_disk_error


class Command(BaseCommand):
    help = "Run Tablewire on this machine: PostgreSQL, Valkey, worker and web server, with demo data."
    # Checks may query the database, which this command starts.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to serve on (default 127.0.0.1)")
        parser.add_argument("--port", type=port_number, default=8000, help="0 = a free one (default 8000)")
        parser.add_argument(
            "--state-dir",
            type=Path,
            default=settings.STATE_DIR,
            help="directory of data, logs and secrets (default .state, or TABLEWIRE_STATE_DIR)",
        )
        parser.add_argument(
            "--restaurants",
            type=count,
            default=2000,
            help="number of generated restaurants, with 20 reviews each (default 2000)",
        )
        parser.add_argument("--no-seed", action="store_true", help="create no accounts, keys and restaurants")
        parser.add_argument("--open", action="store_true", help="when ready, open the landing page in a browser")
        parser.add_argument("--json", action="store_true", help="when ready, print up.json as one line and no panel")

    def handle(self, *args: object, **options: Any) -> None:
        run = Run(
            host=options["host"],
            port=options["port"],
            state_dir=options["state_dir"].resolve(),
            restaurants=options["restaurants"],
            seeds=not options["no_seed"],
            as_json=options["json"],
            opens_browser=options["open"],
            out=self.stdout.write,
        )
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, run.on_signal)
        try:
            run.serve()
        except StackError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            if not (reason := find_disk_error(error)):
                raise
            raise CommandError(
                f"The state directory {run.state_dir} cannot be written: {reason}. Make room and start again:"
                " nothing is lost."
            ) from error
        except KeyboardInterrupt:
            run.say("Stopped.")

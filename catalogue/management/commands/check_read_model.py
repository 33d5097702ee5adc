"""manage.py catalogue_check: whether searches and look-ups show the restaurants as they are."""

import time
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalogue.read_model import rebuild
from framework.cli.progress import show_progress

SHOWN = 20


class Command(BaseCommand):
    help = (
        "Compare what searches and look-ups read with the restaurants; without --mend or --rebuild it changes nothing"
        " and ends with 1 when something differs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        either = parser.add_mutually_exclusive_group()
        either.add_argument("--mend", action="store_true", help="Make anew what differs, while all goes on")
        either.add_argument(
            "--rebuild",
            action="store_true",
            help="Make everything anew, in the order of places; restaurants cannot be changed or found meanwhile",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        started = time.monotonic()
        with show_progress("catalogue_check", self.stderr) as on_step:
            if options["rebuild"]:
                text = f"{rebuild.rebuild_read_model(on_step=on_step)} restaurants made anew"
            elif options["mend"]:
                text = f"{rebuild.repair_read_model(on_step=on_step)} restaurants differed and are mended"
            else:
                text = self._compare(rebuild.find_differences(on_step=on_step))
        self.stdout.write(f"catalogue_check: {text}, {time.monotonic() - started:.1f} s")

    def _compare(self, differences: Iterator[rebuild.Difference]) -> str:
        found = 0
        for difference in islice(differences, SHOWN):
            found += 1
            self.stdout.write(f"{difference.restaurant_id} {difference.table}: {difference.what}")
        found += sum(1 for _ in differences)
        if found:
            raise CommandError(f"{found} rows differ from their restaurants. `catalogue_check --mend` mends them.")
        return "nothing differs"

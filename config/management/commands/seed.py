"""`manage.py seed`: reference data, prices, and demo accounts, one of them with a menu and tables."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts import seed
from catalogue import reference_data
from catalogue.hours import holidays
from orders import seed as menu
from payments.pricing import default_products as products
from reservations import seed as tables


class Command(BaseCommand):
    requires_system_checks = ()
    help = (
        "Load markets, cuisines, sources, landmarks and prices; create demo accounts with keys, one with a menu and"
        " tables, and a superuser."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--keep", type=Path, help="earlier output, or up.json: secrets in it that are valid stay")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *args: object, **options: Any) -> None:
        earlier = None
        if options["keep"]:
            try:
                earlier = json.loads(options["keep"].read_text())
            except (OSError, ValueError) as error:
                raise CommandError(f"{options['keep']} cannot be read: {error}") from error
        reference_data.load_reference_data()
        holidays.add_missing_holidays(now=timezone.now())
        products.create_missing()
        made = seed.load(earlier)
        menu.load(seed.get_furnished_venue())
        tables.load(seed.get_furnished_venue())
        if options["json"]:
            self.stdout.write(json.dumps(made))
            return
        for name, text in made["management"].items():
            self.stdout.write(f"{name:20} {text}")
        self.stdout.write(
            f"{'admin':20} {made['admin']['username']} / {made['admin']['password'] or 'changed by you'}"
        )

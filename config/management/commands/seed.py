"""`manage.py seed`: reference data, prices, and demo accounts, one of them with a restaurant in service."""

import json
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console

from accounts import seed
from accounts.demo import commands as demo
from catalogue import reference_data
from catalogue.hours import holidays
from framework.cli.arguments import count
from framework.cli.progress import timed_step
from payments.pricing import default_products as products

REVIEWS_PER_RESTAURANT = 20


class Command(BaseCommand):
    requires_system_checks = ()
    help = (
        "Load markets, cuisines, sources, landmarks and prices; create demo accounts with keys, one of them with a"
        " restaurant in service and its owner, and a superuser."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--keep", type=Path, help="earlier output, or up.json: secrets in it that are valid stay")
        parser.add_argument("--migrate", action="store_true", help="apply the migrations first")
        parser.add_argument(
            "--restaurants",
            type=count,
            default=0,
            help=f"number of generated restaurants, with {REVIEWS_PER_RESTAURANT} reviews each, where there are none",
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help='print only JSON: {"migrated": true} after --migrate, then one line with the accounts',
        )

    def handle(self, *args: object, **options: Any) -> None:
        earlier = None
        if options["keep"]:
            try:
                earlier = json.loads(options["keep"].read_text())
            except (OSError, ValueError) as error:
                raise CommandError(f"{options['keep']} cannot be read: {error}") from error
        console = Console(stderr=True, highlight=False)
        if options["migrate"]:
            with timed_step(console, "migrations"):
                call_command("migrate", interactive=False, verbosity=0)
            if options["json"]:
                self.stdout.write('{"migrated": true}')
                self.stdout.flush()
        with timed_step(console, "accounts, keys and prices"):
            reference_data.load_reference_data()
            holidays.add_missing_holidays(now=timezone.now())
            products.create_missing()
            made = seed.load(earlier)
        # Before the rest, which may be interrupted: the keys are known only now.
        if options["json"]:
            self.stdout.write(json.dumps(made))
            self.stdout.flush()
        with timed_step(console, "demo restaurant"):
            venue = seed.get_furnished_venue()
            if venue.is_sandbox and not demo.was_removed(venue):
                demo.fill(venue, now=venue.now())
        if options["restaurants"]:
            reviews = REVIEWS_PER_RESTAURANT * options["restaurants"]
            size = {"restaurants": options["restaurants"], "reviews": reviews}
            fixed = {"seed": 1, "if_empty": True, "reference_data": False}
            call_command("demo_data", **size, **fixed, stdout=self.stderr, stderr=self.stderr)
        if options["json"]:
            return
        for name, text in made["management"].items():
            self.stdout.write(f"{name:20} {text}")
        for name, user in (("admin", made["admin"]["username"]), ("dashboard", made["dashboard"]["email"])):
            self.stdout.write(f"{name:20} {user} / {made[name]['password'] or 'changed by you'}")

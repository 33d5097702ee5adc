"""`manage.py reconcile_payments`: checks open payments on the chain now."""

import json
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from framework import public_ids
from framework.cli.arguments import count
from payments.ledger import reconcile, transitions
from payments.models import Payment
from payments.models.payments import PREFIX

PAUSE_S = 2.0


class Command(BaseCommand):
    help = (
        "Check open payments on the chain, as the worker does every 15 seconds, and print the new state of each."
        " Exits with 1 if some are still open."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--until-clean", action="store_true", help="repeat until none is open")
        parser.add_argument("--within", type=count, default=300, help="seconds to repeat for (default 300)")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *args: object, **options: Any) -> None:
        until = time.monotonic() + options["within"]
        open_payments = Payment.objects.filter(state__in=transitions.OPEN)
        checked: set[Any] = set()
        while True:
            checked |= set(open_payments.values_list("pk", flat=True))
            reconcile.sweep(now=timezone.now(), is_urgent=True)
            is_clean = not open_payments.exists()
            if is_clean or not options["until_clean"] or time.monotonic() > until:
                break
            time.sleep(PAUSE_S)
        rows = list(Payment.objects.filter(pk__in=checked).order_by("pk"))
        results = [{"id": row.public_id, "state": row.state, "error": row.error} for row in rows]
        # A payment that was certainly not sent is deleted.
        released = sorted(checked - {row.pk for row in rows})
        results += [{"id": public_ids.encode(PREFIX, key), "state": "released", "error": ""} for key in released]
        if options["json"]:
            self.stdout.write(json.dumps({"clean": is_clean, "payments": results}))
        else:
            for result in results:
                self.stdout.write(f"{result['id']}  {result['state']}  {result['error']}".rstrip())
            self.stdout.write(f"{len(results)} were open." if results else "None was open.")
        if not is_clean:
            still_open = sum(result["state"] in transitions.OPEN for result in results)
            raise CommandError(f"{still_open} of them are still open: the chain does not show their outcome yet.")

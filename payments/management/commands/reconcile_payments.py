"""`manage.py reconcile_payments`: look after payments that were left open, now."""

import json
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from framework import public_ids
from framework.cli.arguments import count
from payments.ledger import reconcile, transitions
from payments.models import Payment
from payments.x402.receipts import PREFIX

PAUSE_S = 2.0


class Command(BaseCommand):
    """Sweep once, or until nothing is open."""

    help = (
        "Ask the chain what became of payments that were left open, as the worker does every 15 seconds, and say what"
        " each became. Ends with 1 where some are still open."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Name the flags."""
        parser.add_argument("--until-clean", action="store_true", help="go on until none is open")
        parser.add_argument("--within", type=count, default=300, help="seconds to go on for (default 300)")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *args: object, **options: Any) -> None:
        """Sweep; fail when payments stay open."""
        until = time.monotonic() + options["within"]
        seen: set[Any] = set()
        while True:
            seen |= set(Payment.objects.filter(state__in=transitions.OPEN).values_list("pk", flat=True))
            reconcile.sweep(now=timezone.now(), is_urgent=True)
            is_clean = not Payment.objects.filter(state__in=transitions.OPEN).exists()
            if is_clean or not options["until_clean"] or time.monotonic() > until:
                break
            time.sleep(PAUSE_S)
        found = Payment.objects.filter(pk__in=seen).order_by("pk")
        told = [{"id": public_ids.encode(PREFIX, row.pk), "state": row.state, "error": row.error} for row in found]
        # What was surely not sent leaves no line.
        gone = seen - {row.pk for row in found}
        told += [{"id": public_ids.encode(PREFIX, key), "state": "let go", "error": ""} for key in sorted(gone)]
        if options["json"]:
            self.stdout.write(json.dumps({"clean": is_clean, "payments": told}))
        else:
            for one in told:
                self.stdout.write(f"{one['id']}  {one['state']}  {one['error']}".rstrip())
            self.stdout.write(f"{len(told)} were open." if told else "None was open.")
        if not is_clean:
            still = sum(one["state"] in transitions.OPEN for one in told)
            raise CommandError(f"{still} of them still are: the chain does not show yet how they ended.")

"""`manage.py audit`: hold the books against themselves, and the ledger against the chain, now."""

import json
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console
from rich.progress import Progress

from accounts import consistency_checks as calls
from accounts.consistency_checks import Checks, Finding
from catalogue import consistency_checks as sales
from orders import consistency_checks as orders
from payments.chain.rpc import RpcUnavailable
from payments.ledger import chain_audit as ledger
from reservations import consistency_checks as reservations

CHAIN = "ledger_and_chain"


class Command(BaseCommand):
    """Ask every app what is not as it has to be."""

    help = (
        "Hold the books against themselves, and the ledger against the chain, while all goes on: tables sold twice,"
        " numbers, totals, tallies, events, kept answers, seats of offers, files of exports. Each finding is a line."
        " Ends with 1 where there is one, or the chain cannot be read."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Name the flags."""
        parser.add_argument("--without-chain", action="store_true", help="leave out what has to ask the chain")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *args: object, **options: Any) -> None:
        """Audit; fail when something is not as it has to be."""
        checks = books(now=timezone.now())
        steps: dict[str, Callable[[], list[Finding]]] = {name: partial(list, found) for name, found in checks.items()}
        if not options["without_chain"]:
            steps[CHAIN] = against_the_chain
        findings: list[Finding] = []
        with Progress(console=Console(stderr=True), transient=True, disable=not self.stderr.isatty()) as progress:
            bar = progress.add_task("checks", total=len(steps))
            for name, step in steps.items():
                progress.update(bar, description=name)
                findings += step()
                progress.advance(bar)
        if options["json"]:
            told = [{"check": one.check, "subject": one.subject, "what": one.what} for one in findings]
            self.stdout.write(json.dumps({"checks": [*steps], "findings": told}))
        else:
            for one in findings:
                self.stdout.write(str(one))
            self.stdout.write(f"{len(steps)} checks, {len(findings)} findings.")
        if findings:
            raise CommandError(
                "The books are not as they have to be: each line above says in what. See docs/auditing.md."
            )


def books(*, now: datetime) -> Checks:
    """All checks of all apps that ask only our own database and storage; each begins when it is gone through."""
    return {
        **reservations.checks(now=now),
        **orders.checks(now=now),
        **calls.checks(),
        **sales.checks(now=now),
        **ledger.checks(),
    }


def against_the_chain() -> list[Finding]:
    """What the ledger says and the chain does not show (payments.ledger.chain_audit), or that the chain cannot be read."""
    try:
        done = ledger.run(now=timezone.now())
    except RpcUnavailable as error:
        return [Finding(CHAIN, "chain", error.message)]
    return [
        Finding(CHAIN, subject.split(",")[0], rest.strip())
        for each in done
        for subject, _, rest in (said.partition(": ") for said in each.differences)
    ]

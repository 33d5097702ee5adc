"""`manage.py check_consistency`: whether the stored data contradicts itself, or the ledger the chain."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from framework.cli.progress import show_steps
from framework.consistency import Finding, all_checks
from payments.chain.rpc import RpcUnavailable
from payments.ledger import chain_audit

CHAIN = "ledger_and_chain"


class Command(BaseCommand):
    help = (
        "Check the consistency of the stored data, and of the ledger with the chain, in a running installation: tables"
        " sold twice, numbers, totals, tallies, events, stored answers, seats of offers, files of exports. Prints a"
        " line for each finding. Exits with 1 if there is one, or if the chain cannot be read."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--without-chain", action="store_true", help="skip the comparison of the ledger with the chain"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *args: object, **options: Any) -> None:
        checks = all_checks(now=timezone.now())
        steps: dict[str, Callable[[], list[Finding]]] = {name: partial(list, found) for name, found in checks.items()}
        if not options["without_chain"]:
            steps[CHAIN] = compare_with_chain
        findings: list[Finding] = []
        with show_steps("check_consistency", self.stderr) as report:
            for number, (name, step) in enumerate(steps.items(), start=1):
                report(f"{name} ({number} of {len(steps)})")
                findings += step()
        if options["json"]:
            found = [{"check": one.check, "subject": one.subject, "what": one.what} for one in findings]
            self.stdout.write(json.dumps({"checks": [*steps], "findings": found}))
        else:
            for one in findings:
                self.stdout.write(str(one))
            self.stdout.write(f"{len(steps)} checks, {len(findings)} findings.")
        if findings:
            raise CommandError("The data is inconsistent: see the findings above, and docs/auditing.md.")


def compare_with_chain() -> list[Finding]:
    """Differences between the ledger and the chain (payments.ledger.chain_audit), or that the chain cannot be read."""
    try:
        done = chain_audit.run(now=timezone.now())
    except RpcUnavailable as error:
        return [Finding(CHAIN, "chain", error.message)]
    return [
        Finding(CHAIN, subject.split(",")[0], rest.strip())
        for each in done
        for subject, _, rest in (output.partition(": ") for output in each.differences)
    ]

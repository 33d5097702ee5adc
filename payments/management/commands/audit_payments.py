"""`manage.py audit_payments`: hold the ledger against the chain now."""

import json
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from framework.cli.progress import progress_bars
from payments.chain.rpc import RpcUnavailable
from payments.ledger import chain_audit
from payments.models import Audit


class Command(BaseCommand):
    """Audit the blocks since the last audit, or from one on."""

    help = (
        "Hold the ledger against the chain, up to the blocks of half an hour ago. Money that no line knows becomes a"
        " refund that is due. Ends with 1 where a line is not what the chain shows, or the chain cannot be read."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Name the flags."""
        parser.add_argument("--from-block", type=int, help="audit again from this block on (default: behind the last)")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *args: object, **options: Any) -> None:
        """Audit; fail when something differs."""
        first = options["from_block"]
        if first is not None and first < 0:
            raise CommandError("--from-block is 0 or more.")
        try:
            with progress_bars(self.stderr) as bars:
                done = chain_audit.run(
                    now=timezone.now(),
                    from_block=first,
                    on_span=lambda done, total: bars("blocks", done, total) if bars else None,
                )
        except RpcUnavailable as error:
            raise CommandError(f"{error.message} What was audited before that is kept.") from error
        told = summary(done)
        self.stdout.write(json.dumps(told) if options["json"] else sentence(told))
        if told["differences"]:
            raise CommandError(f"{len(told['differences'])} lines of the ledger are not what the chain shows.")


def summary(done: Sequence[Audit]) -> dict[str, Any]:
    """What these audits have found together."""
    return {
        "first_block": done[0].first_block if done else None,
        "last_block": done[-1].last_block if done else None,
        "transfers": sum(each.transfers for each in done),
        "arrived_usdc": f"{sum(each.arrived_usdc for each in done):f}",
        "ledger_usdc": f"{sum(each.ledger_usdc for each in done):f}",
        "orphans": sum(each.orphans for each in done),
        "differences": [said for each in done for said in each.differences],
    }


def sentence(told: dict[str, Any]) -> str:
    """The same for people."""
    if told["first_block"] is None:
        return "There is no block to audit: all are audited, or younger than half an hour."
    lines = [
        f"Blocks {told['first_block']} to {told['last_block']}: {told['transfers']} transfers of"
        f" {told['arrived_usdc']} USDC have arrived, {told['ledger_usdc']} are in the ledger.",
        f"{told['orphans']} of them bought nothing and are owed back.",
        *told["differences"],
    ]
    return "\n".join(lines)

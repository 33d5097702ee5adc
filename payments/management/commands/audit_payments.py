"""`manage.py audit_payments`: compares the ledger with the chain now."""

import json
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from framework.cli.progress import show_progress
from payments.chain.rpc import RpcUnavailable
from payments.ledger import chain_audit
from payments.models import Audit


class Command(BaseCommand):
    help = (
        "Compare the ledger with the chain, up to the blocks of half an hour ago. Money without a payment in the"
        " ledger becomes a refund due. Exits with 1 if a payment differs from the chain, or the chain cannot be read."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--from-block", type=int, help="audit again from this block on (default: after the last)")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *args: object, **options: Any) -> None:
        first = options["from_block"]
        if first is not None and first < 0:
            raise CommandError("--from-block is 0 or more.")
        try:
            with show_progress("audit_payments", self.stderr) as on_progress:
                audits = chain_audit.run(
                    now=timezone.now(),
                    from_block=first,
                    on_span=lambda done, total: on_progress("blocks", done, total),
                )
        except RpcUnavailable as error:
            raise CommandError(f"{error.message} The audited blocks before that are saved.") from error
        result = summary(audits)
        self.stdout.write(json.dumps(result) if options["json"] else format_summary(result))
        if result["differences"]:
            raise CommandError(f"{len(result['differences'])} payments in the ledger differ from the chain.")


def summary(audits: Sequence[Audit]) -> dict[str, Any]:
    return {
        "first_block": audits[0].first_block if audits else None,
        "last_block": audits[-1].last_block if audits else None,
        "transfers": sum(audit.transfers for audit in audits),
        "arrived_usdc": f"{sum(audit.arrived_usdc for audit in audits):f}",
        "ledger_usdc": f"{sum(audit.ledger_usdc for audit in audits):f}",
        "orphans": sum(audit.orphans for audit in audits),
        "differences": [difference for audit in audits for difference in audit.differences],
    }


def format_summary(result: dict[str, Any]) -> str:
    if result["first_block"] is None:
        return "There is no block to audit: all are audited, or younger than half an hour."
    lines = [
        f"Blocks {result['first_block']} to {result['last_block']}: {result['transfers']} transfers of"
        f" {result['arrived_usdc']} USDC have arrived, {result['ledger_usdc']} are in the ledger.",
        f"{result['orphans']} of them bought nothing: their refunds are due.",
        *result["differences"],
    ]
    return "\n".join(lines)

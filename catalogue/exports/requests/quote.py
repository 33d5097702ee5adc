"""Quotes: what an export costs, before it is ordered or paid."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection

from catalogue.exports import datasets
from catalogue.exports.datasets.base import query_parameters
from catalogue.exports.requests import commands, payment_state, spec
from catalogue.exports.requests.spec import ExportSpec
from catalogue.models import Export
from framework.api.urls import public_url
from payments.interface import Caller, NotSold, TierRequired, is_free_by_plan, load_price_list, payment_network


@dataclass(frozen=True, slots=True)
class ExportQuote:
    """An export that could be ordered.

    `rows` is the planner's estimate, None for a delta; `refused` is the reason why the wallet cannot have it; `price`
    is in USDC, None if it is not sold to the wallet.
    """

    wishes: Mapping[str, Any]
    price: Decimal | None
    rows: int | None
    is_given: bool
    refused: str

    @property
    def price_units(self) -> int | None:
        """The price in the smallest unit of USDC, as the 402 states it."""
        return None if self.price is None else payment_network().to_atomic(self.price)

    @property
    def body(self) -> str:
        """The JSON body of POST /v1/exports."""
        return json.dumps(self.wishes, indent=2)

    @property
    def curl(self) -> str:
        """The curl command that orders it with a session of the wallet."""
        body = shlex.quote(json.dumps(self.wishes))
        url = public_url("/v1/exports")
        return (
            f"curl -i -X POST {url} \\\n  -H 'Authorization: Bearer ws_...' \\\n"
            f"  -H 'Content-Type: application/json' \\\n  -d {body}"
        )

    @property
    def tool_call(self) -> str:
        """The arguments of the MCP tool start_export."""
        arguments = dict(self.wishes)
        conditions = dict(arguments.pop("filter", {}))
        if "updated_since" in conditions:
            conditions["since"] = conditions.pop("updated_since")
        return json.dumps({"name": "start_export", "arguments": arguments | conditions}, indent=2)


def quote_export(caller: Caller, wishes: Mapping[str, Any], *, now: datetime) -> ExportQuote:
    """Return the quote of an export. At most six queries. Raises what parse_spec raises.

    A caller without a wallet gets one too, but only a wallet has earlier exports: else MissingCredentials.
    """
    wallets = commands.require_wallets(caller) if wishes.get("since_export") else caller.wallets
    kind = spec.parse_spec(wallets, now=now, **wishes)
    product = payment_state.PRODUCTS.get(kind.dataset)
    price, refused, is_given = None, "", product is None
    try:
        if product is not None:
            listed = load_price_list([product], now=now)
            price = listed.quote(caller.terms).amount
            commands.require_tier(caller, listed.from_tier)
            is_given = is_free_by_plan([product], caller=caller, now=now)
    except (TierRequired, NotSold) as refusal:
        refused = refusal.message
    options = {name: value for name, value in wishes.items() if value}
    return ExportQuote(options, price, None if kind.since else estimate_rows(kind), is_given, refused)


def estimate_rows(kind: ExportSpec) -> int:
    """Return the planner's row estimate of an export. One EXPLAIN statement."""
    export = Export(dataset=kind.dataset, format=kind.format, filter=dict(kind.filter), fields=list(kind.fields))
    # Field groups add columns, not rows.
    select = datasets.DATASETS[kind.dataset].for_export(is_delta=False).select("1", ordered=False)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {select}", query_parameters(export))
        (plan,) = cursor.fetchone()
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return int(plan[0]["Plan"]["Plan Rows"])

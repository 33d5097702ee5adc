"""What an export would be for a wallet before it is ordered: its price, about how many rows, and who may have it."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection

from catalogue.exports import datasets
from catalogue.exports.datasets.base import parameters
from catalogue.exports.requests import commands, payment_state, spec
from catalogue.exports.requests.spec import Wanted
from catalogue.models import Export
from framework.api.urls import public_url
from framework.errors import ApiError
from payments import checkout
from payments.checkout import TierRequired
from payments.identity.caller import Caller
from payments.pricing import price_list


class HasAPrice(ApiError):
    """The export costs something, which its wallet pays through the API."""


@dataclass(frozen=True, slots=True)
class Offer:
    """An export that could be ordered. `rows` is the planner's guess, None for a delta; `refused` says why its wallet
    cannot have it, `price` is in USDC and None where it is not sold at the wallet's rate.
    """

    wishes: Mapping[str, Any]
    price: Decimal | None
    rows: int | None
    is_given: bool
    refused: str

    @property
    def body(self) -> str:
        """The JSON of POST /v1/exports."""
        return json.dumps(self.wishes, indent=2)

    @property
    def curl(self) -> str:
        """The line that orders it with a session of the wallet."""
        body = shlex.quote(json.dumps(self.wishes))
        url = public_url("/v1/exports")
        return (
            f"curl -i -X POST {url} \\\n  -H 'Authorization: Bearer ws_...' \\\n"
            f"  -H 'Content-Type: application/json' \\\n  -d {body}"
        )

    @property
    def tool_call(self) -> str:
        """The same for an agent: the arguments of the tool start_export of MCP."""
        given = dict(self.wishes)
        conditions = dict(given.pop("filter", {}))
        if "updated_since" in conditions:
            conditions["since"] = conditions.pop("updated_since")
        return json.dumps({"name": "start_export", "arguments": given | conditions}, indent=2)


def offer(caller: Caller, wishes: Mapping[str, Any], *, now: datetime) -> Offer:
    """What the export would be. Six queries at most; rows are guessed. Raises what wanted.read raises."""
    wallet = commands.owner(caller)
    kind = spec.read(wallet, now=now, **wishes)
    product = payment_state.PRODUCTS[kind.dataset]
    price, refused, is_given = None, "", False
    try:
        listed = price_list.load_price_list([product], now=now)
        price = listed.quote(caller.terms).amount
        commands.require_tier(caller, listed.from_tier)
        is_given = checkout.is_free_by_plan([product], caller=caller, now=now)
    except (TierRequired, price_list.NotSold) as refusal:
        refused = refusal.message
    said = {name: value for name, value in wishes.items() if value}
    return Offer(said, price, None if kind.since else about(kind), is_given, refused)


def about(kind: Wanted) -> int:
    """About how many rows an export has, as the planner guesses. One statement, which is planned and not run."""
    export = Export(dataset=kind.dataset, format=kind.format, filter=dict(kind.filter), fields=list(kind.fields))
    # Groups of fields add columns, and no rows.
    select = datasets.DATASETS[kind.dataset].told(is_delta=False).select("1", ordered=False)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {select}", parameters(export))
        (plan,) = cursor.fetchone()
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return int(plan[0]["Plan"]["Plan Rows"])


def order(caller: Caller, wishes: Mapping[str, Any], *, now: datetime) -> Export:
    """Queue an export that costs its wallet nothing, by its plan; enqueue a step then. Call it outside transactions.

    Raises what wanted.read raises, NotSold, TierRequired, HasAPrice and TooManyExports.
    """
    wallet = commands.owner(caller)
    kind = spec.read(wallet, now=now, **wishes)
    product = payment_state.PRODUCTS[kind.dataset]
    commands.require_tier(caller, price_list.load_price_list([product], now=now).from_tier)
    if not checkout.is_free_by_plan([product], caller=caller, now=now):
        raise HasAPrice("This export has a price: the wallet orders and pays it with POST /v1/exports.")
    return commands.queued(wallet, kind, tier=caller.tier, now=now)

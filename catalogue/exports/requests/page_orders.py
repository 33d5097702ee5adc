"""Orders of the dashboard: created before they are paid, and paid there by a demo wallet of the embedded chain.

A browser wallet pays by POST /v1/exports with the same order; so does any other client.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from catalogue.exports.requests import checkout, commands, payment_state, quote, spec
from catalogue.models import Export
from framework.api.urls import public_url
from framework.errors import ApiError
from payments.interface import (
    Caller,
    DemoWallet,
    Purchase,
    is_free_by_plan,
    load_price_list,
    record_delivery,
    sign_payment,
)

Status = Export.Status


class ExportNotPayable(ApiError):
    """The export awaits no payment, or is not sold to its wallet any more."""


def order_export(caller: Caller, wishes: Mapping[str, Any], *, now: datetime) -> Export:
    """Return the caller's unfinished export of this kind, or create it: queued if it is free, else awaiting payment.

    Enqueue a step for a queued one. Call it outside of transactions. Raises what parse_spec raises, NotSold,
    TierRequired and TooManyExports.
    """
    wallet = commands.require_wallet(caller)
    kind = spec.parse_spec(commands.require_wallets(caller), now=now, **wishes)
    product = payment_state.PRODUCTS.get(kind.dataset)
    if product is not None:
        prices = load_price_list([product], now=now)
        commands.require_tier(caller, prices.from_tier)
        # Raises NotSold.
        _ = prices.quote(caller.terms)
        if not is_free_by_plan([product], caller=caller, now=now):
            return commands.find_or_create(wallet, kind, tier=caller.tier, status=Status.AWAITING_PAYMENT, now=now)
    return commands.queue_unpaid(wallet, kind, tier=caller.tier, now=now)


def get_wishes(export: Export) -> dict[str, Any]:
    """Return the body of POST /v1/exports that orders this export again. `since_export` must be loaded."""
    wishes = {
        "dataset": export.dataset,
        "format": export.format,
        "filter": export.filter,
        "fields": export.fields,
        "since_export": export.since_export and export.since_export.public_id,
    }
    return {name: value for name, value in wishes.items() if value}


def pay_with_demo_wallet(caller: Caller, export: Export, *, wallet: DemoWallet, now: datetime) -> Export:
    """Pay an export that awaits its payment with a demo wallet, by the checkout of the API; enqueue a step then.

    Call it outside of transactions, with another `now` than the order: then a refused payment leaves it. Raises
    ExportNotPayable, and what checkout.order_export raises.
    """
    wishes = get_wishes(export)
    offer = quote.quote_export(caller, wishes, now=now)
    # Another request may have paid it since: the same order would buy it again when it has ended.
    export.refresh_from_db(fields=["status"])
    if export.status != Status.AWAITING_PAYMENT or offer.price_units is None:
        raise ExportNotPayable(offer.refused or "This export awaits no payment. Nothing was charged.")
    bought = checkout.order_export(
        caller,
        wishes,
        purchase=Purchase(method="POST", url=public_url("/v1/exports"), key=payment_state.purchase_key(export)),
        proof=sign_payment(wallet, offer.price_units, now=now),
        receipt_token=None,
        now=now,
    )
    if bought.receipt is not None:
        record_delivery(bought.receipt.payment, now=now)
    return bought.export

"""Sells what tools give through the gate that REST sells through, and words refusals for a model."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson

from accounts.api_keys.authentication import MissingCredentials
from accounts.idempotency import Reused
from catalogue import paywall
from catalogue.exports.requests.commands import TooManyExports
from catalogue.exports.requests.representation import ExportNotFound
from catalogue.offers.best_offer import NoOfferThen
from catalogue.offers.booking import NoSuchOffer, OfferExpired, SlotFull, TooManyBookings
from catalogue.places import NoSuchRestaurant
from catalogue.responses import Content
from framework.api import error_handler
from framework.errors import ApiError, ErrorCode, Renamed
from framework.mcp.responses import Result
from framework.mcp.schemas import Schema
from framework.mcp.server import ERROR, in_words
from framework.mcp.tools import Call
from payments import checkout, x402
from payments.chain.networks import ours
from payments.identity.caller import caller_of
from payments.x402 import PaymentRequired
from payments.x402.proofs import PAYMENT_META

# Of x402's transport over MCP.
RECEIPT_META = "x402/payment-response"
# PaymentRequired, which a tool that sells gives to who has not paid, as far as a reader has to tell them apart.
PRICE: Schema = {"required": ["x402Version", "accepts"]}
# As X-Receipt is over HTTP.
TOKEN_META = "tablewire/receipt"  # noqa: S105  # a name

# What to do next, beside what the refusal says.
NEXT: Mapping[type[ApiError], str] = {
    NoSuchRestaurant: "Find the slug with search_restaurants.",
    NoSuchOffer: "Find one with list_offers.",
    SlotFull: "See what else there is with list_offers.",
    OfferExpired: "Find another one with list_offers.",
    NoOfferThen: "Find others with list_offers.",
    TooManyBookings: "The guest can cancel one of them by its `manage_url`.",
    ExportNotFound: "start_export gives the `id` of one, to the wallet that orders it.",
    TooManyExports: "See how far they are with get_export.",
    checkout.TierRequired: "How a tier is reached stands in restaurants://prices.",
    x402.InvalidPayment: "Nothing was charged. Call without it to be told the price, and send what the wallet signs.",
}
# Where what REST says is of no use here: who calls is settled when a client connects, and to a model a new key is no
# way out of a refusal.
INSTEAD: Mapping[type[ApiError], str] = {
    MissingCredentials: (
        "An export is a wallet's: your person has to connect this client with `Authorization: Bearer`, and the session"
        " (ws_...) of a wallet, or the key (rk_...) of an account that has linked one."
    ),
    Reused: (
        "This `idempotency_key` has booked a table already, with other arguments. Nothing more was booked: call with a"
        " new one only for one more table."
    ),
}
AGAIN = "Repeat the call with the same payment: it is not charged twice."


def served(call: Call, content: Content) -> Result:
    """The result with this content; paid for first where something in it is sold. Raises what gate.collect raises."""
    caller = caller_of(call.request)
    if not content.sold or checkout.is_given(content.sold, caller=caller, now=call.now):
        return Result(content.body)
    receipt = checkout.collect(
        checkout.Purchase.for_tool_call(call.tool, call.told),
        products=content.sold,
        caller=caller,
        proof=x402.parse_mcp_proof(call.meta),
        receipt_token=token_of(call),
        now=call.now,
    )
    return paid(content.body, receipt)


def token_of(call: Call) -> str | None:
    """The token of an earlier receipt that came beside the call."""
    token = call.meta.get(TOKEN_META)
    return token if isinstance(token, str) else None


def paid(body: bytes, receipt: x402.Receipt) -> Result:
    """A result that was paid for, with its receipt."""
    settled = receipt.settled.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Result(
        body, meta={RECEIPT_META: settled, TOKEN_META: receipt.token}, then=partial(x402.mark_delivered, receipt)
    )


def is_buyer(call: Call, product: str) -> bool:
    """Whether the caller could buy the product; see catalogue.paywall."""
    return paywall.is_buyer(call.request, product, meta=call.meta, now=call.now)


def refused(call: Call, refusal: ApiError) -> Result:
    """A refusal as a result: of what costs something the challenge of x402, of all else a sentence."""
    request_id = error_handler.request_id_of(call.request)
    if isinstance(refusal, PaymentRequired):
        return priced(call, refusal, request_id=request_id)
    return in_words(refusal, request_id=request_id, words=worded(refusal, meta=call.meta))


def has_payment(meta: Mapping[str, Any]) -> bool:
    """Whether a payment stood beside the call, readable or not; null is none."""
    return meta.get(PAYMENT_META) is not None


def worded(refusal: ApiError, *, meta: Mapping[str, Any]) -> str:
    """What a refusal says to a model, and what to do next; `meta` stood beside the call."""
    is_paid = has_payment(meta)
    match refusal.code:
        case ErrorCode.INTERNAL_ERROR:
            return f"This failed on our side. {AGAIN}" if is_paid else "This failed on our side; nothing was charged."
        case ErrorCode.SERVICE_UNAVAILABLE if is_paid:
            return refusal.message.replace("Try again.", AGAIN)
        case ErrorCode.RENAMED if isinstance(refusal, Renamed):
            return f"{refusal.message} Call again with the slug `{refusal.name}`."
    said, after = INSTEAD.get(type(refusal), refusal.message), NEXT.get(type(refusal))
    return f"{said} {after}" if after else said


def priced(call: Call, refusal: PaymentRequired, *, request_id: str) -> Result:
    """PaymentRequired of x402 version 2, twice: as structured content, and as text.

    Of a payment that came it also says that it has settled nothing, as x402's own servers do.
    """
    is_paid = has_payment(call.meta)
    told = refusal.required.model_dump(mode="json", by_alias=True, exclude_none=True)
    told["error"] = f"{refusal.code}: {refusal.message}"
    if is_paid:
        told[RECEIPT_META] = {
            "success": False,
            "errorReason": refusal.reason or refusal.code.value,
            "transaction": "",
            "network": ours().caip2,
        }
    at_rest = refusal.body_override or {}
    beside = {name: at_rest[name] for name in ("tier_required", "reason", "refund") if at_rest.get(name)}
    return Result(
        orjson.dumps(told),
        meta={ERROR: {"code": refusal.code, "message": refusal.message, "request_id": request_id, **beside}},
        is_error=True,
        is_challenge=not is_paid,
    )

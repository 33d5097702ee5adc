"""Payments of tools (the same checkout as REST), and refusals in text for a model."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

import orjson

from accounts.api_keys.authentication import MissingCredentials
from accounts.idempotency import IdempotencyKeyReused
from catalogue import paywall
from catalogue.attribution import list_sources
from catalogue.bookings.owners import SignInRequired
from catalogue.bookings.venues import TakesNoBookings
from catalogue.exports.requests.commands import TooManyExports
from catalogue.exports.requests.representation import ExportNotFound
from catalogue.offers.booking import AlreadyBooked, NoSuchBooking, NoSuchOffer, OfferExpired, SlotFull, TooManyBookings
from catalogue.places import RestaurantNotFound
from catalogue.responses import Content
from framework.api import error_handler
from framework.errors import ApiError, ErrorCode, Renamed
from framework.mcp.responses import ToolResult
from framework.mcp.schemas import Schema
from framework.mcp.server import ERROR_META
from framework.mcp.server import refusal_result as server_refusal_result
from framework.mcp.tools import ToolCall
from payments.interface import (
    PAYMENT_META,
    InvalidPayment,
    PaymentRequired,
    Purchase,
    Receipt,
    caller_of,
    collect_payment,
    is_free_by_plan,
    mark_delivered,
    parse_mcp_proof,
    payment_network,
)
from reservations.booking.terms import DepositRequired

# Keys in `_meta`: of x402's MCP transport, the receipt token (X-Receipt over HTTP), and the statement
# (Receipt-Statement).
RECEIPT_META = "x402/payment-response"
TOKEN_META = "tablewire/receipt"  # noqa: S105  # a name
STATEMENT_META = "tablewire/statement"
# The members by which a caller recognizes PaymentRequired in a result.
PRICE: Schema = {"required": ["x402Version", "accepts"]}

# What to do next, after the message of the refusal.
NEXT_STEPS: Mapping[type[ApiError], str] = {
    RestaurantNotFound: "Find the slug with search_restaurants.",
    NoSuchOffer: "Find one with list_offers.",
    SlotFull: "See what else there is with check_availability and list_offers.",
    OfferExpired: "Find another one with list_offers.",
    DepositRequired: "check_availability shows the terms of other times.",
    TakesNoBookings: "search_restaurants with `bookable_at` finds restaurants that have a free table.",
    NoSuchBooking: "book_table gives the `id` and the `manage_token`; list_my_bookings lists those of an account.",
    TooManyBookings: "The guest can cancel one of them with cancel_booking, or by its `manage_url`.",
    AlreadyBooked: (
        "Tell the guest about it. get_booking shows it, change_booking moves it and cancel_booking cancels it, with"
        " the `manage_token` of the first answer; the link in the guest's confirmation does all three."
    ),
    ExportNotFound: "start_export gives the `id` of one, to the wallet that orders it.",
    TooManyExports: "See how far they are with get_export.",
    InvalidPayment: "Nothing was charged. Call without it to be told the price, and send what the wallet signs.",
}
# Replacements for messages that do not help a model: it cannot change the credentials of the connection, and must not
# work around a refusal by a new key.
REPLACEMENTS: Mapping[type[ApiError], str] = {
    MissingCredentials: (
        "This is for a proven wallet: your person has to connect this client with `Authorization: Bearer`, and the"
        " session (ws_...) of a wallet, or the key (rk_...) of an account that has linked one."
    ),
    SignInRequired: (
        "Connect with a wallet session or an API key to list bookings. Without one, get_booking takes the"
        " `booking_id` and `manage_token` that book_table gave."
    ),
    IdempotencyKeyReused: (
        "This `idempotency_key` has booked a table already, with other arguments. Nothing more was booked: call with a"
        " new one only if the person wants one more table."
    ),
}
REPEAT_PAYMENT = "Repeat the call with the same payment: it is not charged twice."


def deliver(call: ToolCall, content: Content) -> ToolResult:
    """Return the content, after collecting its price if it is sold. Raises what checkout.collect raises."""
    caller, purchase = caller_of(call.request), Purchase.for_tool_call(call.tool, call.arguments)
    if content.quoted:
        paywall.require_signed_payment(call.request, purchase, content.quoted, meta=call.meta, now=call.now)
    if not content.sold or content.is_bought or is_free_by_plan(content.sold, caller=caller, now=call.now):
        return ToolResult(content.body)
    receipt = collect_payment(
        purchase,
        products=content.sold,
        caller=caller,
        proof=parse_mcp_proof(call.meta),
        receipt_token=receipt_token(call),
        now=call.now,
    )
    return paid_result(content.body, receipt, at=content.at or call.now, version=content.version)


def receipt_token(call: ToolCall) -> str | None:
    """The token of an earlier receipt in `_meta`."""
    token = call.meta.get(TOKEN_META)
    return token if isinstance(token, str) else None


def paid_result(body: bytes, receipt: Receipt, *, at: datetime, version: int | None = None) -> ToolResult:
    """A paid result with its receipt, which is marked as delivered once it was sent.

    `at` is the moment whose data it shows and `version` that of the restaurant, for the statement about its body.
    """
    settled = receipt.settled.model_dump(mode="json", by_alias=True, exclude_none=True)
    meta = {RECEIPT_META: settled, TOKEN_META: receipt.token}

    def sign_statement(sent: bytes) -> Mapping[str, Any]:
        statement = receipt.sign_statement(sent, at=at, version=version, sources=list_sources(sent))
        return {STATEMENT_META: statement} if statement else {}

    return ToolResult(body, meta=meta, on_sent=partial(mark_delivered, receipt), meta_of_body=sign_statement)


def is_buyer(call: ToolCall, product: str) -> bool:
    """Whether the caller could buy the product; see catalogue.paywall."""
    return paywall.is_buyer(call.request, product, meta=call.meta, now=call.now)


def has_bought_insight(call: ToolCall, slug: str) -> bool:
    """Whether the caller has bought the insight of this restaurant; see catalogue.paywall."""
    return paywall.has_bought_insight(call.request, slug, receipt_token=receipt_token(call), now=call.now)


def refusal_result(call: ToolCall, refusal: ApiError) -> ToolResult:
    """A refusal as a result: an x402 challenge for PaymentRequired, else a text."""
    request_id = error_handler.request_id_of(call.request)
    if isinstance(refusal, PaymentRequired):
        return _payment_challenge(call, refusal, request_id=request_id)
    text = describe_refusal(refusal, meta=call.meta)
    return server_refusal_result(refusal, request_id=request_id, text=text)


def describe_refusal(refusal: ApiError, *, meta: Mapping[str, Any]) -> str:
    """The text of a refusal for a model, with what to do next."""
    has_payment = meta.get(PAYMENT_META) is not None
    match refusal.code:
        case ErrorCode.INTERNAL_ERROR:
            if has_payment:
                return f"This failed on our side. {REPEAT_PAYMENT}"
            return "This failed on our side; nothing was charged."
        case ErrorCode.SERVICE_UNAVAILABLE if has_payment:
            return refusal.message.replace("Try again.", REPEAT_PAYMENT)
        case ErrorCode.RENAMED if isinstance(refusal, Renamed):
            return f"{refusal.message} Call again with the slug `{refusal.name}`."
    text = REPLACEMENTS.get(type(refusal), refusal.message)
    next_step = NEXT_STEPS.get(type(refusal))
    return f"{text} {next_step}" if next_step else text


def _payment_challenge(call: ToolCall, refusal: PaymentRequired, *, request_id: str) -> ToolResult:
    """PaymentRequired of x402 version 2, as structured content and as text.

    If a payment came with the call, it also says that nothing was settled, as the servers of x402 do.
    """
    has_payment = call.meta.get(PAYMENT_META) is not None
    body = refusal.required.model_dump(mode="json", by_alias=True, exclude_none=True)
    body["error"] = f"{refusal.code}: {refusal.message}"
    if has_payment:
        body[RECEIPT_META] = {
            "success": False,
            "errorReason": refusal.reason or refusal.code.value,
            "transaction": "",
            "network": payment_network().caip2,
        }
    rest_body = refusal.body_override or {}
    words = ("tier_required", "token", "from_usd", "from_stake", "tiers", "reason", "refund")
    details = {name: rest_body[name] for name in words if rest_body.get(name)}
    error = {"code": refusal.code, "message": refusal.message, "request_id": request_id, **details}
    return ToolResult(orjson.dumps(body), meta={ERROR_META: error}, is_error=True, is_challenge=not has_payment)

"""The page on which a guest pays an order in USDC, by a transfer or by an x402 client.

GET shows what to send where. POST takes the hash of a transfer from the form of the page, and answers with a page;
without the form it answers x402 clients: 402 with the price, and 200 for a request with the payment.
"""

from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import orjson
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Venue
from catalogue.order_payments import payment
from catalogue.order_payments.payment import OrderNotPayable
from framework.api.error_handler import error_response
from framework.api.rate_limits.client_ip import address_bucket
from framework.api.rate_limits.middleware import Allowance, RateLimitExceeded, count_call
from framework.errors import ApiError
from framework.resilience.deadline import response_deadline
from orders.models import Order
from orders.order_json import serialize_payment
from orders.ordering_page import links
from orders.ordering_page.online_orders import is_payable
from orders.ordering_page.qr_codes import draw_code
from orders.ordering_page.views import ordering_page
from payments.interface import (
    CALLER_HEADERS,
    SIGN_IN_HEADER,
    InvalidPayment,
    PaymentRequired,
    TransactionNotFound,
    TransactionProof,
    anonymous_caller,
    identify_caller,
    parse_proof,
    payment_network,
)

TEMPLATE = "catalogue/order_payment.html"
FORM_FIELD = "transaction"
MINUTE_S = 60
# Each price is signed, and costs a few queries.
MAX_PRICES_PER_MINUTE = 60


@ordering_page("GET", "HEAD", "POST")
def pay(request: HttpRequest, venue: Venue, context: dict[str, Any], *, token: str) -> HttpResponse:
    """Show what to send (GET), or take the payment (POST)."""
    # As in the data API: while the chain or the facilitator does not answer, too.
    with response_deadline():
        return respond(request, venue, context, token=token)


def respond(request: HttpRequest, venue: Venue, context: dict[str, Any], *, token: str) -> HttpResponse:
    order = links.find(token, venue=venue, now=venue.now())
    order.venue = venue
    if request.method == "POST" and FORM_FIELD not in request.POST:
        return answer_client(request, order)
    placed = reverse("ordering-placed", kwargs={"venue": venue.public_id, "token": token})
    context |= {"order": order, "order_page": f"{placed}?{urlencode({'lang': context['language']})}"}
    if request.method == "POST":
        return take_transaction(request, order, context)
    if not is_payable(order):
        return redirect(context["order_page"])
    return show_transfer(request, order, context)


def answer_client(request: HttpRequest, order: Order) -> HttpResponse:
    """Answer an x402 client in JSON: 402 with the price, or 200 once the order is paid."""
    now = timezone.now()
    try:
        proof = parse_proof(request.headers)
        headers = {"Cache-Control": "no-store", "Vary": ", ".join(CALLER_HEADERS)}
        receipt = None
        if proof is not None or order.payment_state != Order.PaymentState.PAID:
            if proof is None:
                count_price(request)
            # A signature may cost a request to the chain, as a payment does.
            if proof is not None or SIGN_IN_HEADER in request.headers:
                payment.count_attempt(order)
            receipt = payment.pay(
                order,
                caller=identify_caller(request, now=now),
                proof=proof,
                receipt_token=request.headers.get("X-Receipt"),
                now=now,
            )
            headers |= receipt.headers
    except ApiError as error:
        return error_response(error, request)
    body = {"order": order.public_id, "number": order.number, "payment": serialize_payment(order)}
    response = JsonResponse(body, headers=headers)
    if receipt is not None:
        receipt.attach_statement(response, response.content, at=now)
    return response


def count_price(request: HttpRequest) -> None:
    """Count a request for the price at its network address. Raises RateLimitExceeded."""
    usage = count_call("order-payment-prices", Allowance(address_bucket(request), MAX_PRICES_PER_MINUTE, MINUTE_S))
    if usage.count > usage.limit:
        wait_s = max(usage.wait_s, 1)
        raise RateLimitExceeded(
            f"Rate limit: {usage.limit} requests for a price a minute; next one in {wait_s} s.",
            headers={"Retry-After": str(wait_s), "Cache-Control": "no-store"},
        )


def show_transfer(request: HttpRequest, order: Order, context: dict[str, Any]) -> HttpResponse:
    """Show the amount and the receiver of a transfer. The amount names the order."""
    try:
        payment.pay(order, caller=anonymous_caller(request), proof=None, now=timezone.now())
    except OrderNotPayable:
        return redirect(context["order_page"])
    except PaymentRequired as required:
        asked = orjson.loads(required.headers["x402"])
    except ApiError:
        asked = None
    # Without an amount of its own a transfer could not be told from others.
    if asked is None or asked["amount"] == serialize_amount(order):
        context["is_unavailable"] = True
        return answer(request, context, status=503)
    network = payment_network()
    units = network.to_atomic(Decimal(asked["amount"]))
    # ERC-681: a wallet opens it with everything filled in.
    link = f"ethereum:{asked['asset_address']}@{network.chain_id}/transfer?address={asked['pay_to']}&uint256={units}"
    return answer(request, context | {"asked": asked, "link": link, "code": draw_code(link)})


def take_transaction(request: HttpRequest, order: Order, context: dict[str, Any]) -> HttpResponse:
    """Take the hash of a transfer, and lead to the paid order."""
    text = request.POST[FORM_FIELD].strip()
    context["transaction"] = text[:100]
    try:
        proof = parse_proof({"X-Payment": text})
        if not isinstance(proof, TransactionProof):
            raise InvalidPayment("This is no hash.")
        if payment.has_paid(order, proof):
            return redirect(context["order_page"])
        payment.count_attempt(order)
        payment.pay(order, caller=anonymous_caller(request), proof=proof, now=timezone.now())
    except ApiError as refusal:
        return answer(request, context | {"error": explain(refusal)}, status=409)
    return redirect(context["order_page"])


def explain(refusal: ApiError) -> str:
    """Return what went wrong, for the guest."""
    refund = (refusal.body_override or refusal.extra).get("refund")
    match refusal:
        case InvalidPayment():
            return _("This is not the hash of a transaction. It begins with 0x, and 64 letters and digits follow.")
        case TransactionNotFound():
            return _("The network does not show this transaction yet. Wait a few seconds, then send it again.")
        case RateLimitExceeded():
            return _("Too many attempts. Please ask the restaurant.")
        case OrderNotPayable() if refund:
            return _("This order was paid or cancelled before. Your transfer goes back to the wallet that sent it.")
        case OrderNotPayable():
            return _("This order can no longer be paid. Please ask the restaurant.")
        case PaymentRequired() if refund:
            return _(
                "This transfer does not pay your order: its amount is another one, or it is too old. It goes back to"
                " the wallet that sent it."
            )
        case PaymentRequired():
            return _("This transaction does not pay your order. Please check it.")
    return _("The payment cannot be checked at the moment. Send it again in a few seconds: you never pay twice.")


def answer(request: HttpRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    response = render(request, TEMPLATE, context, status=status)
    response["Cache-Control"] = "no-store, private"
    return response


def serialize_amount(order: Order) -> str:
    return str((serialize_payment(order) or {}).get("amount", ""))

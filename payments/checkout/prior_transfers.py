"""Transfers that arrived before the caller presented them: each buys this purchase, or a refund is due."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.utils import timezone

from framework.errors import ApiError
from payments.chain.reads import Transfer
from payments.checkout.context import Sale, SettlementPending
from payments.ledger import transitions
from payments.models import Payment
from payments.tiers import holdings
from payments.tiers.definitions import Tier
from payments.tiers.terms import Terms
from payments.x402.challenges import PaymentAlreadyUsed, PaymentRejected
from payments.x402.receipts import Receipt

State = Payment.State
# An older transfer was not made for this request.
MAX_AGE = timedelta(minutes=15)
MESSAGES = {
    "wrong_amount": "Less has arrived than this costs.",
    "anonymous_proof_too_large": "So much is taken from a proven wallet only: sign in with it and ask again.",
    "too_old": "The transaction is older than 15 minutes.",
}


def assess_transfer(sale: Sale, *, payer: str, amount: Decimal, age: timedelta) -> tuple[Terms, str | None]:
    """Return the payer's best terms, and why this money does not buy the purchase (None: it does).

    Reads the payer's holding from the chain unless it is cached. Raises RpcUnavailable, and NotSold for a product
    without a price.
    """
    _ = sale.quote
    payer_terms = holdings.load_terms(payer, now=sale.now)
    best = sale.best_terms(payer, payer_terms)
    if best.tier < sale.prices.from_tier:
        return best, "tier_required"
    if amount < min(sale.acceptable_amounts(payer, payer_terms)):
        return best, "wrong_amount"
    return best, "too_old" if age > MAX_AGE else None


def check_anonymous_limit(sale: Sale, amount: Decimal) -> str | None:
    """Return why a caller without a proven wallet may not use this transfer: the hash of a large one may be copied.

    Where the purchase is the same whoever presents it, a copy buys what its sender has paid for.
    """
    if not sale.caller.wallets and not sale.prices.is_for_anyone and amount > settings.ANONYMOUS_PROOF_MAX_USDC:
        return "anonymous_proof_too_large"
    return None


def new_payment(sale: Sale, transfer: Transfer, *, tier: Tier, problem: str | None, **values: Any) -> Payment:
    """Return the payment of a transfer, not saved: settled, or refund due if there is a problem."""
    return sale.new_payment(
        state=State.REFUND_DUE if problem else State.SETTLED,
        payer=transfer.payer,
        tier=tier.name,
        error=problem or "",
        claimed_at=sale.now,
        settled_at=sale.now,
        **transitions.transfer_fields(transfer),
        **values,
    )


def spend_refund_due(sale: Sale, payment: Payment) -> bool:
    """Let money that is refund due buy this purchase; False if another request has spent it, or its time is over.

    A transfer that was too old when it came stays too old. Raises what `build_refund_due_error` returns if the money
    does not suffice.
    """
    age = sale.now - payment.settled_at if payment.settled_at else timedelta(0)
    best, problem = assess_transfer(sale, payer=payment.payer, amount=payment.amount_usdc, age=age)
    problem = problem or check_anonymous_limit(sale, payment.amount_usdc)
    if payment.error == "too_old":
        problem = "too_old"
    if problem is not None:
        raise build_refund_due_error(sale, payment, problem=problem, terms=best)
    payment.purchase, payment.method = sale.purchase.key, sale.purchase.method
    payment.channel, payment.resource = sale.purchase.channel, sale.purchase.url
    payment.products, payment.tier = list(sale.prices.products), best.tier.name
    payment.origin = sale.caller.origin
    is_spent = transitions.spend_refund_due(payment, now=timezone.now())
    if not is_spent:
        payment.refresh_from_db()
    return is_spent


def build_refund_due_error(sale: Sale, payment: Payment, *, problem: str, terms: Terms) -> ApiError:
    """Return the error for money that has arrived and buys nothing."""
    if problem == "tier_required":
        return sale.build_tier_error(terms, refund=payment.public_id)
    return sale.build_payment_error(
        PaymentRejected,
        f"{MESSAGES[problem]} A refund of what you have sent is due.",
        reason=problem,
        refund=payment.public_id,
    )


def mark_refund_due_if_undelivered(payment: Payment) -> bool:
    """Mark a payment refund due whose answer cannot be made any more; False if the answer was delivered.

    The request that settled the payment may still be answering it. Raises SettlementPending then.
    """
    if payment.state != State.SETTLED or payment.settled_at is None:
        return False
    if payment.settled_at > timezone.now() - transitions.CLAIM_TIMEOUT:
        raise SettlementPending
    return transitions.mark_refund_due(payment.pk, reason=Payment.RefundReason.NOT_DELIVERED, by="checkout")


def get_receipt(sale: Sale, payment: Payment) -> Receipt:
    """Return the receipt of an earned payment that was made for this purchase, while its answer is served again.

    A payment that does not cover what the answer contains now becomes refund due if it was never delivered. Raises
    PaymentAlreadyUsed and SettlementPending.
    """
    if sale.is_covered_by(payment):
        if transitions.count_repeat(payment, now=sale.now):
            return Receipt.for_payment(payment)
        message = "The answer to this payment was given, and its time is over."
        raise sale.build_payment_error(PaymentAlreadyUsed, message)
    message = "There is more in this answer now than was paid for."
    if mark_refund_due_if_undelivered(payment):
        raise sale.build_payment_error(
            PaymentAlreadyUsed,
            f"{message} The money of this payment goes back to you.",
            reason=State.REFUND_DUE,
            refund=payment.public_id,
        )
    raise sale.build_payment_error(PaymentAlreadyUsed, message)

"""Payments by the identifier that their payer has given them (x402, extension payment-identifier).

A client that has lost an answer signs a new authorization with the same identifier. It is served what the first
payment has bought, and the new authorization is never settled. An identifier is not signed and belongs to its payer:
it is looked up only for an authorization that the payer has signed, that is valid now and that is not on the chain.
"""

from django.utils import timezone

from framework.errors import ApiError, ErrorCode
from payments.checkout.context import Sale
from payments.checkout.pending_settlement import SettlementPending, check_chain, is_abandoned
from payments.checkout.prior_transfers import mark_refund_due_if_undelivered
from payments.ledger import transitions
from payments.ledger.reconcile import AuthorizationStatus
from payments.models import Payment
from payments.x402.proofs import Authorization
from payments.x402.receipts import Receipt

State = Payment.State


class PaymentIdentifierReused(ApiError):
    """The payer has given this identifier to another payment, which does not buy this purchase."""

    code = ErrorCode.PAYMENT_IDENTIFIER_REUSED

    def __init__(self, message: str, *, refund: str | None = None) -> None:
        super().__init__(
            f"{message} Nothing was charged for this one: pay under a new identifier.",
            extra={"refund": refund} if refund else {},
            headers={"Cache-Control": "no-store"},
        )


def find_first_payment(sale: Sale, signed: Authorization) -> Payment | None:
    """Return the payer's payment with this identifier; None also for an authorization that is not valid now."""
    if not signed.is_valid_at(sale.now.timestamp()):
        return None
    return transitions.find_by_identifier(payer=signed.payer, identifier=signed.payment_identifier)


def get_first_receipt(sale: Sale, payment: Payment) -> Receipt | None:
    """Return the receipt of the payer's first payment with this identifier; None while its settlement has not ended.

    This request does not hold the first payment's signature: if its settlement was abandoned the chain is asked, and
    only a request with its own header can have it settled again. Raises PaymentIdentifierReused and SettlementPending.
    """
    if payment.purchase != sale.purchase.key:
        raise PaymentIdentifierReused("This payment identifier names your payment for something else.")
    is_taken_over = (
        payment.state in transitions.OPEN
        and is_abandoned(payment)
        and transitions.take_over(payment, now=timezone.now())
    )
    if is_taken_over and check_chain(payment) not in (AuthorizationStatus.ARRIVED, AuthorizationStatus.VOID):
        transitions.mark_unknown(payment, reason=payment.error)
        raise SettlementPending
    if payment.state in transitions.OPEN or not payment.payment_identifier:
        return None
    if payment.state not in Payment.EARNED:
        raise PaymentIdentifierReused(
            "The money of your payment with this identifier goes back to you, or was sent back.",
            refund=payment.public_id,
        )
    if not sale.is_covered_by(payment):
        raise PaymentIdentifierReused(
            "There is more in this answer now than you have paid for under this identifier.",
            refund=payment.public_id if mark_refund_due_if_undelivered(payment) else None,
        )
    if not transitions.is_readable(payment, now=sale.now):
        raise PaymentIdentifierReused(
            "The answer to your payment with this identifier was given, and its time is over."
        )
    return Receipt.for_payment(payment)

"""Knows a payment by the name that its payer has given to it (x402, extension payment-identifier).

Who has lost an answer and signs anew, under the same identifier, gets what the first payment has bought. The new one
is never settled. An identifier is not signed, but it is its payer's own: without a payment that the payer has signed,
is good now and is not on the chain, it opens nothing.
"""

from django.utils import timezone

from framework.errors import Code, Refusal
from payments.checkout.context import Sale, public_id
from payments.checkout.pending_settlement import SettlementPending, is_left, looked
from payments.checkout.prior_transfers import owed_undelivered
from payments.ledger import transitions
from payments.ledger.reconcile import Fate
from payments.models import Payment
from payments.x402 import Authorization, Receipt, receipt_of

State = Payment.State


class PaymentIdentifierReused(Refusal):
    """The payer has given this identifier to another payment, which does not buy what is wanted now."""

    code = Code.PAYMENT_IDENTIFIER_REUSED

    def __init__(self, why: str, *, refund: str | None = None) -> None:
        super().__init__(
            f"{why} Nothing was charged for this one: pay under a new identifier.",
            extra={"refund": refund} if refund else {},
            headers={"Cache-Control": "no-store"},
        )


def first_of(sale: Sale, signed: Authorization) -> Payment | None:
    """The payment that the payer has named so before; None also for one that its signature does not speak for now."""
    if not signed.is_valid_at(sale.now.timestamp()):
        return None
    return transitions.named(payer=signed.payer, identifier=signed.payment_identifier)


def bought(sale: Sale, row: Payment) -> Receipt | None:
    """What the first payment of this name has bought; None while it has not ended, or has just let its name go.

    Nobody holds its signature here: where it was left by who settled it, the chain is asked, and only its own header
    can have it settled again. Raises PaymentIdentifierReused and SettlementPending.
    """
    if row.purchase != sale.purchase.key:
        raise PaymentIdentifierReused("This payment identifier names your payment for something else.")
    if row.state in transitions.OPEN and is_left(row) and transitions.take_over(row, now=timezone.now()):
        fate = looked(row)
        if fate not in (Fate.ARRIVED, Fate.LOST):
            transitions.leave_open(row, why=row.error)
            raise SettlementPending
    if row.state in transitions.OPEN or not row.payment_identifier:
        return None
    return answer_of(sale, row)


def answer_of(sale: Sale, row: Payment) -> Receipt:
    """The receipt of a payment that has arrived, where it is good for what is wanted now."""
    if row.state not in (State.SETTLED, State.DELIVERED):
        raise PaymentIdentifierReused(
            "The money of your payment with this identifier is owed back to you, or was sent back.",
            refund=public_id(row),
        )
    if not sale.is_in(row):
        raise PaymentIdentifierReused(
            "There is more in this answer now than you have paid for under this identifier.",
            refund=public_id(row) if owed_undelivered(row) else None,
        )
    if not transitions.is_readable(row, now=sale.now):
        raise PaymentIdentifierReused(
            "The answer to your payment with this identifier was given, and its time is over."
        )
    return receipt_of(row)

"""Money that has arrived before we were asked: whether it buys what is wanted now, or is owed back."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.utils import timezone

from framework.errors import Refusal
from payments.chain.networks import ours
from payments.chain.reads import Transfer
from payments.checkout.context import Sale, public_id
from payments.checkout.pending_settlement import SettlementPending
from payments.ledger import transitions
from payments.models import Payment
from payments.tiers.definitions import Tier
from payments.tiers.terms import Terms
from payments.x402 import PaymentAlreadyUsed, PaymentRejected

State = Payment.State
# An older transfer was not made for this request.
MOST_AGE = timedelta(minutes=15)
WORDS = {
    "wrong_amount": "Less has arrived than this costs.",
    "anonymous_proof_too_large": "So much is taken from a proven wallet only: sign in with it and ask again.",
    "too_old": "The transaction is older than 15 minutes.",
}


def objection(sale: Sale, *, payer: str, amount: Decimal, terms: Terms, age: timedelta) -> str | None:
    """Why money that has arrived buys nothing here, None where it does."""
    if sale.terms_for(payer, terms).tier < sale.prices.from_tier:
        return "tier_required"
    if amount < min(sale.acceptable(payer, terms)):
        return "wrong_amount"
    if age > MOST_AGE:
        return "too_old"
    return None


def too_large(sale: Sale, amount: Decimal) -> str | None:
    """Whether somebody without a proven wallet shows the hash of too much money: it may be another's."""
    if not sale.caller.wallets and amount > settings.ANONYMOUS_PROOF_MOST_USDC:
        return "anonymous_proof_too_large"
    return None


def line(sale: Sale, transfer: Transfer, *, tier: Tier, problem: str | None, **values: Any) -> Payment:
    """The line of a transfer that has arrived, not written yet: it buys this, or is owed back."""
    return sale.line(
        state=State.REFUND_DUE if problem else State.SETTLED,
        network=ours().caip2,
        asset=ours().asset,
        payer=transfer.payer,
        pay_to=settings.PAY_TO,
        amount_usdc=transfer.amount,
        tier=tier.name,
        tx_hash=transfer.tx_hash,
        log_index=transfer.log_index,
        block=transfer.block,
        error=problem or "",
        attempts=1,
        claimed_at=sale.now,
        settled_at=sale.now,
        **values,
    )


def owed(sale: Sale, row: Payment, *, problem: str, terms: Terms) -> Refusal:
    """The refusal of money that has arrived and is owed back."""
    if problem == "tier_required":
        return sale.not_sold_to(terms, refund=public_id(row))
    return sale.refused(
        PaymentRejected,
        f"{WORDS[problem]} What you have sent is owed back to you.",
        reason=problem,
        refund=public_id(row),
    )


def owed_undelivered(row: Payment) -> bool:
    """Owe back what has bought an answer that cannot be made any more, and say so; False where it was delivered.

    For a moment after the money came, whoever settled it may be serving it. Raises SettlementPending then.
    """
    if row.state != State.SETTLED or row.settled_at is None:
        return False
    if row.settled_at > timezone.now() - transitions.STALE:
        raise SettlementPending
    return transitions.owe_back(row.pk, reason=Payment.OwedFor.NOT_DELIVERED, by="gate")


def outgrown(sale: Sale, row: Payment) -> PaymentAlreadyUsed:
    """The refusal of a payment that would now buy more than was paid for. Raises SettlementPending."""
    if owed_undelivered(row):
        return sale.refused(
            PaymentAlreadyUsed,
            "There is more in this answer now than was paid for. The money of this payment goes back to you.",
            reason=State.REFUND_DUE,
            refund=public_id(row),
        )
    return sale.refused(PaymentAlreadyUsed, "There is more in this answer now than was paid for.")

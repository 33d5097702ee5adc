"""Payments in the ledger for a request: the one that it presents, and those that wait for their answer."""

from datetime import datetime

from django.db.models import Q

from payments.chain.networks import payment_network
from payments.identity.caller import Caller
from payments.ledger import transitions
from payments.models import Payment
from payments.x402.proofs import Authorization, Proof, TransactionProof
from payments.x402.purchase import Purchase


def find_presented(proof: Proof | None, *, caller: Caller, now: datetime) -> Payment | None:
    """Return the ledger row of the presented payment, or of the one with the same payment identifier; None if none.

    It does not show that the caller is its owner: the checkout checks that. At most two queries.
    """
    if isinstance(proof, TransactionProof):
        rows = Payment.objects.filter(network=payment_network().caip2, tx_hash=proof.tx_hash, form=Payment.Form.TX)
        transfers = rows.order_by("log_index", "pk")
        return transfers.filter(payer__in=caller.wallets).first() or transfers.first()
    if not isinstance(proof, Authorization):
        return None
    row = transitions.find_by_proof(network=proof.network, proof_key=proof.proof_key)
    if row is None and proof.is_valid_at(now.timestamp()) and proof.is_signed():
        row = transitions.find_by_identifier(payer=proof.payer, identifier=proof.payment_identifier)
    return row


def list_pending(purchase: Purchase) -> list[Payment]:
    """Return the payments for a purchase that are being settled, or are settled and have bought nothing. One query."""
    is_open, arrived = Q(state__in=transitions.OPEN), Q(state=Payment.State.SETTLED, delivered_at=None)
    return list(Payment.objects.filter(is_open | arrived, purchase=purchase.key).order_by("created_at"))


def is_presenter(payment: Payment, caller: Caller) -> bool:
    """Whether this caller has sent the payment, as a proven wallet, or has presented it first."""
    return payment.payer in caller.wallets or (payment.origin != "" and payment.origin == caller.origin)


def is_presented(payment: Payment, proof: Proof | None) -> bool:
    """Whether a row of the ledger is of the payment that a request presents."""
    if isinstance(proof, TransactionProof):
        return payment.tx_hash == proof.tx_hash
    return isinstance(proof, Authorization) and (payment.network, payment.proof_key) == (
        proof.network,
        proof.proof_key,
    )

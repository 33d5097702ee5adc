"""The checkout of a transaction that was sent already (a bare transaction hash), as a state machine.

A hash is public. So it buys only for the caller who proves to be its sender, by the wallet that sent the money or by
the amount, which names the quote of one caller for one purchase (payments/x402/quotes.py). It is served again to that
caller, to the proven sender, and to the holder of the first answer's receipt. TRANSITIONS at the end of this module
lists the states in the order in which they are read; docs/checkout.md draws it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from payments.chain import reads
from payments.chain.networks import payment_network
from payments.chain.reads import NotAPayment, Transfer
from payments.checkout import prior_transfers, state_machine
from payments.checkout.context import Sale
from payments.ledger import transitions
from payments.ledger.receivers import receivers
from payments.models import Payment
from payments.tiers.definitions import FREE, Tier
from payments.x402.challenges import PaymentAlreadyUsed, PaymentRejected, TransactionNotFound
from payments.x402.proofs import TransactionProof
from payments.x402.receipts import Receipt

State = Payment.State

RETURNED = "The money of this transaction goes back to its sender, or was sent back."


@dataclass(slots=True)
class Checkout:
    """What one request knows about its transaction. Fields without a default are set before they are used."""

    sale: Sale
    proof: TransactionProof
    # The payments of the transaction that are in the ledger: one for each payer.
    payments: Sequence[Payment] = ()
    # The payment of this request.
    payment: Payment = field(init=False)
    # The transfers of the transaction to us, the largest first, and the one that this caller has proven to have sent.
    transfers: Sequence[Transfer] = ()
    transfer: Transfer | None = None


Next = state_machine.State[Checkout]


def collect(sale: Sale, proof: TransactionProof) -> Receipt:
    return state_machine.run(TRANSITIONS, Checkout(sale, proof))


def find(checkout: Checkout) -> Next:
    """Find the payments of the transaction in the ledger; authorizations that it used are known by their nonces."""
    rows = Payment.objects.filter(network=payment_network().caip2, tx_hash=checkout.proof.tx_hash)
    checkout.payments = list(rows.order_by("log_index", "pk"))
    if any(payment.form == Payment.Form.TX for payment in checkout.payments):
        checkout.payments = [payment for payment in checkout.payments if payment.form == Payment.Form.TX]
        return replay
    return read_chain


def read_chain(checkout: Checkout) -> Next:
    """Read what the transaction has brought us, and choose the transfer of this caller."""
    sale = checkout.sale
    # Raises NotSold for a product without a price, before the chain is asked.
    _ = sale.quote
    try:
        checkout.transfers = reads.find_plain_transfers(checkout.proof.tx_hash, receivers=receivers())
    except NotAPayment as error:
        if checkout.payments:
            # It used authorizations.
            is_owed = all(payment.state in (State.REFUND_DUE, State.REFUNDED) for payment in checkout.payments)
            message = RETURNED if is_owed else "This transaction has paid for an answer."
            raise sale.build_payment_error(PaymentAlreadyUsed, message) from error
        raise sale.build_payment_error(PaymentRejected, str(error), reason="not_a_payment") from error
    if not checkout.transfers:
        raise sale.build_payment_error(
            TransactionNotFound,
            "The chain does not know this transaction, or not yet. Ask again in two seconds.",
            headers={"Retry-After": "2"},
        )
    # A caller with proven wallets may use their own transfers only.
    wallets = sale.caller.wallets
    is_own = (lambda transfer: transfer.payer in wallets) if wallets else sale.is_quoted
    own = next(filter(is_own, checkout.transfers), None)
    if own is None and wallets:
        raise sale.build_payment_error(
            PaymentRejected, "Another wallet than yours has sent this.", reason="wrong_payer"
        )
    checkout.transfer = own
    return record


def record(checkout: Checkout) -> Next | Receipt:
    """Record all transfers of the transaction together: the caller's own buys the purchase, or a refund is due for it.

    The others are recorded for their senders.
    """
    sale, transfer = checkout.sale, checkout.transfer
    if transfer is None:
        return record_unproven(checkout)
    age = sale.now - transfer.mined_at
    best, problem = prior_transfers.assess_transfer(sale, payer=transfer.payer, amount=transfer.amount, age=age)
    problem = problem or prior_transfers.check_anonymous_limit(sale, transfer.amount)
    payment = new_payment(sale, transfer, tier=best.tier, problem=problem)
    others = [
        new_payment(sale, other, tier=FREE, problem="another_payer", origin="")
        for other in checkout.transfers
        if other.log_index != transfer.log_index
    ]
    if not transitions.insert(payment, *others):
        # Another request has recorded the transaction.
        return find
    if problem is not None:
        raise prior_transfers.build_refund_due_error(sale, payment, problem=problem, terms=best)
    return Receipt.for_payment(payment)


def record_unproven(checkout: Checkout) -> Next:
    """Record the transfers for their senders, and refuse the caller, who has not proven to be one of them."""
    sale = checkout.sale
    payments = [
        new_payment(
            sale,
            transfer,
            tier=FREE,
            problem="too_old" if sale.now - transfer.mined_at > prior_transfers.MAX_AGE else "unproven_sender",
            origin="",
        )
        for transfer in checkout.transfers
    ]
    if not transitions.insert(*payments):
        return find
    raise sale.build_unproven_error(refund=payments[0].public_id)


def replay(checkout: Checkout) -> Next | Receipt:
    """Judge a transaction that the ledger holds: whose it is, what it has bought, and whether it may still buy."""
    sale = checkout.sale
    # The sender's own payment first: a transaction may hold several payers' transfers, recorded together.
    own = sorted(
        filter(sale.is_owner, checkout.payments), key=lambda payment: payment.payer not in sale.caller.wallets
    )
    own = own or find_quoted(checkout)
    if not own:
        raise sale.build_unproven_error()
    payment = checkout.payment = own[0]
    if payment.state == State.REFUND_DUE:
        return spend
    if payment.state == State.REFUNDED:
        return refuse
    if payment.purchase == sale.purchase.key and payment.state in Payment.EARNED:
        return prior_transfers.get_receipt(sale, payment)
    raise sale.build_payment_error(PaymentAlreadyUsed, "This transaction has paid for another answer.")


def find_quoted(checkout: Checkout) -> list[Payment]:
    """Find the unproven payment whose amount this caller was quoted: a stranger may have presented its hash first."""
    sale, proof = checkout.sale, checkout.proof
    unproven = {
        payment.payer: payment
        for payment in checkout.payments
        if payment.state == State.REFUND_DUE and payment.error == "unproven_sender"
    }
    if not unproven or sale.caller.wallets:
        return []
    transfers = reads.find_plain_transfers(proof.tx_hash, receivers=receivers())
    return [unproven[each.payer] for each in transfers if each.payer in unproven and sale.is_quoted(each)]


def spend(checkout: Checkout) -> Next | Receipt:
    """Let money that is refund due buy this purchase if it suffices."""
    payment = checkout.payment
    if prior_transfers.spend_refund_due(checkout.sale, payment):
        return Receipt.for_payment(payment)
    # Another request has spent it, or its time to be spent is over.
    return refuse if payment.state in (State.REFUND_DUE, State.REFUNDED) else find


def refuse(checkout: Checkout) -> Receipt:
    """Refuse money that goes back to its sender."""
    payment = checkout.payment
    raise checkout.sale.build_payment_error(
        PaymentAlreadyUsed,
        RETURNED,
        reason=payment.state,
        refund=payment.public_id,
    )


def new_payment(sale: Sale, transfer: Transfer, *, tier: Tier, problem: str | None, **values: Any) -> Payment:
    """Return the payment of one transfer of the transaction, not saved."""
    proof_key = f"tx:{transfer.tx_hash}:{transfer.log_index}"
    return prior_transfers.new_payment(
        sale, transfer, tier=tier, problem=problem, form=Payment.Form.TX, proof_key=proof_key, **values
    )


# Each state, and the states that may follow. A state may also end the checkout, with a receipt or an error.
TRANSITIONS: state_machine.Transitions[Checkout] = {
    find: {read_chain, replay},
    # The ledger does not know the transaction
    read_chain: {record},
    record: {find},
    # The ledger knows it
    replay: {spend, refuse},
    spend: {refuse, find},
    refuse: set(),
}

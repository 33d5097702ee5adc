"""The checkout of a transaction that was sent already (a bare transaction hash), as a state machine.

A hash is public. So it is bound to the purchase that it first paid for, and served again only to a caller who proves
to be the buyer: by the receipt of the first answer, or by the wallet that sent the money. TRANSITIONS at the end of
this module lists the states in the order in which they are read; docs/checkout.md draws it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.utils import timezone

from payments.chain import reads
from payments.chain.networks import payment_network
from payments.chain.reads import NotAPayment, Transfer
from payments.checkout import prior_transfers, state_machine
from payments.checkout.context import Sale
from payments.ledger import transitions
from payments.models import Payment
from payments.tiers.definitions import FREE, Tier
from payments.x402.challenges import PaymentAlreadyUsed, PaymentRejected, TransactionNotFound
from payments.x402.proofs import TransactionProof
from payments.x402.receipts import Receipt, is_receipt_token

State = Payment.State


@dataclass(slots=True)
class Checkout:
    """What one request knows about its transaction. Fields without a default are set before they are used."""

    sale: Sale
    proof: TransactionProof
    receipt_token: str | None
    # The payments of the transaction that are in the ledger: one for each payer.
    payments: Sequence[Payment] = ()
    # The payment of this request.
    payment: Payment = field(init=False)
    # The transfers of the transaction to us, the largest first, and the transfer of this request.
    transfers: Sequence[Transfer] = ()
    transfer: Transfer = field(init=False)


Next = state_machine.State[Checkout]


def collect(sale: Sale, proof: TransactionProof, *, receipt_token: str | None) -> Receipt:
    return state_machine.run(TRANSITIONS, Checkout(sale, proof, receipt_token))


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
        checkout.transfers = reads.find_plain_transfers(checkout.proof.tx_hash)
    except NotAPayment as error:
        if checkout.payments:
            raise sale.build_payment_error(PaymentAlreadyUsed, "This transaction has paid for an answer.") from error
        raise sale.build_payment_error(PaymentRejected, str(error), reason="not_a_payment") from error
    if not checkout.transfers:
        raise sale.build_payment_error(
            TransactionNotFound,
            "The chain does not know this transaction, or not yet. Ask again in two seconds.",
            headers={"Retry-After": "2"},
        )
    # A caller with proven wallets may use their own transfers only; any other caller means the largest.
    wallets = sale.caller.wallets
    own = [transfer for transfer in checkout.transfers if not wallets or transfer.payer in wallets]
    if not own:
        raise sale.build_payment_error(
            PaymentRejected, "Another wallet than yours has sent this.", reason="wrong_payer"
        )
    checkout.transfer = own[0]
    return record


def record(checkout: Checkout) -> Next | Receipt:
    """Record all transfers of the transaction together: ours buys the purchase, or a refund is due for it."""
    sale, transfer = checkout.sale, checkout.transfer
    age = sale.now - transfer.mined_at
    best, problem = prior_transfers.assess_transfer(sale, payer=transfer.payer, amount=transfer.amount, age=age)
    problem = problem or prior_transfers.check_anonymous_limit(sale, transfer.amount)
    payment = new_payment(sale, transfer, tier=best.tier, problem=problem)
    others = [
        new_payment(sale, other, tier=FREE, problem="another_payer")
        for other in checkout.transfers
        if other.log_index != transfer.log_index
    ]
    if not transitions.insert(payment, *others):
        # Another request has recorded the transaction.
        return find
    if problem is not None:
        raise prior_transfers.build_refund_due_error(sale, payment, problem=problem, terms=best)
    return Receipt.for_payment(payment)


def replay(checkout: Checkout) -> Next | Receipt:
    """Judge a transaction that the ledger holds: whose it is, what it has bought, and whether it may still buy."""
    sale, payments = checkout.sale, checkout.payments
    own = [
        payment
        for payment in payments
        if payment.payer in sale.caller.wallets or is_receipt_token(checkout.receipt_token, payment.pk)
    ]
    payment = own[0] if own else min(payments, key=lambda payment: payment.state != State.REFUND_DUE)
    checkout.payment = payment
    if own and payment.purchase == sale.purchase.key and payment.state in Payment.EARNED:
        return prior_transfers.get_receipt(sale, payment)
    if payment.state == State.REFUND_DUE and (not sale.caller.wallets or payment.payer in sale.caller.wallets):
        return spend
    if payment.state in (State.REFUND_DUE, State.REFUNDED):
        return refuse
    raise sale.build_payment_error(
        PaymentAlreadyUsed,
        "This transaction has paid for an answer. It is served again to the holder of its receipt"
        " and to the wallet that sent it.",
    )


def spend(checkout: Checkout) -> Next | Receipt:
    """Let money that is refund due buy this purchase if it suffices: another caller may have presented it first.

    A transfer that was too old when it came stays too old.
    """
    sale, payment = checkout.sale, checkout.payment
    age = sale.now - payment.settled_at if payment.settled_at else timedelta(0)
    best, problem = prior_transfers.assess_transfer(sale, payer=payment.payer, amount=payment.amount_usdc, age=age)
    problem = problem or prior_transfers.check_anonymous_limit(sale, payment.amount_usdc)
    if payment.error == "too_old":
        problem = "too_old"
    if problem is not None:
        raise prior_transfers.build_refund_due_error(sale, payment, problem=problem, terms=best)
    payment.purchase, payment.method = sale.purchase.key, sale.purchase.method
    payment.channel, payment.resource = sale.purchase.channel, sale.purchase.url
    payment.products, payment.tier = list(sale.prices.products), best.tier.name
    if transitions.spend_refund_due(payment, now=timezone.now()):
        return Receipt.for_payment(payment)
    payment.refresh_from_db()
    # Another request has spent it, or its time to be spent is over.
    return refuse if payment.state in (State.REFUND_DUE, State.REFUNDED) else find


def refuse(checkout: Checkout) -> Receipt:
    """Refuse money that goes back to its sender."""
    payment = checkout.payment
    raise checkout.sale.build_payment_error(
        PaymentAlreadyUsed,
        "The money of this transaction goes back to its sender, or was sent back.",
        reason=payment.state,
        refund=payment.public_id,
    )


def new_payment(sale: Sale, transfer: Transfer, *, tier: Tier, problem: str | None) -> Payment:
    """Return the payment of one transfer of the transaction, not saved."""
    proof_key = f"tx:{transfer.tx_hash}:{transfer.log_index}"
    return prior_transfers.new_payment(
        sale, transfer, tier=tier, problem=problem, form=Payment.Form.TX, proof_key=proof_key
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

"""Takes a transaction that was sent already: the seed's bare settlement proof.

A hash is public. So it is bound to what it first bought, and served again only to who proves to be its buyer.
"""

from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from payments.chain import reads
from payments.chain.networks import ours
from payments.chain.reads import NotAPayment, Transfer
from payments.checkout.context import Sale, public_id
from payments.checkout.prior_transfers import line, objection, outgrown, owed, too_large
from payments.ledger import transitions
from payments.models import Payment
from payments.tiers import holdings
from payments.tiers.definitions import FREE, Tier
from payments.x402 import PaymentAlreadyUsed, PaymentRejected, Receipt, Sent, TransactionNotFound, receipt_of
from payments.x402.receipts import is_receipt

State = Payment.State


def collect(sale: Sale, sent: Sent, *, receipt_token: str | None) -> Receipt:
    """The receipt of this transaction, for what it has bought before or buys now."""
    rows = list(Payment.objects.filter(network=ours().caip2, tx_hash=sent.tx_hash).order_by("log_index", "pk"))
    plain = [row for row in rows if row.form == Payment.Form.TX]
    if plain:
        return known(sale, plain, receipt_token=receipt_token)
    # Without a price the chain is not asked.
    _ = sale.quote
    transfers = arrived(sale, sent, is_ours=bool(rows))
    mine = own(sale, transfers)
    theirs = holdings.terms_of(mine.payer, now=sale.now)
    best = sale.terms_for(mine.payer, theirs)
    age = sale.now - mine.mined_at
    problem = objection(sale, payer=mine.payer, amount=mine.amount, terms=theirs, age=age)
    problem = problem or too_large(sale, mine.amount)
    row = line_of(sale, mine, tier=best.tier, problem=problem)
    others = [
        line_of(sale, each, tier=FREE, problem="another_payer")
        for each in transfers
        if each.log_index != mine.log_index
    ]
    if not transitions.enter(row, *others):
        return collect(sale, sent, receipt_token=receipt_token)
    if problem is not None:
        raise owed(sale, row, problem=problem, terms=best)
    return receipt_of(row)


def arrived(sale: Sale, sent: Sent, *, is_ours: bool) -> Sequence[Transfer]:
    """What the transaction has brought us; `is_ours` says that authorizations of it are in our books."""
    try:
        transfers = reads.transfers(sent.tx_hash)
    except NotAPayment as error:
        if is_ours:
            raise sale.refused(PaymentAlreadyUsed, "This transaction has paid for an answer.") from error
        raise sale.refused(PaymentRejected, error.reason, reason="not_a_payment") from error
    if not transfers:
        raise sale.refused(
            TransactionNotFound,
            "The chain does not know this transaction, or not yet. Ask again in two seconds.",
            headers={"Retry-After": "2"},
        )
    return transfers


def own(sale: Sale, transfers: Sequence[Transfer]) -> Transfer:
    """Whose money is meant: the largest, but a proven wallet presents its own only."""
    if not sale.caller.wallets:
        return transfers[0]
    for transfer in transfers:
        if transfer.payer in sale.caller.wallets:
            return transfer
    raise sale.refused(PaymentRejected, "Another wallet than yours has sent this.", reason="wrong_payer")


def line_of(sale: Sale, transfer: Transfer, *, tier: Tier, problem: str | None) -> Payment:
    """The line of a transfer."""
    proof_key = f"tx:{transfer.tx_hash}:{transfer.log_index}"
    return line(sale, transfer, tier=tier, problem=problem, form=Payment.Form.TX, proof_key=proof_key)


def known(sale: Sale, rows: Sequence[Payment], *, receipt_token: str | None) -> Receipt:
    """What a transaction is good for that we have seen before."""
    theirs = [row for row in rows if row.payer in sale.caller.wallets or is_receipt(receipt_token, row.pk)]
    row = theirs[0] if theirs else min(rows, key=lambda each: each.state != State.REFUND_DUE)
    if theirs and row.purchase == sale.purchase.key and row.state in (State.SETTLED, State.DELIVERED):
        if not sale.is_in(row):
            raise outgrown(sale, row)
        if transitions.is_readable(row, now=sale.now):
            return receipt_of(row)
        raise sale.refused(PaymentAlreadyUsed, "The answer to this payment was given, and its time is over.")
    if row.state == State.REFUND_DUE and (not sale.caller.wallets or row.payer in sale.caller.wallets):
        if (receipt := spent_after_all(sale, row)) is not None:
            return receipt
        # Another request was first.
        for each in rows:
            each.refresh_from_db()
        return known(sale, rows, receipt_token=receipt_token)
    if row.state in (State.REFUND_DUE, State.REFUNDED):
        raise to_be_returned(sale, row)
    raise sale.refused(
        PaymentAlreadyUsed,
        "This transaction has paid for an answer. It is served again to the holder of its receipt"
        " and to the wallet that sent it.",
    )


def to_be_returned(sale: Sale, row: Payment) -> PaymentAlreadyUsed:
    """The refusal of money that buys nothing any more."""
    return sale.refused(
        PaymentAlreadyUsed,
        "The money of this transaction is owed back to its sender, or was sent back.",
        reason=row.state,
        refund=public_id(row),
    )


def spent_after_all(sale: Sale, row: Payment) -> Receipt | None:
    """Money that we owe buys for a while what is asked for now, where it suffices: a stranger may have been first.

    Not what was too old when it came: it would be young again. None where another request has spent it meanwhile.
    """
    theirs = holdings.terms_of(row.payer, now=sale.now)
    best = sale.terms_for(row.payer, theirs)
    age = sale.now - row.settled_at if row.settled_at else timedelta(0)
    problem = (
        "too_old"
        if row.error == "too_old"
        else objection(sale, payer=row.payer, amount=row.amount_usdc, terms=theirs, age=age)
        or too_large(sale, row.amount_usdc)
    )
    if problem is not None:
        raise owed(sale, row, problem=problem, terms=best)
    row.purchase, row.method, row.resource = sale.purchase.key, sale.purchase.method, sale.purchase.url
    row.door = sale.purchase.door
    row.tier = best.tier.name
    row.products = list(sale.prices.products)
    if not transitions.spend_after_all(row, now=timezone.now()):
        row.refresh_from_db()
        if row.state in (State.REFUND_DUE, State.REFUNDED):
            raise to_be_returned(sale, row)
        return None
    return receipt_of(row)

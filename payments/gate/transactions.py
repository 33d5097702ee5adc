"""Takes a transaction that was sent already: the seed's bare settlement proof.

A hash is public. So it is bound to what it first bought, and served again only to who proves to be its buyer.
"""

from datetime import timedelta
from decimal import Decimal

from django.conf import settings

from payments import chain, holdings, ledger
from payments.chain import NotAPayment, Transfer
from payments.gate.sale import Sale, public_id
from payments.models import Payment
from payments.networks import ours
from payments.tiers import Tier
from payments.wire import PaymentAlreadyUsed, PaymentRejected, Receipt, Sent, TransactionNotFound, receipt_of
from payments.wire.receipts import is_receipt

State = Payment.State
# An older transfer was not made for this request.
MOST_AGE = timedelta(minutes=15)


def collect(sale: Sale, sent: Sent, *, receipt_token: str | None) -> Receipt:
    """The receipt of this transaction, for what it has bought before or buys now."""
    row = Payment.objects.filter(network=ours().caip2, tx_hash=sent.tx_hash).first()
    if row is not None:
        return known(sale, row, receipt_token=receipt_token)
    try:
        transfer = chain.transfer(sent.tx_hash)
    except NotAPayment as error:
        raise sale.refused(PaymentRejected, error.reason, reason="not_a_payment") from error
    if transfer is None:
        raise sale.refused(
            TransactionNotFound,
            "The chain does not know this transaction, or not yet. Repeat the request in two seconds.",
            headers={"Retry-After": "2"},
        )
    bound(sale, transfer.payer)
    tier = holdings.tier_of(transfer.payer, now=sale.now)
    problem = objection(sale, amount=transfer.amount, tier=tier, age=sale.now - transfer.mined_at)
    row = line(sale, transfer, tier=tier, problem=problem)
    if not ledger.enter(row):
        return collect(sale, sent, receipt_token=receipt_token)
    if problem is not None:
        raise owed(sale, row, tier=tier)
    return receipt_of(row)


def bound(sale: Sale, payer: str) -> None:
    """A proven wallet presents its own transactions only."""
    if sale.caller.wallet is not None and sale.caller.wallet != payer:
        raise sale.refused(PaymentRejected, "Another wallet than yours has sent this.", reason="wrong_payer")


def known(sale: Sale, row: Payment, *, receipt_token: str | None) -> Receipt:
    """What a transaction is good for that we have seen before."""
    is_theirs = sale.caller.wallet == row.payer or is_receipt(receipt_token, row.pk)
    if row.form == Payment.Form.TX and is_theirs:
        if row.state == State.REFUND_DUE and sale.caller.wallet == row.payer:
            return spent_after_all(sale, row)
        if row.purchase == sale.purchase.key and row.state in (State.SETTLED, State.DELIVERED):
            if ledger.is_readable(row, now=sale.now):
                return receipt_of(row)
            raise sale.refused(PaymentAlreadyUsed, "The answer to this payment was given, and its time is over.")
    if row.state in (State.REFUND_DUE, State.REFUNDED):
        raise sale.refused(
            PaymentAlreadyUsed,
            "The money of this transaction is owed back to its sender, or was sent back.",
            reason=row.state,
            refund=public_id(row),
        )
    raise sale.refused(
        PaymentAlreadyUsed,
        "This transaction has paid for an answer. It is served again to the holder of its X-Receipt"
        " and to the wallet that sent it.",
    )


def objection(sale: Sale, *, amount: Decimal, tier: Tier, age: timedelta) -> str | None:
    """Why money that has arrived buys nothing here, None where it does."""
    if tier < sale.prices.from_tier:
        return "tier_required"
    if amount < min(sale.acceptable(tier)):
        return "wrong_amount"
    if sale.caller.wallet is None and amount > settings.ANONYMOUS_PROOF_MOST_USDC:
        return "anonymous_proof_too_large"
    if age > MOST_AGE:
        return "too_old"
    return None


def line(sale: Sale, transfer: Transfer, *, tier: Tier, problem: str | None) -> Payment:
    """The line of a transfer that has arrived: it buys this, or is owed back."""
    return sale.line(
        form=Payment.Form.TX,
        state=State.REFUND_DUE if problem else State.SETTLED,
        network=ours().caip2,
        asset=ours().asset,
        payer=transfer.payer,
        pay_to=settings.PAY_TO,
        amount_usdc=transfer.amount,
        proof_key=f"tx:{transfer.tx_hash}:{transfer.log_index}",
        tier=tier.name,
        tx_hash=transfer.tx_hash,
        log_index=transfer.log_index,
        block=transfer.block,
        error=problem or "",
        attempts=1,
        claimed_at=sale.now,
        settled_at=sale.now,
    )


WORDS = {
    "wrong_amount": "The transaction has sent less than this costs.",
    "anonymous_proof_too_large": "So much is taken from a proven wallet only: sign in with it and repeat the request.",
    "too_old": "The transaction is older than 15 minutes.",
}


def owed(sale: Sale, row: Payment, *, tier: Tier) -> Exception:
    """The refusal of money that has arrived and is owed back."""
    if row.error == "tier_required":
        return sale.not_sold_to(tier, refund=public_id(row))
    return sale.refused(
        PaymentRejected,
        f"{WORDS[row.error]} What you have sent is owed back to you.",
        reason=row.error,
        refund=public_id(row),
    )


def spent_after_all(sale: Sale, row: Payment) -> Receipt:
    """Money that is owed back to a wallet buys what the same wallet, proven now, asks for, where it suffices."""
    tier = holdings.tier_of(row.payer, now=sale.now)
    age = sale.now - row.created_at
    problem = objection(sale, amount=row.amount_usdc, tier=tier, age=age)
    if problem is not None:
        row.error = problem
        raise owed(sale, row, tier=tier)
    row.purchase, row.resource, row.tier = sale.purchase.key, sale.purchase.url, tier.name
    row.products = list(sale.prices.products)
    if not ledger.spend_after_all(row):
        row.refresh_from_db()
        raise sale.refused(
            PaymentAlreadyUsed, "The money was sent back to you.", reason=row.state, refund=public_id(row)
        )
    return receipt_of(row)

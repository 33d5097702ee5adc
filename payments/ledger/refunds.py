"""Money that is sent back: staff send it elsewhere and note the transaction, and the chain confirms it.

The key of the address to which is paid is never here, so nothing in this product can send anything back by itself.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from framework.errors import Refusal
from payments.chain import evm, reads, receipts, usdc
from payments.chain.networks import ours
from payments.chain.rpc import RpcUnavailable
from payments.ledger import reconcile, transitions
from payments.models import Payment, Refund

logger = logging.getLogger("tablewire.payments")

AT_ONCE = 50
# A transaction that no block holds by then was likely never sent.
SEEN_WITHIN = timedelta(hours=1)
NOT_SEEN = "The chain does not know this transaction, an hour after it was noted."
UNSEEN = "The chain has not shown this payment itself: there is nothing to send back yet."
# So long one is looked for that may have been sent after all.
LOOKED_FOR = timedelta(days=7)


class NotSentBack(Refusal):
    """The chain shows that a transaction has not sent back what is owed."""


class NotOwed(Refusal):
    """Nothing is to be sent back for a payment: it is not owed, may still be spent, or was sent back already."""


class NotSeen(Refusal):
    """The chain does not show a payment that is to be owed back: it may never have arrived."""


@dataclass(frozen=True, slots=True)
class SentBack:
    """What a transaction has moved of our asset, in whole units, and whose it was, by who has received it."""

    by_receiver: Mapping[str, Decimal]
    senders: Mapping[str, Sequence[str]]
    block: int


@dataclass(frozen=True, slots=True)
class Noted:
    """What came of noting one payment as sent back: `refusal` says why it was not."""

    payment: UUID
    is_confirmed: bool = False
    refusal: str | None = None


def owe_back(payment: UUID, *, reason: Payment.OwedFor, words: str = "", by: str, now: datetime) -> bool:
    """Staff owe money back that was taken (ledger.owe_back), once the chain shows that it has arrived.

    Up to ten trips to the node where nobody has seen it there before. Raises NotSeen.
    """
    row = Payment.objects.filter(pk=payment, state__in=Payment.TAKEN).first()
    if row is None:
        return False
    try:
        if not is_seen(row, now=now):
            raise NotSeen("The chain does not show that this payment has arrived: no refund is due.")
    except RpcUnavailable as error:
        raise NotSeen("The chain cannot be read, and has not shown that this payment has arrived.") from error
    return transitions.owe_back(row.pk, reason=reason, words=words, by=by)


def is_seen(row: Payment, *, now: datetime) -> bool:
    """Whether the chain has shown this payment; it is asked where it has not. Raises RpcUnavailable."""
    if row.block is None:
        reconcile.confirm(row, now=now)
        row.refresh_from_db()
    return row.block is not None


@reads.sensible
def sent_back(tx_hash: str) -> SentBack | None:
    """What the transaction has moved, None where the chain does not know it yet. One trip to the node.

    What somebody sends to themselves has not moved, and what was minted nobody has sent. Raises NotSentBack for one
    that was reverted, and RpcUnavailable.
    """
    sent = receipts.find(tx_hash)
    if sent is None:
        return None
    if sent.is_reverted:
        raise NotSentBack("The transaction was reverted: it has moved nothing.")
    received: dict[str, int] = {}
    senders: dict[str, list[str]] = {}
    for log in sent.logs:
        if not usdc.moves_asset(log) or not usdc.value(log):
            continue
        sender, receiver = usdc.sender(log), usdc.receiver(log)
        if sender not in (evm.NOBODY, receiver):
            received[receiver] = received.get(receiver, 0) + usdc.value(log)
            theirs = senders.setdefault(receiver, [])
            theirs += [sender] if sender not in theirs else []
    by_receiver = {receiver: ours().decimal(value) for receiver, value in received.items()}
    return SentBack(by_receiver=by_receiver, senders=senders, block=sent.block)


def enough(row: Payment, sent: SentBack, *, beyond: Decimal = Decimal(0)) -> Decimal:
    """What the transaction has moved to the payer of this payment, where it covers it. Raises NotSentBack.

    `beyond` is what others have claimed of it.
    """
    received = sent.by_receiver.get(row.payer, Decimal(0))
    if row.block is None:
        raise NotSentBack(UNSEEN)
    if sent.block < row.block:
        raise NotSentBack("The transaction is older than the payment.")
    if received < beyond + row.amount_usdc:
        asset = ours().asset_name
        others = f", and other refunds claim {beyond.normalize():f} of it" if beyond else ""
        raise NotSentBack(
            f"The transaction has sent {received.normalize():f} {asset} to the payer{others};"
            f" {row.amount_usdc.normalize():f} is due."
        )
    return received


def note(payments: Collection[UUID], *, tx_hash: str, by: str, now: datetime) -> Sequence[Noted]:
    """Note that this transaction has sent back what we owe for these payments, each by itself.

    Anybody may have sent it. While it is not mined, or the chain is away, it is noted unconfirmed, and `confirm_noted`
    looks again. One trip to the chain, outside of any transaction, and five statements for each payment; more trips
    for one that nobody has seen on the chain itself. Raises NotSentBack for a transaction that was reverted.
    """
    try:
        sent = sent_back(tx_hash)
    except RpcUnavailable:
        sent = None
    noted = []
    for row in Payment.objects.filter(pk__in=payments).order_by("pk"):
        try:
            is_confirmed = _note(row, tx_hash=tx_hash, sent=sent, by=by, now=now)
        except (NotOwed, NotSentBack, transitions.AllClaimed) as refusal:
            noted.append(Noted(payment=row.pk, refusal=refusal.message))
        else:
            noted.append(Noted(payment=row.pk, is_confirmed=is_confirmed))
    return noted


def _note(row: Payment, *, tx_hash: str, sent: SentBack | None, by: str, now: datetime) -> bool:
    if row.state == Payment.State.REFUND_DUE:
        _look_for(row, now=now)
    if not row.is_to_be_sent_back(now):
        raise NotOwed(_why_not(row))
    received = enough(row, sent) if sent else None
    senders = sent.senders.get(row.payer, []) if sent else []
    if not transitions.refund(row.pk, tx_hash=tx_hash, by=by, now=now, moved=received, senders=senders):
        row.refresh_from_db()
        raise NotOwed(_why_not(row))
    return received is not None


def _look_for(row: Payment, *, now: datetime) -> None:
    """Ask the chain about a payment that it has not shown; while it is away that stays so."""
    try:
        is_seen(row, now=now)
    except RpcUnavailable:
        logger.warning("payment %s could not be looked for: the chain is away", row.pk)


def _why_not(row: Payment) -> str:
    if row.state == Payment.State.REFUNDED:
        return "A refund is already recorded."
    if row.state == Payment.State.REFUND_DUE and row.block is None:
        return UNSEEN
    if row.state == Payment.State.REFUND_DUE:
        return "The payment may still be used for a few minutes."
    return "No refund is due."


def confirm_noted(*, now: datetime) -> int:
    """Look for refunds on the chain that were noted and not seen there yet; return how many are confirmed now.

    One trip to the chain for each transaction, and more for a payment that was not seen there itself. What the chain
    shows otherwise is written on the row, for staff.
    """
    waiting = Refund.objects.filter(
        error__in=["", NOT_SEEN, UNSEEN], confirmed_at=None, created_at__gt=now - LOOKED_FOR
    ).select_related("payment")
    by_transaction: dict[str, list[Refund]] = {}
    for row in waiting.order_by("error", "-created_at")[: AT_ONCE * 4]:
        by_transaction.setdefault(row.tx_hash, []).append(row)
    confirmed = 0
    for tx_hash, rows in list(by_transaction.items())[:AT_ONCE]:
        try:
            sent = sent_back(tx_hash)
        except NotSentBack as refusal:
            for row in rows:
                _write(row, error=refusal.message)
            continue
        except RpcUnavailable:
            logger.warning("refunds could not be confirmed: the chain is away")
            break
        confirmed += sum(_confirm(row, sent, now=now) for row in rows)
    return confirmed


def _confirm(row: Refund, sent: SentBack | None, *, now: datetime) -> bool:
    """Write down what the chain shows of one refund, and say whether it is confirmed by that."""
    if sent is None:
        if row.created_at <= now - SEEN_WITHIN:
            _write(row, error=NOT_SEEN)
        return False
    _look_for(row.payment, now=now)
    try:
        received = enough(row.payment, sent, beyond=row.beyond_usdc)
    except NotSentBack as refusal:
        _write(row, error=refusal.message)
        return False
    senders = sent.senders[row.payment.payer]
    return _write(row, confirmed_at=now, moved_usdc=received, senders=senders, error="")


def _write(row: Refund, **told: object) -> bool:
    """Only what is not confirmed may still be told otherwise."""
    if "error" in told and told["error"] and told["error"] != row.error:
        logger.error("the refund of payment %s is not what was noted: %s", row.payment_id, told["error"])
    return bool(Refund.objects.filter(pk=row.pk, confirmed_at=None, tx_hash=row.tx_hash).update(**told))

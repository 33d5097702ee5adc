"""Refunds: staff send the money with a wallet of their own and record the transaction, and the chain confirms it.

The key of the address that receives payments is never here, so nothing in this product can send money back by itself.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from framework.errors import ApiError
from payments.chain import evm, reads, usdc
from payments.chain.networks import payment_network
from payments.chain.rpc import RpcUnavailable
from payments.ledger import reconcile, transitions
from payments.models import Payment, Refund

logger = logging.getLogger("tablewire.payments")

BATCH_SIZE = 50
# A transaction that is in no block after this time was probably never sent.
EXPECTED_WITHIN = timedelta(hours=1)
TRANSACTION_NOT_FOUND = "The chain does not know this transaction, an hour after it was recorded."
PAYMENT_NOT_SHOWN = "The chain has not shown this payment itself: there is nothing to send back yet."
# A transaction that may have been sent after all is looked for during this time.
CONFIRMATION_PERIOD = timedelta(days=7)


class RefundNotOnChain(ApiError):
    """The chain shows that a transaction has not refunded the payment."""


class PaymentNotRefundable(ApiError):
    """Nothing can be refunded for a payment: no refund is due, it may still be spent, or it was refunded already."""


class PaymentNotOnChain(ApiError):
    """The chain does not show a payment that is to be refunded: it may never have arrived."""


@dataclass(frozen=True, slots=True)
class RefundTransfer:
    """What a transaction has moved of our asset: sender, receiver and value in the smallest unit of each transfer."""

    transfers: Sequence[tuple[str, str, int]]
    block: int

    def amount_to(self, address: str) -> Decimal:
        return payment_network().to_decimal(sum(value for _, receiver, value in self.transfers if receiver == address))

    def senders_to(self, address: str) -> list[str]:
        return list(dict.fromkeys(sender for sender, receiver, _ in self.transfers if receiver == address))


@dataclass(frozen=True, slots=True)
class RefundResult:
    """The result of recording the refund of one payment; `refusal` says why it was not recorded."""

    payment: UUID
    is_confirmed: bool = False
    refusal: str | None = None


def mark_refund_due(payment: UUID, *, reason: Payment.RefundReason, message: str = "", by: str, now: datetime) -> bool:
    """Mark a payment refund due for staff (transitions.mark_refund_due), once the chain shows that it has arrived.

    Up to ten requests to the node if the payment was not seen there before. Raises PaymentNotOnChain.
    """
    row = Payment.objects.filter(pk=payment, state__in=Payment.EARNED).first()
    if row is None:
        return False
    try:
        if not is_on_chain(row, now=now):
            raise PaymentNotOnChain("The chain does not show that this payment has arrived: no refund is due.")
    except RpcUnavailable as error:
        raise PaymentNotOnChain(
            "The chain cannot be read, and has not shown that this payment has arrived."
        ) from error
    return transitions.mark_refund_due(row.pk, reason=reason, message=message, by=by)


def is_on_chain(payment: Payment, *, now: datetime) -> bool:
    """Whether the chain has shown this payment; asks the chain if it has not. Raises RpcUnavailable."""
    if payment.block is None:
        reconcile.confirm_settlement(payment, now=now)
        payment.refresh_from_db()
    return payment.block is not None


@reads.invalid_response_as_rpc_error
def read_transfer(tx_hash: str) -> RefundTransfer | None:
    """Return what the transaction has moved, None while the chain does not know it. One request to the node.

    Transfers of an address to itself, and minted money, do not count. Raises RefundNotOnChain for a transaction that
    was reverted, and RpcUnavailable.
    """
    receipt = reads.find_receipt(tx_hash)
    if receipt is None:
        return None
    if receipt.is_reverted:
        raise RefundNotOnChain("The transaction was reverted: it has moved nothing.")
    transfers = [
        (usdc.sender(log), usdc.receiver(log), usdc.value(log)) for log in receipt.logs if usdc.is_transfer(log)
    ]
    moved = [each for each in transfers if each[0] not in (evm.ZERO_ADDRESS, each[1]) and each[2]]
    return RefundTransfer(moved, block=receipt.block)


def amount_received(payment: Payment, transfer: RefundTransfer, *, offset: Decimal = Decimal(0)) -> Decimal:
    """Return what the transaction has moved to the payer, if it covers the payment. Raises RefundNotOnChain.

    `offset` is what other refunds claim of it.
    """
    received = transfer.amount_to(payment.payer)
    if payment.block is None:
        raise RefundNotOnChain(PAYMENT_NOT_SHOWN)
    if transfer.block < payment.block:
        raise RefundNotOnChain("The transaction is older than the payment.")
    if received < offset + payment.amount_usdc:
        asset = payment_network().asset_name
        others = f", and other refunds claim {offset.normalize():f} of it" if offset else ""
        raise RefundNotOnChain(
            f"The transaction has sent {received.normalize():f} {asset} to the payer{others};"
            f" {payment.amount_usdc.normalize():f} is due."
        )
    return received


def record(payments: Collection[UUID], *, tx_hash: str, by: str, now: datetime) -> Sequence[RefundResult]:
    """Record that this transaction has refunded these payments, each by itself.

    Any wallet may have sent it. While it is not mined, or the chain is unavailable, the refunds are recorded
    unconfirmed, and `confirm_recorded` checks them later. One request to the chain, outside of any transaction, and
    five statements for each payment; more requests for a payment that was not seen on the chain itself. Raises
    RefundNotOnChain for a transaction that was reverted.
    """
    try:
        transfer = read_transfer(tx_hash)
    except RpcUnavailable:
        transfer = None
    results = []
    for payment in Payment.objects.filter(pk__in=payments).order_by("pk"):
        try:
            is_confirmed = _record_one(payment, tx_hash=tx_hash, transfer=transfer, by=by, now=now)
            results.append(RefundResult(payment=payment.pk, is_confirmed=is_confirmed))
        except (PaymentNotRefundable, RefundNotOnChain, transitions.TransferFullyClaimed) as refusal:
            results.append(RefundResult(payment=payment.pk, refusal=refusal.message))
    return results


def _record_one(payment: Payment, *, tx_hash: str, transfer: RefundTransfer | None, by: str, now: datetime) -> bool:
    """Record one refund; return whether the chain confirms it."""
    if payment.state == Payment.State.REFUND_DUE:
        _try_to_confirm(payment, now=now)
    if not payment.is_refundable(now):
        raise PaymentNotRefundable(_why_not_refundable(payment))
    received = amount_received(payment, transfer) if transfer else None
    senders = transfer.senders_to(payment.payer) if transfer else []
    if not transitions.record_refund(payment.pk, tx_hash=tx_hash, by=by, now=now, moved=received, senders=senders):
        payment.refresh_from_db()
        raise PaymentNotRefundable(_why_not_refundable(payment))
    return received is not None


def _try_to_confirm(payment: Payment, *, now: datetime) -> None:
    """Ask the chain about a payment that it has not shown; while it is unavailable the payment stays as it is."""
    try:
        is_on_chain(payment, now=now)
    except RpcUnavailable:
        logger.warning("payment %s could not be confirmed: the chain is unavailable", payment.pk)


def _why_not_refundable(payment: Payment) -> str:
    if payment.state == Payment.State.REFUNDED:
        return "A refund is already recorded."
    if payment.state == Payment.State.REFUND_DUE and payment.block is None:
        return PAYMENT_NOT_SHOWN
    if payment.state == Payment.State.REFUND_DUE:
        return "The payment may still be used for a few minutes."
    return "No refund is due."


def confirm_recorded(*, now: datetime) -> int:
    """Look on the chain for refunds that are recorded and not confirmed; return how many are confirmed now.

    One request to the chain for each transaction, and more for a payment that was not seen there itself. The row
    records what the chain shows instead, for staff.
    """
    unconfirmed = Refund.objects.filter(
        error__in=["", TRANSACTION_NOT_FOUND, PAYMENT_NOT_SHOWN],
        confirmed_at=None,
        created_at__gt=now - CONFIRMATION_PERIOD,
    )
    by_transaction: dict[str, list[Refund]] = {}
    for refund in unconfirmed.select_related("payment").order_by("error", "-created_at")[: BATCH_SIZE * 4]:
        by_transaction.setdefault(refund.tx_hash, []).append(refund)
    confirmed = 0
    for tx_hash, refunds in list(by_transaction.items())[:BATCH_SIZE]:
        try:
            transfer = read_transfer(tx_hash)
        except RefundNotOnChain as refusal:
            for refund in refunds:
                _update(refund, error=refusal.message)
            continue
        except RpcUnavailable:
            logger.warning("refunds could not be confirmed: the chain is unavailable")
            break
        confirmed += sum(_confirm(refund, transfer, now=now) for refund in refunds)
    return confirmed


def _confirm(refund: Refund, transfer: RefundTransfer | None, *, now: datetime) -> bool:
    """Record what the chain shows of one refund; return whether that confirms it."""
    if transfer is None:
        if refund.created_at <= now - EXPECTED_WITHIN:
            _update(refund, error=TRANSACTION_NOT_FOUND)
        return False
    _try_to_confirm(refund.payment, now=now)
    try:
        received = amount_received(refund.payment, transfer, offset=refund.offset_usdc)
    except RefundNotOnChain as refusal:
        _update(refund, error=refusal.message)
        return False
    senders = transfer.senders_to(refund.payment.payer)
    return _update(refund, confirmed_at=now, moved_usdc=received, senders=senders, error="")


def _update(refund: Refund, **values: object) -> bool:
    """Update a refund unless it is confirmed; log a new error."""
    if values.get("error") and values["error"] != refund.error:
        logger.error("the refund of payment %s is not what was recorded: %s", refund.payment_id, values["error"])
    unconfirmed = Refund.objects.filter(pk=refund.pk, confirmed_at=None, tx_hash=refund.tx_hash)
    return bool(unconfirmed.update(**values))

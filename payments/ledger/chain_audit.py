"""Compares the ledger with the chain: the transfers to our address in a span of blocks, and the payments recorded."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum

from framework import public_ids
from payments.chain import reads
from payments.chain.networks import payment_network
from payments.chain.reads import Transfer
from payments.chain.rpc import RpcError
from payments.ledger import reconcile, transitions
from payments.ledger.receivers import receivers
from payments.models import Audit, Payment, Refund
from payments.tiers.definitions import FREE
from payments.x402.receipts import PREFIX

logger = logging.getLogger("tablewire.payments")

State = Payment.State
# A younger payment may still be settling, or be in a block that a reorganisation drops.
MIN_AGE = timedelta(minutes=30)
# If RPC_URL names another chain, every payment differs: the audit stores this many differences.
MAX_DIFFERENCES = 200
# The purchase of a payment that no caller presented.
UNCLAIMED = {"purchase": "", "resource": "", "products": [], "tier": FREE.name, "signature_digest": ""}


@dataclass(slots=True)
class Findings:
    """The differences that were found in a span so far, at most one for each payment."""

    differences: list[str] = field(default_factory=list)
    payments: set[UUID] = field(default_factory=set)

    def add(self, payment: Payment, difference: str) -> None:
        if payment.pk in self.payments:
            return
        self.payments.add(payment.pk)
        text = f"{public_ids.encode(PREFIX, payment.pk)}, {payment.state}: {difference}"
        logger.error("the ledger differs from the chain: %s", text)
        if len(self.differences) < MAX_DIFFERENCES:
            self.differences.append(text[:300])


def run(
    *, now: datetime, from_block: int | None = None, on_span: Callable[[int, int], None] = lambda _done, _all: None
) -> Sequence[Audit]:
    """Audit the blocks since the last audit, or from `from_block`, up to MIN_AGE ago; return an audit for each span.

    Former receivers are audited like PAY_TO. `on_span` is called after each span with the number of audited blocks and
    of all blocks.

    A transfer without a payment is recorded as a payment that is refund due. The next run continues an interrupted
    one after its last span. Any number of runs may overlap: what two of them find is written once. Three requests to
    the node for each span of five hours, outside of any transaction, and two more for each transaction that the
    ledger does not hold. Raises RpcUnavailable.
    """
    if not settings.PAY_TO:
        return []
    last = reads.find_last_block_before(now - MIN_AGE, latest=reads.read_latest_block_number())
    if last is None:
        return []
    spans = []
    for pay_to in sorted(receivers()):
        first = find_first_block(pay_to, last) if from_block is None else from_block
        starts = range(first, last + 1, reads.LOG_WINDOW_BLOCKS)
        spans += [(pay_to, start, min(start + reads.LOG_WINDOW_BLOCKS - 1, last)) for start in starts]
    audits, done, total = [], 0, sum(end + 1 - start for _, start, end in spans)
    for pay_to, start, end in spans:
        audits.append(audit_span(pay_to, start, end, now=now))
        done += end + 1 - start
        on_span(done, total)
    return audits


def find_first_block(pay_to: str, last: int) -> int:
    """Return the block after the last audit; without one that of the oldest payment, or the blocks of five hours."""
    audits = Audit.objects.filter(network=payment_network().caip2, pay_to=pay_to, ended_at__isnull=False)
    audited = audits.aggregate(block=Max("last_block"))["block"]
    if audited is not None:
        return int(audited) + 1
    oldest = payments_to(pay_to).aggregate(block=Min("block"))["block"]
    recent = max(last + 1 - reads.LOG_WINDOW_BLOCKS, 0)
    return recent if oldest is None else min(oldest, recent)


def payments_to(pay_to: str) -> QuerySet[Payment]:
    return Payment.objects.filter(network=payment_network().caip2, pay_to=pay_to)


def payments_in_blocks(pay_to: str, first: int, last: int) -> QuerySet[Payment]:
    return payments_to(pay_to).filter(block__range=(first, last), state__in=Payment.PAID)


def audit_span(pay_to: str, first: int, last: int, *, now: datetime) -> Audit:
    """Audit what arrived at a receiver in these blocks.

    Repeating it writes the same: it may be interrupted at any point.
    """
    findings = Findings()
    confirm_payments_without_block(pay_to, first, last, findings=findings, now=now)
    logs = reads.read_transfer_logs(first, last, pay_to=pay_to)
    compare(pay_to, logs, first, last, findings=findings, now=now)
    ledger = payments_in_blocks(pay_to, first, last).aggregate(
        usdc=Sum("amount_usdc"), orphans=Count("pk", filter=Q(resource=""))
    )
    audit = Audit(
        network=payment_network().caip2,
        pay_to=pay_to,
        first_block=first,
        last_block=last,
        started_at=now,
        ended_at=now,
        transfers=len(logs),
        arrived_usdc=sum_exactly(amount for _, _, amount in logs),
        ledger_usdc=ledger["usdc"] or Decimal(0),
        orphans=ledger["orphans"],
        differences=findings.differences,
    )
    return save_audit(audit)


def save_audit(audit: Audit) -> Audit:
    """Save an audit, or update the one from the same block if that ended no later; return the saved one."""
    same = Audit.objects.filter(network=audit.network, pay_to=audit.pay_to, first_block=audit.first_block)
    fields = (
        "last_block", "started_at", "ended_at", "transfers", "arrived_usdc", "ledger_usdc", "orphans", "differences",
    )  # fmt: skip
    if not same.filter(last_block__lte=audit.last_block).update(**{name: getattr(audit, name) for name in fields}):
        Audit.objects.bulk_create([audit], ignore_conflicts=True)
    return same.get()


def sum_exactly(amounts: Iterable[Decimal]) -> Decimal:
    """Return the sum in atomic precision: a sum of Decimals is rounded to 28 digits."""
    return payment_network().to_decimal(sum(map(payment_network().to_atomic, amounts)))


def confirm_payments_without_block(pay_to: str, first: int, last: int, *, findings: Findings, now: datetime) -> None:
    """Check on the chain the settlements of this time that only a facilitator has reported."""
    after = {"settled_at__gt": reads.read_block_time(first - 1)} if first else {}
    unconfirmed = payments_to(pay_to).filter(
        state__in=Payment.PAID, block__isnull=True, settled_at__lte=reads.read_block_time(last), **after
    )
    for payment in unconfirmed.order_by("settled_at", "pk").iterator():
        error = reconcile.confirm_settlement(payment, now=now)
        payment.refresh_from_db()
        if error or payment.block is None:
            findings.add(payment, error or "the chain does not show it")


def compare(
    pay_to: str,
    logs: Sequence[tuple[str, str, Decimal]],
    first: int,
    last: int,
    *,
    findings: Findings,
    now: datetime,
) -> None:
    """Compare the transfers of these blocks with the payments, by transaction and payer; examine each difference."""
    parts: dict[tuple[str, str], list[Decimal]] = {}
    for tx_hash, payer, amount in logs:
        parts.setdefault((tx_hash, payer), []).append(amount)
    on_chain = {key: sum_exactly(amounts) for key, amounts in parts.items()}
    payments = payments_in_blocks(pay_to, first, last)
    sums = payments.values_list("tx_hash", "payer").annotate(Sum("amount_usdc"))
    in_ledger: dict[tuple[str, str], Decimal] = {(tx_hash or "", payer): amount for tx_hash, payer, amount in sums}
    for tx_hash in sorted({key[0] for key, amount in on_chain.items() if in_ledger.get(key) != amount}):
        correct_transaction(pay_to, tx_hash, findings=findings, now=now)
    for tx_hash, payer in sorted(in_ledger.keys() - on_chain.keys()):
        for payment in payments.filter(tx_hash=tx_hash, payer=payer):
            find_moved_transfer(payment, findings=findings)
    for payment in payments.filter(state__in=Payment.EARNED).exclude(error=""):
        findings.add(payment, payment.error)
    excessive = Refund.objects.filter(payment__in=payments, amount_usdc__gt=F("payment__amount_usdc"))
    for refund in excessive.select_related("payment"):
        arrived, refunded = refund.payment.amount_usdc.normalize(), refund.amount_usdc.normalize()
        findings.add(refund.payment, f"{arrived:f} USDC have arrived, and {refunded:f} were sent back")


def correct_transaction(pay_to: str, tx_hash: str, *, findings: Findings, now: datetime) -> None:
    """Compare each transfer to a receiver in a transaction with its payment; record what the ledger does not hold."""
    transfers = reads.find_all_transfers(tx_hash, receivers={pay_to})
    if not transfers:
        raise RpcError(f"there are logs of {tx_hash}, but no receipt")
    orphans, proof_keys, matched = [], [], []
    for transfer, nonce in transfers:
        proof_key = proof_key_of(transfer, nonce)
        proof_keys.append(proof_key)
        if nonce is not None:
            payment = transitions.find_by_proof(network=payment_network().caip2, proof_key=proof_key)
        else:
            # All plain transfers of a payer in a transaction are one payment. Its log index is part of its proof key
            # and may have changed in a reorganisation, also to the former index of another payer's transfer.
            of_transaction = payments_to(pay_to).filter(form=Payment.Form.TX, tx_hash=transfer.tx_hash)
            payment = of_transaction.filter(payer=transfer.payer).first()
        if payment is None:
            orphans.append(new_orphan(transfer, proof_key=proof_key, is_plain=nonce is None, now=now))
            continue
        matched.append(payment.pk)
        # This settles an open or expired payment, and changes no other.
        transitions.record_transfer(payment, transfer, now=now)
        if payment.block is None:
            reconcile.confirm_settlement(payment, now=now)
            payment.refresh_from_db()
        if (payment.tx_hash, payment.amount_usdc) != (tx_hash, transfer.amount):
            findings.add(
                payment,
                f"{payment.amount_usdc.normalize():f} USDC in {payment.tx_hash},"
                f" the chain shows {transfer.amount.normalize():f} in {tx_hash}",
            )
        elif (payment.block, payment.log_index) != (transfer.block, transfer.log_index):
            update_position(payment, transfer, proof_key=proof_key)
    if orphans:
        # Together, so that a request with the transaction's hash finds all of its payments or none. If another request
        # has recorded one of them just now, that one stays.
        if not transitions.insert(*orphans):
            for orphan in orphans:
                transitions.insert(orphan)
        logger.warning("%s has brought money that bought nothing: a refund is due", tx_hash)
    others = payments_to(pay_to).filter(tx_hash=tx_hash, state__in=Payment.PAID, block__isnull=False)
    for payment in others.exclude(proof_key__in=proof_keys).exclude(pk__in=matched):
        findings.add(payment, f"the chain shows no such transfer in {tx_hash}")


def find_moved_transfer(payment: Payment, *, findings: Findings) -> None:
    """Find the transfer of a payment in another block, to which a reorganisation may have moved its transaction."""
    for transfer, nonce in reads.find_all_transfers(payment.tx_hash or "", receivers={payment.pay_to}):
        proof_key = proof_key_of(transfer, nonce)
        is_same = payment.proof_key == proof_key or (nonce is None and payment.form == Payment.Form.TX)
        if is_same and (transfer.payer, transfer.amount) == (payment.payer, payment.amount_usdc):
            update_position(payment, transfer, proof_key=proof_key)
            return
    findings.add(payment, f"the chain shows no such transfer in {payment.tx_hash}")


def update_position(payment: Payment, transfer: Transfer, *, proof_key: str) -> None:
    """Update the block, log index and proof key; the proof key stays if another payment of the transaction has it."""
    unchanged = Payment.objects.filter(pk=payment.pk, block=payment.block, log_index=payment.log_index)
    position = {"block": transfer.block, "log_index": transfer.log_index}
    try:
        with transaction.atomic():
            unchanged.update(proof_key=proof_key, **position)
    except IntegrityError:
        unchanged.update(**position)


def proof_key_of(transfer: Transfer, nonce: bytes | None) -> str:
    """Return the proof key by which the checkout finds the payment if the transfer is presented later."""
    if nonce is None:
        return f"tx:{transfer.tx_hash}:{transfer.log_index}"
    return f"3009:{payment_network().asset}:{transfer.payer}:0x{nonce.hex()}"


def new_orphan(transfer: Transfer, *, proof_key: str, is_plain: bool, now: datetime) -> Payment:
    """Return the payment of a transfer that no caller presented, not saved: too old to be spent, refund due."""
    return Payment(
        form=Payment.Form.TX if is_plain else Payment.Form.V2,
        state=State.REFUND_DUE,
        network=payment_network().caip2,
        asset=payment_network().asset,
        payer=transfer.payer,
        proof_key=proof_key,
        error="too_old",
        attempts=1,
        created_at=now,
        claimed_at=now,
        settled_at=now,
        **transitions.transfer_fields(transfer),
        **UNCLAIMED,
    )

"""Holds the ledger against the chain: what has arrived at our address, and what our books say of it."""

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
from payments.chain.networks import ours
from payments.chain.reads import Transfer, TransferLog
from payments.chain.rpc import RpcError
from payments.ledger import reconcile, transitions
from payments.models import Audit, Payment, Refund
from payments.tiers.definitions import FREE
from payments.x402.receipts import PREFIX

logger = logging.getLogger("tablewire.payments")

State = Payment.State
# What is younger may still be under way, or be on a branch of the chain that is given up.
FINAL = timedelta(minutes=30)
# On another chain than ours every line would differ: one audit tells of so many.
MOST_DIFFERENCES = 200
# Payments that nobody has claimed: all that the chain tells of them.
UNCLAIMED = {"purchase": "", "resource": "", "products": [], "tier": FREE.name, "signature_digest": ""}

# Told after each span: blocks that were gone through, and blocks in all.
OnSpan = Callable[[int, int], None]
# What the ledger and the chain have in common for all forms: a transaction, and who has paid in it.
Key = tuple[str, str]


@dataclass(slots=True)
class Findings:
    """What the comparison of a span has brought to light so far."""

    differences: list[str] = field(default_factory=list)
    differing: set[UUID] = field(default_factory=set)

    def differs(self, row: Payment, what: str) -> None:
        """A line is not what the chain shows; the first word on it is enough."""
        if row.pk in self.differing:
            return
        self.differing.add(row.pk)
        said = f"{public_ids.encode(PREFIX, row.pk)}, {row.state}: {what}"
        logger.error("the ledger differs from the chain: %s", said)
        if len(self.differences) < MOST_DIFFERENCES:
            self.differences.append(said[:300])


def run(
    *, now: datetime, from_block: int | None = None, on_span: OnSpan = lambda _done, _all: None
) -> Sequence[Audit]:
    """Audit the blocks since the last audit, or from this one on, and return what was found; an audit for each span.

    It goes up to the blocks of half an hour ago. What has arrived and is in no line becomes one that is owed back.
    A run that is ended half-way is gone on with by the next, span by span, and any number may run at once: what two of
    them find is written once. Three trips to the node for each span of five hours, outside of any transaction, and two
    more for each transaction that the ledger does not know. Raises RpcUnavailable.
    """
    if not settings.PAY_TO:
        return []
    last = reads.last_block_before(now - FINAL, latest=reads.latest_block())
    if last is None:
        return []
    first = beginning(last) if from_block is None else from_block
    done, start = [], first
    while start <= last:
        end = min(start + reads.LOOK_BACK_BLOCKS, last + 1) - 1
        done.append(span(start, end, now=now))
        start = end + 1
        on_span(start - first, last + 1 - first)
    return done


def beginning(last: int) -> int:
    """The first block that no audit has seen: at first that of the oldest payment, or five hours ago."""
    done = audits().aggregate(block=Max("last_block"))["block"]
    if done is not None:
        return int(done) + 1
    oldest = lines().aggregate(block=Min("block"))["block"]
    recent = max(last + 1 - reads.LOOK_BACK_BLOCKS, 0)
    return recent if oldest is None else min(oldest, recent)


def audits() -> QuerySet[Audit]:
    """The audits of our address that have ended."""
    return Audit.objects.filter(network=ours().caip2, pay_to=settings.PAY_TO, ended_at__isnull=False)


def lines() -> QuerySet[Payment]:
    """The lines of our address."""
    return Payment.objects.filter(network=ours().caip2, pay_to=settings.PAY_TO)


# Without the chain
# One span
def span(first: int, last: int, *, now: datetime) -> Audit:
    """Audit these blocks. What is written before the audit itself is the same when it is written again."""
    findings = Findings()
    confirm_those_without_block(first, last, findings=findings, now=now)
    arrived = reads.transfer_logs(first, last)
    compare(arrived, first, last, findings=findings, now=now)
    told = booked(first, last).aggregate(usdc=Sum("amount_usdc"), orphans=Count("pk", filter=Q(resource="")))
    audit = Audit(
        network=ours().caip2,
        pay_to=settings.PAY_TO,
        first_block=first,
        last_block=last,
        started_at=now,
        ended_at=now,
        transfers=len(arrived),
        arrived_usdc=total(each.amount for each in arrived),
        booked_usdc=told["usdc"] or Decimal(0),
        orphans=told["orphans"],
        differences=findings.differences,
    )
    return write(audit)


def total(amounts: Iterable[Decimal]) -> Decimal:
    """Their sum, exact: a sum of Decimals is rounded to 28 digits."""
    return ours().decimal(sum(map(ours().atomic, amounts)))


def write(audit: Audit) -> Audit:
    """Write an audit down; one that began at the same block and went no farther gives way to it."""
    same = Audit.objects.filter(network=audit.network, pay_to=audit.pay_to, first_block=audit.first_block)
    found = ("last_block", "started_at", "ended_at", "transfers", "arrived_usdc", "booked_usdc", "orphans")
    told = {name: getattr(audit, name) for name in (*found, "differences")}
    if not same.filter(last_block__lte=audit.last_block).update(**told):
        Audit.objects.bulk_create([audit], ignore_conflicts=True)
    return same.get()


def confirm_those_without_block(first: int, last: int, *, findings: Findings, now: datetime) -> None:
    """Ask once more about settlements of this time that nobody has seen on the chain; they may be owed back by now."""
    since = {"settled_at__gt": reads.mined_at(first - 1)} if first else {}
    believed = lines().filter(
        state__in=Payment.PAID, block__isnull=True, settled_at__lte=reads.mined_at(last), **since
    )
    for row in believed.order_by("settled_at", "pk").iterator():
        against = reconcile.confirm_settlement(row, now=now)
        row.refresh_from_db()
        if against or row.block is None:
            findings.differs(row, against or "the chain does not show it")


# Comparing
def compare(arrived: Sequence[TransferLog], first: int, last: int, *, findings: Findings, now: datetime) -> None:
    """Hold what has arrived against the lines of these blocks, and go into what is not equal."""
    pieces: dict[Key, list[Decimal]] = {}
    for each in arrived:
        pieces.setdefault((each.tx_hash, each.payer), []).append(each.amount)
    shown = {key: total(amounts) for key, amounts in pieces.items()}
    sums = booked(first, last).values_list("tx_hash", "payer").annotate(Sum("amount_usdc"))
    told: dict[Key, Decimal] = {(tx_hash or "", payer): amount for tx_hash, payer, amount in sums}
    for tx_hash in sorted({key[0] for key, amount in shown.items() if told.get(key) != amount}):
        mend(tx_hash, findings=findings, now=now)
    for tx_hash, payer in sorted(told.keys() - shown.keys()):
        for row in booked(first, last).filter(tx_hash=tx_hash, payer=payer):
            look_elsewhere(row, findings=findings)
    for row in booked(first, last).filter(state__in=Payment.EARNED).exclude(error=""):
        findings.differs(row, row.error)
    more = Refund.objects.filter(payment__in=booked(first, last), amount_usdc__gt=F("payment__amount_usdc"))
    for each_refund in more.select_related("payment"):
        came, went = each_refund.payment.amount_usdc.normalize(), each_refund.amount_usdc.normalize()
        findings.differs(each_refund.payment, f"{came:f} USDC have arrived, and {went:f} were sent back")


def booked(first: int, last: int) -> QuerySet[Payment]:
    """The lines of money that has arrived in these blocks."""
    return lines().filter(block__range=(first, last), state__in=Payment.PAID)


def mend(tx_hash: str, *, findings: Findings, now: datetime) -> None:
    """Go through a transaction of which the ledger says something else, and write down what is missing there."""
    shown = reads.ledger_transfers(tx_hash)
    if not shown:
        raise RpcError(f"there are logs of {tx_hash}, but no receipt")
    orphans, proofs, known = [], [], []
    for transfer, nonce in shown:
        proof_key = proof_of(transfer, nonce)
        proofs.append(proof_key)
        row = line_of(transfer, proof_key=proof_key, is_plain=nonce is None)
        if row is None:
            orphans.append(orphan(transfer, proof_key=proof_key, is_plain=nonce is None, now=now))
            continue
        known.append(row.pk)
        # Of a line that was left open or given up this is the end.
        transitions.record_transfer(row, transfer, now=now)
        if row.block is None:
            reconcile.confirm_settlement(row, now=now)
            row.refresh_from_db()
        if (row.tx_hash, row.amount_usdc) != (tx_hash, transfer.amount):
            findings.differs(
                row,
                f"{row.amount_usdc.normalize():f} USDC in {row.tx_hash},"
                f" the chain shows {transfer.amount.normalize():f} in {tx_hash}",
            )
        elif (row.block, row.log_index) != (transfer.block, transfer.log_index):
            move(row, transfer, proof_key=proof_key)
    if orphans:
        enter(orphans, tx_hash=tx_hash)
    others = lines().filter(tx_hash=tx_hash, state__in=Payment.PAID, block__isnull=False)
    for row in others.exclude(proof_key__in=proofs).exclude(pk__in=known):
        findings.differs(row, f"the chain shows no such transfer in {tx_hash}")


def line_of(transfer: Transfer, *, proof_key: str, is_plain: bool) -> Payment | None:
    """The line that speaks of this money.

    All that a payer has sent in a transaction without an authorization is one line. Its place among the logs is part
    of its proof, and may be another since the chain was reorganised, also one where another payer's was before.
    """
    if not is_plain:
        return transitions.find_by_proof(network=ours().caip2, proof_key=proof_key)
    return lines().filter(form=Payment.Form.TX, tx_hash=transfer.tx_hash, payer=transfer.payer).first()


def look_elsewhere(row: Payment, *, findings: Findings) -> None:
    """A transaction that is not in its block any more may have come into another: the chain was reorganised."""
    for transfer, nonce in reads.ledger_transfers(row.tx_hash or ""):
        proof_key = proof_of(transfer, nonce)
        is_it = row.proof_key == proof_key or (nonce is None and row.form == Payment.Form.TX)
        if is_it and (transfer.payer, transfer.amount) == (row.payer, row.amount_usdc):
            move(row, transfer, proof_key=proof_key)
            return
    findings.differs(row, f"the chain shows no such transfer in {row.tx_hash}")


def move(row: Payment, transfer: Transfer, *, proof_key: str) -> None:
    """Write down where a payment stands now, and in its proof, where no other line of the transaction bears that."""
    mine = Payment.objects.filter(pk=row.pk, block=row.block, log_index=row.log_index)
    now_in = {"block": transfer.block, "log_index": transfer.log_index}
    try:
        with transaction.atomic():
            mine.update(proof_key=proof_key, **now_in)
    except IntegrityError:
        mine.update(**now_in)


def proof_of(transfer: Transfer, nonce: bytes | None) -> str:
    """What the gate would know this money by: who presents it later finds our line."""
    if nonce is None:
        return f"tx:{transfer.tx_hash}:{transfer.log_index}"
    return f"3009:{ours().asset}:{transfer.payer}:0x{nonce.hex()}"


def orphan(transfer: Transfer, *, proof_key: str, is_plain: bool, now: datetime) -> Payment:
    """The line of money that has bought nothing, not written yet. It is too old to buy anything any more."""
    return Payment(
        form=Payment.Form.TX if is_plain else Payment.Form.V2,
        state=State.REFUND_DUE,
        network=ours().caip2,
        asset=ours().asset,
        payer=transfer.payer,
        pay_to=settings.PAY_TO,
        proof_key=proof_key,
        error="too_old",
        attempts=1,
        created_at=now,
        claimed_at=now,
        settled_at=now,
        **transitions.transfer_fields(transfer),
        **UNCLAIMED,
    )


def enter(orphans: Sequence[Payment], *, tx_hash: str) -> None:
    """Write the lines, where somebody has not come with the same proof just now: then theirs stands.

    Together, so that whoever presents the transaction's hash finds all of its lines, or none.
    """
    if not transitions.insert(*orphans):
        for row in orphans:
            transitions.insert(row)
    logger.warning("%s has brought money that bought nothing: it is owed back", tx_hash)

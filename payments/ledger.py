"""The moves of a payment through its states: each is one conditional statement, so of two at once one wins."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError
from django.db.models import F

from payments.models import Payment

State = Payment.State
OPEN = (State.CLAIMED, State.UNKNOWN)
# Longer than one settlement and the question after it may take: who has not come back by then is gone.
STALE = timedelta(seconds=15)
# How long an answer that was paid for is served again.
READ_AGAIN = timedelta(minutes=10)
READ_AT_ALL = timedelta(hours=24)


def find(*, network: str, proof_key: str) -> Payment | None:
    """The line of this proof."""
    return Payment.objects.filter(network=network, proof_key=proof_key).first()


def enter(row: Payment) -> bool:
    """Write a new line, and say whether it was the first of its proof. One statement, committed at once."""
    try:
        row.save(force_insert=True)
    except IntegrityError as error:
        if getattr(error.__cause__, "diag", None) and error.__cause__.diag.constraint_name == "a_proof_pays_once":  # type: ignore[union-attr]
            return False
        raise
    return True


def take_over(row: Payment, *, now: datetime) -> bool:
    """Claim an open line that nobody is settling, and say whether we are the one who did."""
    mine = Payment.objects.filter(pk=row.pk, state=row.state, attempts=row.attempts)
    if not mine.update(state=State.CLAIMED, claimed_at=now, attempts=F("attempts") + 1):
        return False
    row.state, row.claimed_at, row.attempts = State.CLAIMED, now, row.attempts + 1
    return True


def settle(
    row: Payment, *, tx_hash: str, now: datetime, log_index: int | None = None, block: int | None = None
) -> None:
    """The money has arrived: whoever learns it first writes it, also after others have given up."""
    told = {"state": State.SETTLED, "tx_hash": tx_hash, "log_index": log_index, "block": block, "settled_at": now}
    open_or_given_up = Payment.objects.filter(pk=row.pk, state__in=[*OPEN, State.EXPIRED])
    if open_or_given_up.update(**told, error=""):
        row.state, row.tx_hash, row.settled_at = State.SETTLED, tx_hash, now
    else:
        row.refresh_from_db()


def release(row: Payment) -> None:
    """Nothing was sent: the line goes, if it is still our first claim of it."""
    Payment.objects.filter(pk=row.pk, state=State.CLAIMED, attempts=row.attempts).delete()


def leave_open(row: Payment, *, why: str, tx_hash: str | None = None) -> None:
    """The outcome is not known: the next who comes asks the chain."""
    told = {"state": State.UNKNOWN, "error": why[:500], **({"tx_hash": tx_hash} if tx_hash else {})}
    Payment.objects.filter(pk=row.pk, state=State.CLAIMED, attempts=row.attempts).update(**told)


def expire(row: Payment, *, why: str) -> None:
    """Nothing has arrived and nothing can any more."""
    Payment.objects.filter(pk=row.pk, state__in=OPEN, attempts=row.attempts).update(state=State.EXPIRED, error=why)
    row.state, row.error = State.EXPIRED, why


def deliver(payment: UUID, *, now: datetime) -> None:
    """The answer was written to the caller; the first time counts."""
    Payment.objects.filter(pk=payment, state=State.SETTLED).update(state=State.DELIVERED, delivered_at=now)


def spend_after_all(row: Payment) -> bool:
    """Money that we owed buys what the row now says, unless it was refunded meanwhile."""
    owed = Payment.objects.filter(pk=row.pk, state=State.REFUND_DUE)
    bought = {"purchase": row.purchase, "resource": row.resource, "products": row.products, "tier": row.tier}
    return bool(owed.update(**bought, state=State.SETTLED, error="", delivered_at=None))


def refund(payment: UUID, *, tx_hash: str, now: datetime) -> bool:
    """We have sent back what was owed; False where nothing was owed."""
    owed = Payment.objects.filter(pk=payment, state=State.REFUND_DUE)
    return bool(owed.update(state=State.REFUNDED, refund_tx_hash=tx_hash, refunded_at=now))


def is_readable(row: Payment, *, now: datetime) -> bool:
    """Whether the answer that this payment bought is still served for it."""
    if row.delivered_at is not None:
        return now < row.delivered_at + READ_AGAIN
    return row.settled_at is not None and now < row.settled_at + READ_AT_ALL

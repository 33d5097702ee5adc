"""The moves of a payment through its states: each is one conditional statement, so of two at once one wins."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F

from config import acting
from payments.chain import Transfer
from payments.models import Payment, Refund

State = Payment.State
OPEN = (State.CLAIMED, State.UNKNOWN)
# Longer than one settlement and the question after it may take: who has not come back by then is gone.
STALE = timedelta(seconds=15)
# How long an answer that was paid for is served again after it was made, and where none was made.
READ_AGAIN = timedelta(minutes=10)
READ_AT_ALL = timedelta(hours=24)
# How long money that is owed back may still buy something; it is sent back after that.
SPENDABLE = timedelta(minutes=15)


def find(*, network: str, proof_key: str) -> Payment | None:
    """The line of this proof."""
    return Payment.objects.filter(network=network, proof_key=proof_key).first()


def enter(row: Payment, *others: Payment) -> bool:
    """Write a new line, or several together, and say whether they were the first of their proofs.

    One statement, committed at once; several are written in one transaction.
    """
    try:
        if not others:
            row.save(force_insert=True)
        else:
            with transaction.atomic():
                Payment.objects.bulk_create([row, *others])
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


def settle(row: Payment, *, tx_hash: str, now: datetime) -> None:
    """The facilitator says that the money has arrived: whoever learns it first writes it."""
    told = {"state": State.SETTLED, "tx_hash": tx_hash, "settled_at": now, "error": ""}
    if Payment.objects.filter(pk=row.pk, state__in=[*OPEN, State.EXPIRED]).update(**told):
        row.state, row.tx_hash, row.settled_at = State.SETTLED, tx_hash, now
    else:
        row.refresh_from_db()


def book(row: Payment, found: Transfer, *, now: datetime) -> None:
    """The chain shows what has arrived, also after others have given up: less than the line is of is owed back."""
    is_enough = found.amount >= row.amount_usdc
    told = {
        **seen(found),
        "state": State.SETTLED if is_enough else State.REFUND_DUE,
        "error": "" if is_enough else "wrong_amount",
        "settled_at": now,
    }
    Payment.objects.filter(pk=row.pk, state__in=[*OPEN, State.EXPIRED]).update(**told)
    row.refresh_from_db()


def seen(found: Transfer) -> dict[str, Any]:
    """What a line says of money that the chain shows: the amount is always what has arrived."""
    return {
        "amount_usdc": found.amount,
        "tx_hash": found.tx_hash,
        "log_index": found.log_index,
        "block": found.block,
    }


def confirm(row: Payment, found: Transfer | None, *, error: str = "") -> None:
    """What the chain shows of a settlement that the facilitator has told us; nobody is charged for a difference."""
    unconfirmed = Payment.objects.filter(pk=row.pk, block__isnull=True)
    unconfirmed.update(error=error[:500], **(seen(found) if found else {}))


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
    """The answer was made, and its writing to the caller has ended, well or not; the first time counts."""
    Payment.objects.filter(pk=payment, state=State.SETTLED).update(state=State.DELIVERED, delivered_at=now)


def spend_after_all(row: Payment, *, now: datetime) -> bool:
    """Money that we owe buys what the row now says, unless it is time to send it back (`refund`)."""
    owed = Payment.objects.filter(pk=row.pk, state=State.REFUND_DUE, settled_at__gt=now - SPENDABLE)
    bought = {"purchase": row.purchase, "resource": row.resource, "products": row.products, "tier": row.tier}
    return bool(owed.update(**bought, state=State.SETTLED, error="", delivered_at=None))


def is_to_be_sent_back(row: Payment, *, now: datetime) -> bool:
    """Whether we owe this money for long enough: what may still buy something is not sent back."""
    return row.state == State.REFUND_DUE and row.settled_at is not None and row.settled_at <= now - SPENDABLE


@transaction.atomic
def refund(payment: UUID, *, tx_hash: str, by: str, now: datetime) -> bool:
    """We have sent back what was owed; False where nothing was owed, or not for long enough."""
    owed = Payment.objects.filter(pk=payment, state=State.REFUND_DUE, settled_at__lte=now - SPENDABLE)
    acting.by(by)
    if not owed.update(state=State.REFUNDED, refunded_at=now):
        return False
    row = Payment.objects.get(pk=payment)
    Refund.objects.create(
        payment=row, amount_usdc=row.amount_usdc, to=row.payer, tx_hash=tx_hash, by=by, created_at=now
    )
    return True


def is_readable(row: Payment, *, now: datetime) -> bool:
    """Whether the answer that this payment bought is still served for it."""
    if row.delivered_at is not None:
        return now < row.delivered_at + READ_AGAIN
    return row.settled_at is not None and now < row.settled_at + READ_AT_ALL

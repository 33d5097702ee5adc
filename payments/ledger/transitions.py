"""The moves of a payment through its states: each is one conditional statement, so of two at once one wins."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce

from framework.db import actor
from framework.errors import Refusal
from payments.chain.networks import ours
from payments.chain.reads import Transfer
from payments.models import Payment, Refund

State = Payment.State
OPEN = (State.CLAIMED, State.UNKNOWN)
# Longer than one settlement and the question after it may take: who has not come back by then is gone.
STALE = timedelta(seconds=15)
READ_AGAIN, SPENDABLE = Payment.READ_AGAIN, Payment.SPENDABLE
# Whoever notes a refund of the same transaction meanwhile takes a stretch of it, and the next tries again.
TRIES = 20


class AllClaimed(Refusal):
    """A transaction has moved less to a payer than what would be noted as sent back by it."""


def constraint_of(error: IntegrityError) -> str | None:
    """The name of the constraint that a statement would have broken."""
    diag = getattr(error.__cause__, "diag", None)
    return diag.constraint_name if diag else None


# The constraints of the ledger by which a payment is not entered twice.
ONCE = {"a_proof_pays_once", "a_payment_identifier_names_one_payment_of_its_payer"}


def find(*, network: str, proof_key: str) -> Payment | None:
    """The line of this proof."""
    return Payment.objects.filter(network=network, proof_key=proof_key).first()


def named(*, payer: str, identifier: str) -> Payment | None:
    """The line that this payer calls so; None also without an identifier."""
    return Payment.objects.filter(payer=payer, payment_identifier=identifier).first() if identifier else None


def knows(*, network: str, proof_key: str, deed: str) -> bool:
    """Whether just this was shown to us before, with the same signature, and not let go."""
    return Payment.objects.filter(network=network, proof_key=proof_key, deed=deed).exists()


def enter(row: Payment, *others: Payment) -> bool:
    """Write a new line, or several together, and say whether they were the first of their proofs and identifiers.

    One statement, committed at once; several are written in one transaction.
    """
    try:
        if not others:
            row.save(force_insert=True)
        else:
            with transaction.atomic():
                Payment.objects.bulk_create([row, *others])
    except IntegrityError as error:
        if constraint_of(error) in ONCE:
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


def note_facilitator(row: Payment, asked: str) -> None:
    """Name who was asked in the end, where it was not the one that the line was claimed for."""
    if row.facilitator != asked:
        Payment.objects.filter(pk=row.pk).update(facilitator=asked)
        row.facilitator = asked


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


def confirm(row: Payment, found: Transfer, *, error: str = "") -> bool:
    """The chain shows the money of a settlement that the facilitator has told us; False where that was seen before.

    Nobody is charged for a difference: the line stays in its state, and `error` says that less has arrived. What is
    owed back, or was sent back, keeps the reason for that.
    """
    unseen = Payment.objects.filter(pk=row.pk, state__in=Payment.PAID, block__isnull=True)
    kept = Case(When(state__in=Payment.TAKEN, then=Value(error[:500])), default=F("error"))
    return bool(unseen.update(error=kept, **seen(found)))


def doubt(row: Payment, *, why: str) -> bool:
    """The chain shows nothing of a settlement that the facilitator has told us; False where that is known, or owed."""
    unseen = Payment.objects.filter(pk=row.pk, state__in=Payment.TAKEN, block__isnull=True)
    return bool(unseen.exclude(error=why[:500]).update(error=why[:500]))


def release(row: Payment) -> bool:
    """Nothing was sent: the line goes, if it is still our first claim of it; False where another has taken it over."""
    gone, _ = Payment.objects.filter(pk=row.pk, state=State.CLAIMED, attempts=row.attempts).delete()
    return bool(gone)


def leave_open(row: Payment, *, why: str, tx_hash: str | None = None) -> None:
    """The outcome is not known: the next who comes asks the chain."""
    told = {"state": State.UNKNOWN, "error": why[:500], **({"tx_hash": tx_hash} if tx_hash else {})}
    Payment.objects.filter(pk=row.pk, state=State.CLAIMED, attempts=row.attempts).update(**told)


def expire(row: Payment, *, why: str) -> None:
    """Nothing has arrived and nothing can any more: the payer may pay anew under the same identifier."""
    ended = {"state": State.EXPIRED, "error": why, "payment_identifier": ""}
    Payment.objects.filter(pk=row.pk, state__in=OPEN, attempts=row.attempts).update(**ended)
    row.state, row.error, row.payment_identifier = State.EXPIRED, why, ""


def deliver(payment: UUID, *, now: datetime) -> None:
    """The answer was made, and its writing to the caller has ended, well or not; the first time counts."""
    Payment.objects.filter(pk=payment, state=State.SETTLED).update(state=State.DELIVERED, delivered_at=now)


def spend_after_all(row: Payment, *, now: datetime) -> bool:
    """Money that we owe buys what the row now says, unless it is to be sent back (`refund`)."""
    owed = Payment.objects.filter(pk=row.pk).spendable(now=now)
    names = ("purchase", "method", "door", "resource", "products", "tier")
    bought = {name: getattr(row, name) for name in names}
    return bool(owed.update(**bought, state=State.SETTLED, error="", delivered_at=None))


@transaction.atomic
def owe_back(payment: UUID, *, reason: Payment.OwedFor, words: str = "", by: str) -> bool:
    """Money that was taken is owed back, for a reason and in words that the payer reads; False where it is not ours.

    One conditional UPDATE, so it may be said twice: what is owed already, or was sent back, stays as it is. Such money
    buys nothing more. Of a settlement that the chain does not bear out nothing is owed.
    """
    actor.by(by)
    is_believed = Q(block__isnull=False) | Q(error="")
    taken = Payment.objects.filter(is_believed, pk=payment, state__in=Payment.TAKEN)
    return bool(taken.update(state=State.REFUND_DUE, error=f"{reason}: {words}"[:500] if words else reason))


def take_again(payment: UUID, *, reason: Payment.OwedFor, by: str) -> bool:
    """What is owed back for this reason is ours again, as it buys what it was paid for after all.

    False where it is owed for another one, or was sent back: of this and a refund that is noted at once one wins.
    Call it in the transaction that makes the goods; one conditional UPDATE.
    """
    actor.by(by)
    owed = Payment.objects.filter(Q(error=reason) | Q(error__startswith=f"{reason}: "), pk=payment)
    again = owed.filter(state=State.REFUND_DUE)
    delivered_at = Coalesce(F("delivered_at"), F("settled_at"))
    return bool(again.update(state=State.DELIVERED, error="", delivered_at=delivered_at))


def owe_undelivered(*, before: datetime) -> int:
    """What arrived up to this moment and was never delivered is owed back; returns how many payments. One UPDATE."""
    late = Payment.objects.undelivered(before=before)
    return late.update(state=State.REFUND_DUE, error=Payment.OwedFor.NOT_DELIVERED)


def refund(
    payment: UUID,
    *,
    tx_hash: str,
    by: str,
    now: datetime,
    moved: Decimal | None = None,
    senders: Sequence[str] = (),
) -> bool:
    """We have sent back what was owed; False where nothing was owed, may still be spent, or was never seen to come.

    `moved` is what the chain shows that the transaction has moved to the payer, None where it shows nothing yet, and
    `senders` are those whose money that was. Of two at once one notes it. Raises AllClaimed.
    """
    told = {
        "tx_hash": tx_hash,
        "by": by,
        "created_at": now,
        "moved_usdc": moved,
        "confirmed_at": None if moved is None else now,
        "senders": list(senders),
    }
    for tries_left in reversed(range(TRIES)):
        try:
            return _noted(payment, told)
        except IntegrityError as error:
            if constraint_of(error) == "refunds_claim_no_more_than_was_moved":
                raise AllClaimed("This transaction has sent less to the payer than is recorded for it.") from error
            if constraint_of(error) != "nothing_that_was_moved_is_claimed_twice" or not tries_left:
                raise
    return False


@transaction.atomic
def _noted(payment: UUID, told: Mapping[str, Any]) -> bool:
    actor.by(told["by"])
    now = told["created_at"]
    owed = Payment.objects.filter(pk=payment).to_be_sent_back(now=now)
    if not owed.update(state=State.REFUNDED, refunded_at=now):
        return False
    row = Payment.objects.get(pk=payment)
    others = Refund.objects.filter(tx_hash=told["tx_hash"], to=row.payer).order_by("beyond_usdc")
    beyond = first_free(row.amount_usdc, others.values_list("beyond_usdc", "amount_usdc"))
    Refund.objects.create(payment=row, amount_usdc=row.amount_usdc, to=row.payer, beyond_usdc=beyond, **told)
    return True


def first_free(amount: Decimal, claimed: Iterable[tuple[Decimal, Decimal]]) -> Decimal:
    """Where the first stretch of this length begins beside those that are claimed: (beginning, length), in order.

    A note that was taken back leaves a gap. In whole numbers: a Decimal's 28 digits would round.
    """
    wanted, free = ours().atomic(amount), 0
    for beginning, length in claimed:
        begins = ours().atomic(beginning)
        if begins - free >= wanted:
            break
        free = begins + ours().atomic(length)
    return ours().decimal(free)


@transaction.atomic
def take_back(payment: UUID, *, by: str) -> bool:
    """Forget what was noted as sent back and never seen on the chain: it is owed again; False for any other."""
    actor.by(by)
    if not Refund.objects.filter(payment=payment, confirmed_at=None).delete()[0]:
        return False
    noted = Payment.objects.filter(pk=payment, state=State.REFUNDED)
    return bool(noted.update(state=State.REFUND_DUE, refunded_at=None))


def is_readable(row: Payment, *, now: datetime) -> bool:
    """Whether the answer that this payment bought is still served for it."""
    return row.readable_until is not None and now < row.readable_until

"""The transitions of a payment. Each is one conditional UPDATE, so of two at once only one takes place.

ALLOWED lists them; docs/checkout.md draws them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Concat, Left

from framework.db import actor
from framework.errors import ApiError
from payments.chain.networks import payment_network
from payments.chain.reads import Transfer
from payments.ledger import receivers
from payments.models import Payment, Refund
from payments.models.payments import WRITTEN_OFF_REASON

State = Payment.State
OPEN = (State.CLAIMED, State.UNKNOWN)
# Each state, and the states that may follow it. "" is no row: before the insert, and after a claim was released.
ALLOWED: Mapping[str, frozenset[str]] = {
    "": frozenset({State.CLAIMED, State.SETTLED, State.REFUND_DUE}),
    State.CLAIMED: frozenset(
        {State.CLAIMED, State.UNKNOWN, State.SETTLED, State.EXPIRED, State.REFUND_DUE, ""}  # claimed again: taken over
    ),
    State.UNKNOWN: frozenset({State.CLAIMED, State.SETTLED, State.EXPIRED, State.REFUND_DUE}),
    State.SETTLED: frozenset({State.DELIVERED, State.REFUND_DUE}),
    State.DELIVERED: frozenset({State.REFUND_DUE}),
    State.EXPIRED: frozenset({State.SETTLED, State.REFUND_DUE}),  # the chain has shown it after all
    State.REFUND_DUE: frozenset({State.SETTLED, State.DELIVERED, State.REFUNDED}),
    State.REFUNDED: frozenset({State.REFUND_DUE}),
}
# Longer than a settlement and the question to the chain after it take: a claim that is older was abandoned.
CLAIM_TIMEOUT = timedelta(seconds=15)
# A concurrent refund by the same transaction may claim the same part of its amount; then the next part is tried.
MAX_TRIES = 20
# In place of what a payer wrote: a refund request has a reason (a constraint of the table).
ERASED_REASON = "(erased)"
# The constraints by which a payment is not recorded twice.
UNIQUENESS_CONSTRAINTS = {"a_proof_pays_once", "a_payment_identifier_names_one_payment_of_its_payer"}


class TransferFullyClaimed(ApiError):
    """A transaction has moved less to a payer than the refunds that would be recorded for it."""


def constraint_of(error: IntegrityError) -> str | None:
    diag = getattr(error.__cause__, "diag", None)
    return diag.constraint_name if diag else None


def find_by_proof(*, network: str, proof_key: str) -> Payment | None:
    return Payment.objects.filter(network=network, proof_key=proof_key).first()


def find_by_identifier(*, payer: str, identifier: str) -> Payment | None:
    """Return the payer's payment with this payment identifier; None for an empty one."""
    return Payment.objects.filter(payer=payer, payment_identifier=identifier).first() if identifier else None


def insert(payment: Payment, *others: Payment, check: Callable[[Payment], None] | None = None) -> bool:
    """Insert a new payment, or several together; False if one of their proofs or identifiers is in the ledger already.

    One statement, committed at once; several are written in one transaction, and so is one with a `check`, which is
    called after it and inserts nothing if it raises.
    """
    receivers.remember(payment.network, payment.pay_to)
    try:
        if not others and check is None:
            payment.save(force_insert=True)
        else:
            with transaction.atomic():
                Payment.objects.bulk_create([payment, *others])
                if check is not None:
                    check(payment)
    except IntegrityError as error:
        if constraint_of(error) in UNIQUENESS_CONSTRAINTS:
            return False
        raise
    return True


# Settlement
def take_over(payment: Payment, *, now: datetime) -> bool:
    """Claim an open payment that no request is settling: its outcome is unknown, or its claim timed out.

    False while a request is settling it, and if another request was first.
    """
    # A claim that lies further ahead was made while the clock was ahead.
    if payment.state == State.CLAIMED and abs(payment.claimed_at - now) <= CLAIM_TIMEOUT:
        return False
    unchanged = Payment.objects.filter(pk=payment.pk, state=payment.state, attempts=payment.attempts)
    if not unchanged.update(state=State.CLAIMED, claimed_at=now, attempts=F("attempts") + 1):
        return False
    payment.state, payment.claimed_at, payment.attempts = State.CLAIMED, now, payment.attempts + 1
    return True


def set_facilitator(payment: Payment, facilitator: str) -> None:
    """Record which facilitator was asked in the end, if it is not the one that the payment was claimed for."""
    if payment.facilitator != facilitator:
        Payment.objects.filter(pk=payment.pk).update(facilitator=facilitator)
        payment.facilitator = facilitator


def mark_settled(payment: Payment, *, tx_hash: str, transfer: Transfer | None = None, now: datetime) -> None:
    """Record that the money has arrived, as the facilitator says, unless that is recorded already.

    `transfer` is what the chain shows of it: a refund is due if it is less than claimed.
    """
    if transfer is not None and transfer.amount < payment.amount_usdc:
        record_transfer(payment, transfer, now=now)
        return
    values = {"state": State.SETTLED, "tx_hash": tx_hash, "settled_at": now, "error": ""}
    if transfer is not None:
        values |= transfer_fields(transfer)
    if Payment.objects.filter(pk=payment.pk, state__in=[*OPEN, State.EXPIRED]).update(**values):
        for name, value in values.items():
            setattr(payment, name, value)
    else:
        payment.refresh_from_db()


def record_transfer(payment: Payment, transfer: Transfer, *, now: datetime) -> None:
    """Record money that the chain shows, also for an expired payment; a refund is due if less than claimed arrived."""
    is_enough = transfer.amount >= payment.amount_usdc
    values = {
        **transfer_fields(transfer),
        "state": State.SETTLED if is_enough else State.REFUND_DUE,
        "error": "" if is_enough else "wrong_amount",
        "settled_at": now,
    }
    Payment.objects.filter(pk=payment.pk, state__in=[*OPEN, State.EXPIRED]).update(**values)
    payment.refresh_from_db()


def transfer_fields(transfer: Transfer) -> dict[str, Any]:
    """The fields of a payment that the chain shows: the amount is always what has arrived."""
    return {
        "amount_usdc": transfer.amount,
        "pay_to": transfer.pay_to,
        "tx_hash": transfer.tx_hash,
        "log_index": transfer.log_index,
        "block": transfer.block,
    }


def confirm_transfer(payment: Payment, transfer: Transfer, *, error: str = "") -> bool:
    """Record that the chain shows a settlement that a facilitator reported; False if that was recorded before.

    The state stays, because nobody is charged for a difference; `error` says that less has arrived. A payment that is
    refund due or refunded keeps the reason of its refund.
    """
    unconfirmed = Payment.objects.filter(pk=payment.pk, state__in=Payment.PAID, block__isnull=True)
    error_field = Case(When(state__in=Payment.EARNED, then=Value(error[:500])), default=F("error"))
    return bool(unconfirmed.update(error=error_field, **transfer_fields(transfer)))


def record_missing_transfer(payment: Payment, *, reason: str) -> bool:
    """Record that the chain does not show a settlement that a facilitator reported.

    False if that is recorded already, or the payment is refund due.
    """
    unconfirmed = Payment.objects.filter(pk=payment.pk, state__in=Payment.EARNED, block__isnull=True)
    return bool(unconfirmed.exclude(error=reason[:500]).update(error=reason[:500]))


def release_claim(payment: Payment) -> bool:
    """Delete a payment for which nothing was sent; False if another request has taken it over."""
    deleted, _ = Payment.objects.filter(pk=payment.pk, state=State.CLAIMED, attempts=payment.attempts).delete()
    return bool(deleted)


def mark_unknown(payment: Payment, *, reason: str, tx_hash: str | None = None) -> None:
    """Record that the outcome is not known: the next request for the payment, or the next sweep, asks the chain."""
    values = {"state": State.UNKNOWN, "error": reason[:500], **({"tx_hash": tx_hash} if tx_hash else {})}
    Payment.objects.filter(pk=payment.pk, state=State.CLAIMED, attempts=payment.attempts).update(**values)


def mark_expired(payment: Payment, *, reason: str) -> None:
    """Record that nothing has arrived and nothing can any more: the payer may use the identifier again."""
    values = {"state": State.EXPIRED, "error": reason, "payment_identifier": ""}
    Payment.objects.filter(pk=payment.pk, state__in=OPEN, attempts=payment.attempts).update(**values)
    payment.state, payment.error, payment.payment_identifier = State.EXPIRED, reason, ""


# Delivery
def mark_delivered(payment: UUID, *, now: datetime) -> None:
    """Record that the answer was made and written to the caller, completely or not; the first time counts."""
    Payment.objects.filter(pk=payment, state=State.SETTLED).update(state=State.DELIVERED, delivered_at=now)


def deliver(payment: UUID, *, now: datetime) -> bool:
    """Record in the transaction that makes the goods that this settled payment has bought them; False if it cannot.

    Of this and a concurrent refund of an undelivered payment one takes place.
    """
    settled = Payment.objects.filter(pk=payment, state=State.SETTLED, delivered_at=None)
    return bool(settled.update(state=State.DELIVERED, delivered_at=now))


def is_readable(payment: Payment, *, now: datetime) -> bool:
    """Whether the answer that this payment bought is still served for it."""
    return payment.readable_until is not None and now < payment.readable_until


def count_repeat(payment: Payment, *, now: datetime) -> bool:
    """Whether the answer may be served again, which is counted when it is late. At most one UPDATE."""
    if not is_readable(payment, now=now):
        return False
    if payment.delivered_at is None or now < payment.delivered_at + Payment.FREELY_REPEATED_FOR:
        return True
    late = Payment.objects.filter(pk=payment.pk, late_repeats__lt=Payment.MAX_LATE_REPEATS)
    return bool(late.update(late_repeats=F("late_repeats") + 1))


def spend_refund_due(payment: Payment, *, now: datetime) -> bool:
    """Let money that is refund due buy the purchase that `payment` names now; False once it can only be refunded."""
    spendable = Payment.objects.filter(pk=payment.pk).spendable(now=now)
    names = ("purchase", "method", "channel", "resource", "products", "tier", "origin")
    purchase = {name: getattr(payment, name) for name in names}
    return bool(spendable.update(**purchase, state=State.SETTLED, error="", delivered_at=None))


# Refunds
@transaction.atomic
def mark_refund_due(payment: UUID, *, reason: Payment.RefundReason, message: str = "", by: str) -> bool:
    """Record that a payment must be refunded, with a `message` for the payer; False if its money is not ours.

    Idempotent: a payment that is refund due or refunded stays as it is. Its money buys nothing more. A settlement that
    the chain contradicts is not refunded.
    """
    actor.set_actor(by)
    is_not_contradicted = Q(block__isnull=False) | Q(error="")
    earned = Payment.objects.filter(is_not_contradicted, pk=payment, state__in=Payment.EARNED)
    return bool(earned.update(state=State.REFUND_DUE, error=f"{reason}: {message}"[:500] if message else reason))


def request_refund(payment: UUID, *, reason: str, now: datetime) -> bool:
    """Record that the payer asks for the money of a delivered answer back, for staff to decide.

    False if the payment is not delivered, or the payer has asked before.
    """
    answered = Payment.objects.filter(pk=payment, state=State.DELIVERED, refund_requested_at=None)
    return bool(answered.update(refund_requested_at=now, refund_request=reason))


def erase_refund_requests(payments: QuerySet[Payment]) -> int:
    """Erase the payers' own words from the refund requests of these payments; return how many.

    The requests stay, with their times and decisions. One statement.
    """
    return payments.exclude(refund_request__in=("", ERASED_REASON)).update(refund_request=ERASED_REASON)


def decline_refund(payment: UUID, *, now: datetime) -> bool:
    """Record that staff keep the money whose return the payer has asked for; False if no request is open."""
    return bool(Payment.objects.filter(pk=payment).with_open_request().update(refund_declined_at=now))


def cancel_refund_due(payment: UUID, *, reason: Payment.RefundReason, by: str) -> bool:
    """Keep money that was refund due for this reason, because what it paid for is made after all.

    False if the refund is due for another reason or was sent: of this and a concurrent `record_refund` one takes
    place. Call it in the transaction that makes the goods.
    """
    actor.set_actor(by)
    with_reason = Payment.objects.filter(Q(error=reason) | Q(error__startswith=f"{reason}: "), pk=payment)
    delivered_at = Coalesce(F("delivered_at"), F("settled_at"))
    refund_due = with_reason.filter(state=State.REFUND_DUE)
    return bool(refund_due.update(state=State.DELIVERED, error="", delivered_at=delivered_at))


def write_off(payment: UUID, *, by: str, now: datetime) -> bool:
    """Record that a refund below REFUND_MIN_USDC will not be sent; False if none is due now. It may still be sent."""
    with transaction.atomic():
        actor.set_actor(by)
        small = Payment.objects.filter(pk=payment).too_small_to_refund(now=now)
        reason = Left(Concat(Value(f"{WRITTEN_OFF_REASON}: "), F("error")), 500)
        return bool(small.update(error=reason))


def refund_undelivered(payment: UUID, *, message: str, by: str) -> bool:
    """Record that a settled payment must be refunded because it has bought nothing; False if it has, or was refunded.

    Unlike after `mark_refund_due`, the goods of a concurrent `deliver` stay paid for.
    """
    with transaction.atomic():
        actor.set_actor(by)
        settled = Payment.objects.filter(pk=payment, state=State.SETTLED, delivered_at=None)
        error = f"{Payment.RefundReason.NOT_DELIVERED}: {message}"[:500]
        return bool(settled.update(state=State.REFUND_DUE, error=error))


def mark_undelivered_refund_due(*, before: datetime, product: str | None = None) -> int:
    """Mark the payments refund due that arrived up to `before` and were never delivered; return how many.

    Those for this product only, if one is given.
    """
    undelivered = Payment.objects.undelivered(before=before)
    if product is not None:
        undelivered = undelivered.filter(products__contains=[product])
    return undelivered.update(state=State.REFUND_DUE, error=Payment.RefundReason.NOT_DELIVERED)


def record_refund(
    payment: UUID,
    *,
    tx_hash: str,
    by: str,
    now: datetime,
    moved: Decimal | None = None,
    senders: Sequence[str] = (),
) -> bool:
    """Record that a transaction has refunded the payment.

    False if no refund is due, the money may still be spent, or the chain has not shown that it arrived. `moved` is
    what the transaction has moved to the payer as the chain shows, None if it shows nothing yet; `senders` are the
    addresses whose money that was. Of two at once one takes place. Raises TransferFullyClaimed.
    """
    values = {
        "tx_hash": tx_hash,
        "by": by,
        "created_at": now,
        "moved_usdc": moved,
        "confirmed_at": None if moved is None else now,
        "senders": list(senders),
    }
    for tries_left in reversed(range(MAX_TRIES)):
        try:
            return _insert_refund(payment, values)
        except IntegrityError as error:
            if constraint_of(error) == "refunds_claim_no_more_than_was_moved":
                message = "This transaction has sent less to the payer than is recorded for it."
                raise TransferFullyClaimed(message) from error
            if constraint_of(error) != "nothing_that_was_moved_is_claimed_twice" or not tries_left:
                raise
    return False


@transaction.atomic
def _insert_refund(payment: UUID, values: Mapping[str, Any]) -> bool:
    actor.set_actor(values["by"])
    now = values["created_at"]
    if not Payment.objects.filter(pk=payment).refundable(now=now).update(state=State.REFUNDED, refunded_at=now):
        return False
    row = Payment.objects.get(pk=payment)
    others = Refund.objects.filter(tx_hash=values["tx_hash"], to=row.payer).order_by("offset_usdc")
    offset = first_gap(row.amount_usdc, others.values_list("offset_usdc", "amount_usdc"))
    Refund.objects.create(payment=row, amount_usdc=row.amount_usdc, to=row.payer, offset_usdc=offset, **values)
    return True


def first_gap(amount: Decimal, claimed: Iterable[tuple[Decimal, Decimal]]) -> Decimal:
    """Return the first offset at which `amount` fits between the claimed parts, given as (offset, amount) in order.

    A refund that was withdrawn leaves a gap. Computed in atomic units: a Decimal's 28 digits would round.
    """
    wanted, free = payment_network().to_atomic(amount), 0
    for offset, length in claimed:
        begins = payment_network().to_atomic(offset)
        if begins - free >= wanted:
            break
        free = begins + payment_network().to_atomic(length)
    return payment_network().to_decimal(free)


@transaction.atomic
def withdraw_refund(payment: UUID, *, by: str) -> bool:
    """Delete a refund that the chain has never shown: it is due again. False for any other."""
    actor.set_actor(by)
    if not Refund.objects.filter(payment=payment, confirmed_at=None).delete()[0]:
        return False
    refunded = Payment.objects.filter(pk=payment, state=State.REFUNDED)
    return bool(refunded.update(state=State.REFUND_DUE, refunded_at=None))

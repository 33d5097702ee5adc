"""Reconciles payments with the chain: open ones, and settled ones that only a facilitator has reported.

`sweep` runs every 15 seconds; the daily audit (chain_audit.py) compares whole spans of blocks.
"""

import logging
from datetime import datetime, timedelta
from enum import Enum, auto

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest, Least

from payments.chain import reads
from payments.chain.reads import NotAPayment
from payments.chain.rpc import RpcUnavailable
from payments.ledger import transitions
from payments.models import Payment

logger = logging.getLogger("tablewire.payments")

State = Payment.State
# Blocks have clocks of their own, and nodes lag.
CHAIN_DELAY = timedelta(seconds=60)
BATCH_SIZE = 50
# One window of the chain's logs reaches back this far.
LOG_WINDOW = timedelta(hours=5)
# A payment that has ended is checked again for a day, because nodes and facilitators err, and for a week where a
# refund is due for money that the chain has not shown.
RECHECK_INTERVAL = timedelta(minutes=10)
RECHECK_PERIOD = timedelta(hours=24)
REFUND_RECHECK_PERIOD = timedelta(days=7)
# An open payment is checked when a quarter of its age has passed since the last check, and every ten minutes at least.
BACKOFF_DIVISOR = 4


class AuthorizationStatus(Enum):
    """What the chain shows of an authorization."""

    ARRIVED = auto()  # it has paid us, if only too little
    VOID = auto()  # it was cancelled, has paid another address, or its time is over
    UNUSED = auto()
    UNCONFIRMED = auto()  # it is spent, and the chain does not show yet for what

    @property
    def has_ended(self) -> bool:
        return self in (AuthorizationStatus.ARRIVED, AuthorizationStatus.VOID)


def check_chain(payment: Payment, *, now: datetime) -> AuthorizationStatus:
    """Ask the chain about a payment that is not known to have arrived, and record what is certain.

    One request to the node while the authorization is unused. Raises RpcUnavailable.
    """
    nonce = nonce_of(payment)
    if payment.valid_before is None or now <= payment.valid_before + CHAIN_DELAY:
        is_spent = reads.is_authorization_spent(payment.payer, nonce)
    else:
        is_spent, chain_time = reads.read_authorization_state(payment.payer, nonce)
        # A node that lags has not seen the end of the authorization's time, nor a use just before it.
        if not is_spent and chain_time > payment.valid_before:
            transitions.mark_expired(payment, reason="Its time has passed and it was not used.")
            return AuthorizationStatus.VOID
    if not is_spent:
        return AuthorizationStatus.UNUSED
    try:
        windows = log_windows_since(payment.created_at, now=now)
        transfer = reads.find_authorization_transfer(payment.payer, nonce, receivers={payment.pay_to}, windows=windows)
    except NotAPayment as error:
        transitions.mark_expired(payment, reason=str(error))
        return AuthorizationStatus.VOID
    if transfer is None:
        return AuthorizationStatus.UNCONFIRMED
    transitions.record_transfer(payment, transfer, now=now)
    return AuthorizationStatus.ARRIVED


def log_windows_since(moment: datetime, *, now: datetime) -> int:
    """How many log windows reach back to this moment; at most 6, because an authorization is valid for a day.

    At least one: the clock may have been ahead at that moment.
    """
    return 1 + max(0, min((now - moment) // LOG_WINDOW, 5))


def nonce_of(payment: Payment) -> bytes:
    return bytes.fromhex(payment.proof_key.rpartition(":")[2].removeprefix("0x"))


def sweep(*, now: datetime, is_urgent: bool = False) -> int:
    """Check the payments that no request is working on; return how many open ones have ended.

    Payments that were not answered for a day become refund due. Any number of sweeps may run at once. The network is
    asked outside of the transactions that claim the rows. The older a payment is, the less often it is checked, down
    to every ten minutes, unless the sweep `is_urgent`.
    """
    # The extra minute is for answers that were begun in time.
    transitions.mark_undelivered_refund_due(before=now - Payment.READABLE_FOR - CHAIN_DELAY)
    ended, is_unavailable = 0, False
    for payment in claim_due(now=now, is_urgent=is_urgent):
        status = AuthorizationStatus.UNCONFIRMED
        # Each question to an unavailable node costs seconds while the rows are claimed: only the first is asked.
        if not is_unavailable:
            try:
                status = check_chain(payment, now=now)
            except RpcUnavailable:
                is_unavailable = True
        if status.has_ended:
            ended += 1
        elif payment.state == State.CLAIMED:
            transitions.mark_unknown(payment, reason=payment.error or "How the settlement ended is not known.")
    if not is_unavailable:
        recheck_ended(now=now)
    return ended


def claim_due(*, now: datetime, is_urgent: bool = False) -> list[Payment]:
    """Claim some open payments that are due for a check, the oldest first.

    A claimed payment is taken over: the request that was settling it has died, and must not release it should it come
    back. An unknown payment is only marked as checked, which is no transition: its payer may take it over at any time,
    and what the sweep then writes applies only to money that the chain shows (transitions.record_transfer,
    transitions.mark_expired).
    """
    # Claimed or checked while the clock was ahead.
    is_ahead = Q(claimed_at__gt=now + transitions.CLAIM_TIMEOUT)
    is_timed_out = Q(claimed_at__lt=now - transitions.CLAIM_TIMEOUT)
    due = Payment.objects.filter(is_timed_out | is_ahead, state__in=transitions.OPEN)
    if not is_urgent:
        age = Greatest(F("claimed_at") - F("created_at"), timedelta(0))
        is_due = Q(claimed_at__lte=now - Least(age / BACKOFF_DIVISOR, RECHECK_INTERVAL))
        due = due.filter(Q(state=State.CLAIMED) | is_due | is_ahead)
    with transaction.atomic():
        payments = list(due.select_for_update(skip_locked=True).order_by("claimed_at", "pk")[:BATCH_SIZE])
        unknown = [payment.pk for payment in payments if payment.state == State.UNKNOWN]
        Payment.objects.filter(pk__in=unknown).update(claimed_at=now)
        return [
            payment
            for payment in payments
            if payment.state == State.UNKNOWN or transitions.take_over(payment, now=now)
        ]


def recheck_ended(*, now: datetime) -> None:
    """Ask the chain again about payments that expired, and about those that were settled by the facilitator's word."""
    expired = Payment.objects.filter(state=State.EXPIRED, created_at__gt=now - RECHECK_PERIOD)
    is_earned = Q(state__in=Payment.EARNED, error="", settled_at__gt=now - RECHECK_PERIOD)
    is_refund = Q(state__in=[State.REFUND_DUE, State.REFUNDED], settled_at__gt=now - REFUND_RECHECK_PERIOD)
    unconfirmed = Payment.objects.filter(is_earned | is_refund, block__isnull=True, settled_at__lte=now - CHAIN_DELAY)
    try:
        for payment in claim_recheck(expired, now=now):
            check_chain(payment, now=now)
        for payment in claim_recheck(unconfirmed, now=now):
            confirm_settlement(payment, now=now)
    except RpcUnavailable:
        # The next recheck is due in ten minutes.
        logger.warning("payments could not be rechecked: the chain is unavailable")


def claim_recheck(payments: QuerySet[Payment], *, now: datetime) -> list[Payment]:
    """Claim some of these payments that are due for a recheck, those first that had none."""
    due = payments.filter(Q(rechecked_at=None) | Q(rechecked_at__lt=now - RECHECK_INTERVAL))
    order = (F("rechecked_at").asc(nulls_first=True), "pk")
    with transaction.atomic():
        claimed = list(due.select_for_update(skip_locked=True).order_by(*order)[:BATCH_SIZE])
        Payment.objects.filter(pk__in=[payment.pk for payment in claimed]).update(rechecked_at=now)
    return claimed


def confirm_settlement(payment: Payment, *, now: datetime) -> str:
    """Look on the chain for a settlement that a facilitator reported; return what is wrong with it, else "".

    Up to five requests to the node, one more for each five hours that have passed. Raises RpcUnavailable.
    """
    if payment.form == Payment.Form.TX:
        # It was recorded from the chain.
        return ""
    nonce, since = nonce_of(payment), payment.settled_at or payment.created_at
    error, transfer, is_new = "", None, False
    try:
        transfer = reads.find_authorization_transfer(
            payment.payer, nonce, receivers={payment.pay_to}, windows=log_windows_since(since, now=now)
        )
    except NotAPayment as refusal:
        error = str(refusal)
    else:
        if transfer is not None and transfer.amount < payment.amount_usdc:
            error = f"Settled for {payment.amount_usdc.normalize():f}, it says; less has arrived."
        elif transfer is None and not reads.is_authorization_spent(payment.payer, nonce):
            error = "The facilitator says that it is settled; the chain does not know of it."
    if transfer is not None:
        is_new = transitions.confirm_transfer(payment, transfer, error=error)
    elif error:
        is_new = transitions.record_missing_transfer(payment, reason=error)
    if error and is_new:
        logger.error("the settlement of payment %s is not what the facilitator said: %s", payment.pk, error)
    return error

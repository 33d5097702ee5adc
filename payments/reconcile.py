"""Finds out on the chain what became of payments: of those that were left open, and whether the others are true."""

import logging
from datetime import datetime, timedelta
from enum import Enum, auto

from django.db import transaction
from django.db.models import F, Q, QuerySet

from payments import chain, ledger
from payments.chain import NotAPayment
from payments.models import Payment
from payments.rpc import RpcUnavailable

logger = logging.getLogger("tablewire.payments")

State = Payment.State
# Blocks have clocks of their own, and nodes a delay.
LATE = timedelta(seconds=60)
AT_ONCE = 50
# So far back one window of the chain's logs reaches.
SEEN_WITHIN = timedelta(hours=5)
# An end that was written down is looked at again for a day, as nodes and facilitators err.
AGAIN = timedelta(minutes=10)
DAY = timedelta(hours=24)


class Fate(Enum):
    """What the chain says of an authorization."""

    ARRIVED = auto()  # also when it is too little
    LOST = auto()  # the chain shows that it was cancelled, or paid somebody else, or its time is over
    UNUSED = auto()
    UNCLEAR = auto()  # it is spent, and what for is not to be seen yet


def look(row: Payment, *, now: datetime) -> Fate:
    """Ask the chain about a payment that has not arrived as far as we know, and write down what is certain.

    One trip to the node while the authorization is unused. Raises RpcUnavailable.
    """
    nonce = nonce_of(row)
    if row.valid_before is None or now <= row.valid_before + LATE:
        is_spent = chain.authorization_is_spent(row.payer, nonce)
    else:
        is_spent, chains_now = chain.authorization_at(row.payer, nonce)
        # A node that lags behind has not seen the end of its time, nor a use just before that.
        if not is_spent and chains_now > row.valid_before:
            ledger.expire(row, why="Its time has passed and it was not used.")
            return Fate.LOST
    if not is_spent:
        return Fate.UNUSED
    # What was open for long was used long ago; it is valid for a day at most.
    windows = 1 + min((now - row.created_at) // SEEN_WITHIN, 5)
    try:
        found = chain.authorization_used(row.payer, nonce, windows=windows)
    except NotAPayment as error:
        ledger.expire(row, why=error.reason)
        return Fate.LOST
    if found is None:
        return Fate.UNCLEAR
    ledger.book(row, found, now=now)
    return Fate.ARRIVED


def nonce_of(row: Payment) -> bytes:
    """The nonce of the authorization that this line is about."""
    return bytes.fromhex(row.proof_key.rpartition(":")[2].removeprefix("0x"))


def sweep(*, now: datetime) -> int:
    """Look after the payments that nobody is looking after; return how many open ones have come to an end.

    Any number may sweep at once. The network is asked outside of the transactions that claim the rows.
    """
    ended, is_away = 0, False
    for row in claimed(now=now):
        try:
            # Each question to a node that is away costs seconds, and the rows wait in our hands.
            fate = Fate.UNCLEAR if is_away else look(row, now=now)
        except RpcUnavailable:
            fate, is_away = Fate.UNCLEAR, True
        if fate in (Fate.ARRIVED, Fate.LOST):
            ended += 1
        else:
            ledger.leave_open(row, why=row.error or "Nobody saw how the settlement ended.")
    if not is_away:
        look_again(now=now)
    return ended


def claimed(*, now: datetime) -> list[Payment]:
    """Claim some open payments, the oldest first."""
    stale = Payment.objects.filter(state__in=ledger.OPEN, claimed_at__lt=now - ledger.STALE)
    with transaction.atomic():
        rows = list(stale.select_for_update(skip_locked=True).order_by("claimed_at", "pk")[:AT_ONCE])
        return [row for row in rows if ledger.take_over(row, now=now)]


# Ends that were written down ---------------------------------------------------------------------------------------
def look_again(*, now: datetime) -> None:
    """Ask the chain about what we gave up, and about what was settled by the word of the facilitator alone."""
    given_up = Payment.objects.filter(state=State.EXPIRED, created_at__gt=now - DAY)
    believed = Payment.objects.filter(
        state__in=[State.SETTLED, State.DELIVERED],
        block__isnull=True,
        error="",
        settled_at__gt=now - DAY,
        settled_at__lte=now - LATE,
    )
    try:
        for row in taken(given_up, now=now):
            look(row, now=now)
        for row in taken(believed, now=now):
            confirm(row)
    except RpcUnavailable:
        # Another look is due in ten minutes.
        logger.warning("payments could not be looked at again: the chain is away")


def taken(rows: QuerySet[Payment], *, now: datetime) -> list[Payment]:
    """Some of these that are due for another look, which is ours then; those first that had none."""
    due = rows.filter(Q(looked_at=None) | Q(looked_at__lt=now - AGAIN))
    with transaction.atomic():
        mine = list(
            due.select_for_update(skip_locked=True).order_by(F("looked_at").asc(nulls_first=True), "pk")[:AT_ONCE]
        )
        Payment.objects.filter(pk__in=[row.pk for row in mine]).update(looked_at=now)
    return mine


def confirm(row: Payment) -> None:
    """See on the chain what the facilitator has told us. Up to five trips to the node. Raises RpcUnavailable."""
    nonce = nonce_of(row)
    error, found = "", None
    try:
        found = chain.authorization_used(row.payer, nonce)
    except NotAPayment as refusal:
        error = refusal.reason
    else:
        if found is not None and found.amount < row.amount_usdc:
            error = f"Settled for {row.amount_usdc.normalize():f}, it says; less has arrived."
        elif found is None and not chain.authorization_is_spent(row.payer, nonce):
            error = "The facilitator says that it is settled; the chain does not know of it."
    if found is not None or error:
        ledger.confirm(row, found, error=error)
    if error:
        logger.error("the settlement of payment %s is not what the facilitator said: %s", row.pk, error)

"""Finds out on the chain what became of payments: of those that were left open, and whether the others are true."""

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
# Blocks have clocks of their own, and nodes a delay.
LATE = timedelta(seconds=60)
AT_ONCE = 50
# So far back one window of the chain's logs reaches.
SEEN_WITHIN = timedelta(hours=5)
# An end that was written down is looked at again for a day, as nodes and facilitators err; for longer what we owe
# without having seen it come.
AGAIN = timedelta(minutes=10)
DAY = timedelta(hours=24)
WEEK = timedelta(days=7)
# What is open is looked at when it is older by this part of its age, and every ten minutes at least.
PART = 4


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
        is_spent = reads.authorization_is_spent(row.payer, nonce)
    else:
        is_spent, chains_now = reads.authorization_at(row.payer, nonce)
        # A node that lags behind has not seen the end of its time, nor a use just before that.
        if not is_spent and chains_now > row.valid_before:
            transitions.expire(row, why="Its time has passed and it was not used.")
            return Fate.LOST
    if not is_spent:
        return Fate.UNUSED
    try:
        found = reads.authorization_used(row.payer, nonce, windows=windows_since(row.created_at, now=now))
    except NotAPayment as error:
        transitions.expire(row, why=error.reason)
        return Fate.LOST
    if found is None:
        return Fate.UNCLEAR
    transitions.book(row, found, now=now)
    return Fate.ARRIVED


def windows_since(moment: datetime, *, now: datetime) -> int:
    """How many windows of the chain's logs reach back so far: an authorization is valid for a day at most."""
    return 1 + min((now - moment) // SEEN_WITHIN, 5)


def nonce_of(row: Payment) -> bytes:
    """The nonce of the authorization that this line is about."""
    return bytes.fromhex(row.proof_key.rpartition(":")[2].removeprefix("0x"))


def sweep(*, now: datetime, is_urgent: bool = False) -> int:
    """Look after the payments that nobody is looking after; return how many open ones have come to an end.

    What nobody has answered for a day is owed back. Any number may sweep at once. The network is asked outside of the
    transactions that claim the rows. The older a payment is, the more seldom it is looked at: every ten minutes in
    the end, unless it `is_urgent`.
    """
    # An answer may be on its way that was begun in time.
    transitions.owe_undelivered(before=now - Payment.READ_AT_ALL - LATE)
    ended, is_away = 0, False
    for row in claimed(now=now, is_urgent=is_urgent):
        try:
            # Each question to a node that is away costs seconds, and the rows wait in our hands.
            fate = Fate.UNCLEAR if is_away else look(row, now=now)
        except RpcUnavailable:
            fate, is_away = Fate.UNCLEAR, True
        if fate in (Fate.ARRIVED, Fate.LOST):
            ended += 1
        elif row.state == State.CLAIMED:
            transitions.leave_open(row, why=row.error or "Nobody saw how the settlement ended.")
    if not is_away:
        look_again(now=now)
    return ended


def claimed(*, now: datetime, is_urgent: bool = False) -> list[Payment]:
    """Claim some open payments that are due for a look, the oldest first.

    Who was settling one is gone, and must not let it go any more if they come back: it is taken over. One that is
    known to be left alone is only marked as looked at, which is no move: its payer may take it over meanwhile, and
    what we write of it then holds for money that the chain shows, and for nothing else (ledger.book, ledger.expire).
    """
    left = Payment.objects.filter(state__in=transitions.OPEN, claimed_at__lt=now - transitions.STALE)
    if not is_urgent:
        age = Greatest(F("claimed_at") - F("created_at"), timedelta(0))
        left = left.filter(Q(state=State.CLAIMED) | Q(claimed_at__lte=now - Least(age / PART, AGAIN)))
    with transaction.atomic():
        rows = list(left.select_for_update(skip_locked=True).order_by("claimed_at", "pk")[:AT_ONCE])
        known = [row.pk for row in rows if row.state == State.UNKNOWN]
        Payment.objects.filter(pk__in=known).update(claimed_at=now)
        return [row for row in rows if row.state == State.UNKNOWN or transitions.take_over(row, now=now)]


# Ends that were written down
def look_again(*, now: datetime) -> None:
    """Ask the chain about what we gave up, and about what was settled by the word of the facilitator alone."""
    given_up = Payment.objects.filter(state=State.EXPIRED, created_at__gt=now - DAY)
    is_believed = Q(state__in=Payment.TAKEN, error="", settled_at__gt=now - DAY)
    is_owed = Q(state__in=[State.REFUND_DUE, State.REFUNDED], settled_at__gt=now - WEEK)
    believed = Payment.objects.filter(is_believed | is_owed, block__isnull=True, settled_at__lte=now - LATE)
    try:
        for row in taken(given_up, now=now):
            look(row, now=now)
        for row in taken(believed, now=now):
            confirm(row, now=now)
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


def confirm(row: Payment, *, now: datetime) -> str:
    """See on the chain what the facilitator has told us; returns what speaks against it, nothing where all is well.

    Up to five trips to the node, one more for each five hours that have passed. Raises RpcUnavailable.
    """
    if row.form == Payment.Form.TX:
        # It was written down as the chain showed it.
        return ""
    nonce, since = nonce_of(row), row.settled_at or row.created_at
    error, found, is_news = "", None, False
    try:
        found = reads.authorization_used(row.payer, nonce, windows=windows_since(since, now=now))
    except NotAPayment as refusal:
        error = refusal.reason
    else:
        if found is not None and found.amount < row.amount_usdc:
            error = f"Settled for {row.amount_usdc.normalize():f}, it says; less has arrived."
        elif found is None and not reads.authorization_is_spent(row.payer, nonce):
            error = "The facilitator says that it is settled; the chain does not know of it."
    if found is not None:
        is_news = transitions.confirm(row, found, error=error)
    elif error:
        is_news = transitions.doubt(row, why=error)
    if error and is_news:
        logger.error("the settlement of payment %s is not what the facilitator said: %s", row.pk, error)
    return error

"""Finds out on the chain what became of payments whose settlement nobody saw the end of."""

from datetime import datetime, timedelta
from enum import Enum, auto

from django.db import transaction

from payments import chain, ledger
from payments.models import Payment
from payments.rpc import RpcUnavailable

# Blocks have clocks of their own, and nodes a delay.
LATE = timedelta(seconds=60)
AT_ONCE = 50


class Fate(Enum):
    """What the chain says of an authorization."""

    ARRIVED = auto()
    LOST = auto()  # it was cancelled, or paid somebody else, or its time is over
    UNUSED = auto()
    UNCLEAR = auto()  # it is spent, and the transfer not to be seen yet


def look(row: Payment, *, now: datetime) -> Fate:
    """Ask the chain about an open payment that we have claimed, and write down what is certain.

    One trip to the node while the authorization is unused. Raises RpcUnavailable.
    """
    nonce = bytes.fromhex(row.proof_key.rpartition(":")[2].removeprefix("0x"))
    if not chain.authorization_is_spent(row.payer, nonce):
        if row.valid_before is None or now <= row.valid_before + LATE:
            return Fate.UNUSED
        ledger.expire(row, why="Its time has passed and it was not used.")
        return Fate.LOST
    found = chain.authorization_used(row.payer, nonce)
    if found is not None:
        ledger.settle(row, tx_hash=found.tx_hash, log_index=found.log_index, block=found.block, now=now)
        return Fate.ARRIVED
    if now <= row.created_at + ledger.STALE:
        return Fate.UNCLEAR
    ledger.expire(row, why="It was cancelled, or has paid somebody else.")
    return Fate.LOST


def sweep(*, now: datetime) -> int:
    """Look after the open payments that nobody is looking after; return how many have come to an end.

    Any number may sweep at once. The network is asked outside of the transaction that claims the rows.
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
    return ended


def claimed(*, now: datetime) -> list[Payment]:
    """Claim some open payments, the oldest first."""
    stale = Payment.objects.filter(state__in=ledger.OPEN, claimed_at__lt=now - ledger.STALE)
    with transaction.atomic():
        rows = list(stale.select_for_update(skip_locked=True).order_by("claimed_at", "pk")[:AT_ONCE])
        return [row for row in rows if ledger.take_over(row, now=now)]

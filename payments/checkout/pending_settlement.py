"""What is said while a settlement has not ended, and how its end is looked up."""

import time

from django.utils import timezone

from framework.errors import Code, Refusal
from payments.chain.rpc import RpcUnavailable
from payments.ledger import reconcile, transitions
from payments.ledger.reconcile import Fate
from payments.models import Payment

# Another request with the same payment normally ends within milliseconds.
TWIN_WAIT_S = 2.0
TWIN_POLL_S = 0.02


class FacilitatorUnavailable(Refusal):
    """Payments cannot be settled for a moment; nothing was charged."""

    code = Code.FACILITATOR_UNAVAILABLE

    def __init__(self) -> None:
        super().__init__(
            "Payments cannot be settled for a moment. Nothing was charged: ask again with the same payment.",
            headers={"Retry-After": "5", "Cache-Control": "no-store"},
        )


class SettlementPending(Refusal):
    """Whether the money has moved is not known. Never a 402: clients would sign again, and pay twice."""

    code = Code.SETTLEMENT_PENDING

    def __init__(self, *, retry_after_s: int = 2) -> None:
        super().__init__(
            "Whether this payment has been settled is not known yet."
            " Ask again with the same payment: you will not be charged twice.",
            headers={"Retry-After": str(retry_after_s), "Cache-Control": "no-store"},
        )


class Patience:
    """How long a request waits for another one to end, from now on."""

    def __init__(self) -> None:
        self.until = time.monotonic() + TWIN_WAIT_S

    def wait(self) -> None:
        """For a moment. Raises SettlementPending when it has been long enough."""
        if time.monotonic() > self.until:
            raise SettlementPending(retry_after_s=1)
        time.sleep(TWIN_POLL_S)


def is_left(row: Payment) -> bool:
    """Whether nobody is settling this open payment any more, as far as can be told from outside."""
    return row.state == Payment.State.UNKNOWN or row.claimed_at < timezone.now() - transitions.STALE


def looked(row: Payment) -> Fate:
    """What the chain says of it. Raises SettlementPending while the chain cannot be read."""
    try:
        return reconcile.look(row, now=timezone.now())
    except RpcUnavailable as error:
        transitions.leave_open(row, why=error.message)
        raise SettlementPending from error

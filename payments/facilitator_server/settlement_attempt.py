"""One settlement: whether its transaction was sent, and whether it still may be."""

import threading
from dataclasses import dataclass, field

from framework.resilience.deadline import Deadline


class NotSent(Exception):
    """The settlement is not sent, for this reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass
class Attempt:
    """A settlement of the authorization that `key` names, which is to be answered by `deadline`.

    One thread settles; another waits for the answer, and cancels when its time is over. After that either nothing is
    sent any more, or the transaction is known.
    """

    payer: str
    key: str
    deadline: Deadline
    transaction: str | None = None
    not_sent_reason: str | None = None
    chain_failed: bool = False
    is_cancelled: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def begin(self, transaction: str) -> None:
        """Record that it is sent in this transaction now. Raises NotSent if the settlement was cancelled."""
        with self.lock:
            if self.is_cancelled:
                raise NotSent("cancelled")
            self.transaction = transaction

    def unset_transaction(self) -> None:
        """Record that the node has refused the transaction: it was not sent."""
        with self.lock:
            self.transaction = None

    def cancel(self) -> str | None:
        """Return the transaction in which it was sent; None cancels it, and it never will be."""
        with self.lock:
            self.is_cancelled = self.transaction is None
            return self.transaction

    def refuse(self, reason: str) -> NotSent:
        """Record and return why it is not sent; the SDK replaces the reason of every exception that it catches."""
        self.not_sent_reason = reason
        return NotSent(reason)


class Current(threading.local):
    """The settlement that this thread works on; None while it verifies."""

    attempt: Attempt | None = None


current = Current()

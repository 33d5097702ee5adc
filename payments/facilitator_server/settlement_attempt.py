"""One settlement: whether it was sent yet, and who has to know that it never will be."""

import threading
from dataclasses import dataclass, field


class Held(Exception):
    """It is not sent, for this reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass
class Attempt:
    """A settlement of the authorization that `key` names, which is to be answered at `until` (monotonic clock).

    Two threads know it: one settles, the other waits for the answer and gives up when its time is over. From then on
    nothing is sent any more, or the transaction is known: never neither.
    """

    payer: str
    key: str
    until: float
    transaction: str | None = None
    held: str | None = None
    chain_failed: bool = False
    is_given_up: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def begin(self, transaction: str) -> None:
        """It is going to be sent in this transaction now. Raises Held when nobody waits for it any more."""
        with self.lock:
            if self.is_given_up:
                raise Held("given up")
            self.transaction = transaction

    def take_back(self) -> None:
        """The node has refused the transaction: it was not sent."""
        with self.lock:
            self.transaction = None

    def give_up(self) -> str | None:
        """The transaction in which it was sent, or None, and then it never will be."""
        with self.lock:
            self.is_given_up = self.transaction is None
            return self.transaction

    def hold(self, reason: str) -> Held:
        """Remember why it is not sent; the SDK tells its own words for all that it catches."""
        self.held = reason
        return Held(reason)


class Current(threading.local):
    """The settlement that a thread is at; None while it verifies."""

    attempt: Attempt | None = None


current = Current()

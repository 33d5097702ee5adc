"""How long one answer may still wait for others: callers are promised one within 8.5 seconds, whoever hangs."""

import time
from contextvars import ContextVar

TOTAL_S = 8.2
_until: ContextVar[float | None] = ContextVar("until", default=None)


class one_answer:  # noqa: N801  # a context manager, which as a generator costs twice as much
    """All waiting within this is for one answer."""

    def __enter__(self) -> None:
        self.token = _until.set(time.monotonic() + TOTAL_S)

    def __exit__(self, *_: object) -> None:
        _until.reset(self.token)


def at_most(seconds: float, *, keeping: float = 0.0) -> float:
    """So many seconds, less where the answer is due sooner, and never below zero; `keeping` are left for what follows.

    Outside of an answer, in a worker or a command, nobody waits.
    """
    until = _until.get()
    return seconds if until is None else max(min(seconds, until - keeping - time.monotonic()), 0.0)


def is_limited() -> bool:
    """Whether somebody waits for an answer."""
    return _until.get() is not None

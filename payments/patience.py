"""How long one answer may still wait for others: callers are promised one within 8.5 seconds, whoever hangs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TOTAL_S = 8.2
_until: ContextVar[float | None] = ContextVar("until", default=None)


@contextmanager
def one_answer() -> Iterator[None]:
    """All waiting within this is for one answer."""
    token = _until.set(time.monotonic() + TOTAL_S)
    try:
        yield
    finally:
        _until.reset(token)


def at_most(seconds: float, *, keeping: float = 0.0) -> float:
    """So many seconds, less where the answer is due sooner, and never below zero; `keeping` are left for what follows.

    Outside of an answer, in a worker or a command, nobody waits.
    """
    until = _until.get()
    return seconds if until is None else max(min(seconds, until - keeping - time.monotonic()), 0.0)


def is_limited() -> bool:
    """Whether somebody waits for an answer."""
    return _until.get() is not None

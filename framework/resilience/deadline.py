"""Deadlines: a moment by which work must end, however many steps it takes.

The deadline of the current response travels in a context variable: clients get an answer within 8.5 s, whichever
service hangs.
"""

import time
from contextvars import ContextVar
from dataclasses import dataclass

RESPONSE_TIMEOUT_S = 8.2


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        return cls(time.monotonic() + seconds)

    @property
    def remaining_s(self) -> float:
        """Seconds until then, never below zero."""
        return max(self.at - time.monotonic(), 0.0)

    def timeout_s(self) -> float:
        """Seconds until then, as the timeout of the next step. Raises TimeoutError when none are left."""
        remaining_s = self.remaining_s
        if remaining_s == 0:
            raise TimeoutError("The deadline has passed.")
        return remaining_s


_response: ContextVar[Deadline | None] = ContextVar("response_deadline", default=None)


class response_deadline:  # noqa: N801  # a context manager, which as a generator costs twice as much
    """Set the deadline of the response that this block produces."""

    def __enter__(self) -> None:
        self._token = _response.set(Deadline.after(RESPONSE_TIMEOUT_S))

    def __exit__(self, *_: object) -> None:
        _response.reset(self._token)


def has_response_deadline() -> bool:
    """Return whether a client waits for a response; none does in a worker or a command."""
    return _response.get() is not None


def limit_timeout(seconds: float, *, reserve_s: float = 0.0) -> float:
    """Return this timeout, shortened to the response deadline; `reserve_s` are left for the steps after it."""
    deadline = _response.get()
    return seconds if deadline is None else max(min(seconds, deadline.remaining_s - reserve_s), 0.0)

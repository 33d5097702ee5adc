"""A bulkhead: a limit on concurrent calls to one service, so that a service that hangs cannot block every thread."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# The threads of this process that answer requests, from granian's own variable.
REQUEST_THREADS = int(os.environ.get("GRANIAN_BLOCKING_THREADS", "4"))
# One thread stays free for requests that do not need the service.
MAX_BLOCKED_THREADS = max(1, REQUEST_THREADS - 1)


class Bulkhead:
    """At most `max_calls` concurrent calls, with a first-in, first-out queue.

    While every running call is younger than `max_wait_s` the service is presumably well: a caller then queues, for at
    most `max_wait_s`. As soon as one call is older, callers are refused at once.
    """

    def __init__(self, max_calls: int = MAX_BLOCKED_THREADS, *, max_wait_s: float) -> None:
        self.max_calls = max_calls
        self.max_wait_s = max_wait_s
        # When the running calls started, oldest first.
        self._started_at: list[float] = []
        self._queue: list[object] = []
        self._changed = threading.Condition()

    @contextmanager
    def slot(self) -> Iterator[bool]:
        """Yield whether the call is admitted; an admitted call holds its slot until the block ends."""
        arrived_at = time.monotonic()
        with self._changed:
            is_admitted = self._wait_for_slot(arrived_at)
            if is_admitted:
                started_at = time.monotonic()
                self._started_at.append(started_at)
        try:
            yield is_admitted
        finally:
            if is_admitted:
                with self._changed:
                    self._started_at.remove(started_at)
                    self._changed.notify_all()

    def _wait_for_slot(self, arrived_at: float) -> bool:
        """Wait for a free slot; False when `max_wait_s` is over. The caller holds the lock."""
        ticket = object()
        self._queue.append(ticket)
        try:
            while len(self._started_at) >= self.max_calls or self._queue[0] is not ticket:
                remaining_s = min([arrived_at, *self._started_at[:1]]) + self.max_wait_s - time.monotonic()
                if remaining_s <= 0:
                    return False
                self._changed.wait(remaining_s)
            return True
        finally:
            self._queue.remove(ticket)
            self._changed.notify_all()

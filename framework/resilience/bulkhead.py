"""Servers that hang: so few threads wait for one, and one caller tries it for all after a rest."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

# The threads of this process that answer requests, by granian's own variable. All but one may wait for a server at a
# time: one that hangs does not silence what needs none.
THREADS = int(os.environ.get("GRANIAN_BLOCKING_THREADS", "4"))


@dataclass
class Breaker:
    """How a server did lately, as this process has met it. Moments are of the monotonic clock.

    After `most_failures` in a row it is left alone for `rest_s`; then one trip, of `trip_s` at most, tries it.
    """

    most_failures: int
    rest_s: float
    trip_s: float
    failures: int = 0
    resting_until: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_open(self) -> bool:
        """Whether it has failed so often that it is left alone."""
        return self.failures >= self.most_failures

    def admits(self) -> bool:
        """Whether it may be asked now. After a rest one caller may, and the others once that trip has ended."""
        now = time.monotonic()
        with self.lock:
            if self.is_open:
                if now < self.resting_until:
                    return False
                self.resting_until = now + self.trip_s
            return True

    def note(self, *, answered: bool) -> None:
        """Remember how a trip ended."""
        with self.lock:
            self.failures = 0 if answered else self.failures + 1
            self.resting_until = time.monotonic() + self.rest_s


class Slots:
    """Room for so many trips at a time.

    While all under way are younger than `soon_s`, their server may well be well: who finds no room waits that long at
    most, those who came first in front. Else there is none.
    """

    def __init__(self, most: int, *, soon_s: float) -> None:
        self.most = most
        self.soon_s = soon_s
        self.began_at: list[float] = []
        self.waiting: list[object] = []
        self.changed = threading.Condition()

    @contextmanager
    def taken(self) -> Iterator[bool]:
        """Whether there is room; it is held until the end of this."""
        began_at = time.monotonic()
        with self.changed:
            has_room = self._waits(began_at)
            if has_room:
                mine = time.monotonic()
                self.began_at.append(mine)
        try:
            yield has_room
        finally:
            if has_room:
                with self.changed:
                    self.began_at.remove(mine)
                    self.changed.notify_all()

    def _waits(self, began_at: float) -> bool:
        """Return once there is room, or surely none for so long."""
        me = object()
        self.waiting.append(me)
        try:
            while len(self.began_at) >= self.most or self.waiting[0] is not me:
                # They stand in the order in which they began.
                left_s = min([began_at, *self.began_at[:1]]) + self.soon_s - time.monotonic()
                if left_s <= 0:
                    return False
                self.changed.wait(left_s)
            return True
        finally:
            self.waiting.remove(me)
            self.changed.notify_all()

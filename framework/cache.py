"""What a process remembers of the database for a while."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from django.db import Error as DatabaseError

Found = TypeVar("Found")


class Lately(Generic[Found]):
    """Something that was read, and is read anew once it is too old. Of two readers at once the last one stays."""

    def __init__(self, read: Callable[[], Found]) -> None:
        self.read = read
        self.kept: tuple[float, Found] | None = None

    def not_older(self, than_s: float) -> Found:
        """What was read within so many seconds, now if it must be."""
        kept, now = self.kept, time.monotonic()
        if kept is None or now - kept[0] >= than_s:
            kept = self.kept = (now, self.read())
        return kept[1]

    def as_known(self, than_s: float) -> Found | None:
        """As `not_older`, but while the database is away what was read last, None where nothing was."""
        try:
            return self.not_older(than_s)
        except DatabaseError:
            if self.kept is None:
                return None
            # Not every reader has to wait until it is back.
            self.kept = (time.monotonic(), self.kept[1])
            return self.kept[1]

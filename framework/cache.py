"""A value that a process reads once and reuses for a while.

Values by key stand in `cachetools.TTLCache`. This is for the single value that must survive an outage of the database.
"""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from django.db import Error as DatabaseError

Value = TypeVar("Value")


class CachedValue(Generic[Value]):
    """The result of `load`, loaded again when it is too old. Of two concurrent loads the last one is stored."""

    def __init__(self, load: Callable[[], Value]) -> None:
        self.load = load
        self._entry: tuple[float, Value] | None = None

    def get(self, *, max_age_s: float) -> Value:
        """Return the value, at most this old. Raises what `load` raises."""
        entry, now = self._entry, time.monotonic()
        if entry is None or now - entry[0] >= max_age_s:
            entry = self._entry = (now, self.load())
        return entry[1]

    def get_or_stale(self, *, max_age_s: float) -> Value | None:
        """Return the value as `get` does, or the last one while the database is away; None if there is none."""
        try:
            return self.get(max_age_s=max_age_s)
        except DatabaseError:
            if self._entry is None:
                return None
            # The next callers reuse it too, instead of each waiting for the database.
            self._entry = (time.monotonic(), self._entry[1])
            return self._entry[1]

    def clear(self) -> None:
        self._entry = None

"""API keys cached in this process, so that most calls look up no key.

A key that was found is valid in the cache for half a minute, with its venue. Each change of a key or a venue raises
the number of KeyChange in the same transaction. The cache reads that number at most twice a second and drops all keys
when it differs, so every process refuses a revoked key within a second.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from cachetools import TTLCache
from django.db import DatabaseError
from django.db.models import Model

from accounts.models import ApiKey, KeyChange, digest, looks_like_a_key
from accounts.models.api_keys import MINUTE
from framework.django_internals import copy_row

Row = TypeVar("Row", bound=Model)

logger = logging.getLogger("tablewire.api")

TTL_S = 30.0
CHANGE_CHECK_INTERVAL_S = 0.5
MAX_KEYS = 10_000


@dataclass(slots=True)
class CachedKey:
    """A key as it was read, and when its last use was stored."""

    key: ApiKey
    used_at: datetime | None


class ApiKeyCache:
    """The keys that this process has looked up within TTL_S, by their digest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Drop all keys."""
        with self._lock:
            self.keys: TTLCache[bytes, CachedKey] = TTLCache(MAX_KEYS, TTL_S, timer=lambda: time.monotonic())
            self.changes = -1
            self.next_check_at = 0.0

    def find(self, text: str) -> ApiKey | None:
        """Return the key that was issued as this text, with its venue, or None. It may have ended.

        At most one query: of the key where it is not cached, else of KeyChange at most every half second. Raises the
        database's errors: a key that cannot be checked is not accepted. The caller may change the returned rows.
        """
        key = self.look(text)
        return copied(key) if key is not None else None

    def look(self, text: str) -> ApiKey | None:
        """As `find`, but the row is shared by all threads and read-only: a copy costs as much as the look-up."""
        name = digest(text)
        now = time.monotonic()
        cached = self._get(name)
        if cached is not None and now >= self.next_check_at:
            self.note_changes(KeyChange.objects.values_list("number", flat=True).first() or 0, now)
            cached = self._get(name)
        return cached.key if cached is not None else self._fetch(text, name, now)

    def _get(self, name: bytes) -> CachedKey | None:
        with self._lock:
            return self.keys.get(name)

    def _fetch(self, text: str, name: bytes, now: float) -> ApiKey | None:
        """Read the key, unless its text cannot be one of ours, and cache it if there is one.

        The number of changes is read in the same statement, so in the same snapshot. Read after the key, it could
        count a change that the key does not show yet, and the old key would stay in the cache for half a minute.
        """
        key = ApiKey.objects.of_text(text).stamped().first() if looks_like_a_key(text) else None
        if key is None:
            return None
        changes: int = key.changes  # type: ignore[attr-defined]
        self.note_changes(changes, now)
        with self._lock:
            if self.changes == changes:
                self.keys[name] = CachedKey(key, key.last_used_at)
        return key

    def note_changes(self, changes: int, now: float) -> None:
        """Take this for the number of changes at `now`, and drop all keys if it is another one."""
        with self._lock:
            if changes != self.changes:
                self.keys.clear()
                self.changes = changes
            self.next_check_at = now + CHANGE_CHECK_INTERVAL_S

    def used(self, key: ApiKey, *, now: datetime, address: Callable[[], str | None]) -> None:
        """Store the last use of the key, at most once a minute. Never fails for a database that takes no writes."""
        with self._lock:
            cached = self.keys.get(bytes(key.digest))
            used_at = cached.used_at if cached is not None else key.last_used_at
            if used_at is not None and now - used_at < MINUTE:
                return
            if cached is not None:
                cached.used_at = now
        try:
            key.used(now=now, address=address())
        except DatabaseError:
            logger.warning("the last use of the key %s was not stored", key.shown, exc_info=True)


def copied(key: ApiKey) -> ApiKey:
    """Copies of the key and its venue: requests run in threads, and each may change what it is given."""
    twin = copy_row(key)
    twin.venue = copy_row(key.venue)
    return twin


api_key_cache = ApiKeyCache()

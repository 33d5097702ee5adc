"""A cache of API keys in each process, so that most calls need no query.

A key stays in the cache for TTL_S, with its venue. Each change of a key or a venue increments ApiKeyChangeCounter in
the same transaction. The cache reads that number at most twice a second and drops all keys when it differs, so every
process rejects a revoked key within a second.
"""

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime

from cachetools import TTLCache
from django.db import DatabaseError

from accounts.models import ApiKey
from accounts.models.api_keys import MINUTE, ApiKeyChangeCounter, digest, is_api_key
from framework.django_internals import copy_row

logger = logging.getLogger("tablewire.api")

TTL_S = 30.0
CHANGE_CHECK_INTERVAL_S = 0.5
MAX_KEYS = 10_000


class ApiKeyCache:
    """The keys that this process has read within TTL_S, by their digest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Drop all keys."""
        with self._lock:
            self.keys: TTLCache[bytes, ApiKey] = TTLCache(MAX_KEYS, TTL_S, timer=lambda: time.monotonic())
            self.changes = -1
            self.next_check_at = 0.0

    def find(self, text: str) -> ApiKey | None:
        """Return the key with this text and its venue, or None. The key may be inactive.

        At most one query: for the key if it is not cached, otherwise for the change counter every half second. Raises
        the database's errors: a key that cannot be checked is not accepted. The caller may change the returned rows:
        they are copies, because requests run in threads.
        """
        key = self.find_shared(text)
        if key is None:
            return None
        copy = copy_row(key)
        copy.venue = copy_row(key.venue)
        return copy

    def find_shared(self, text: str) -> ApiKey | None:
        """As `find`, but the row is shared by all threads and read-only: a copy costs as much as the look-up."""
        key_digest = digest(text)
        now = time.monotonic()
        cached = self._get(key_digest)
        if cached is not None and now >= self.next_check_at:
            changes = ApiKeyChangeCounter.objects.values_list("number", flat=True).first() or 0
            self.apply_change_number(changes, now)
            cached = self._get(key_digest)
        return cached or self._fetch(text, key_digest, now)

    def _get(self, key_digest: bytes) -> ApiKey | None:
        with self._lock:
            return self.keys.get(key_digest)

    def _fetch(self, text: str, key_digest: bytes, now: float) -> ApiKey | None:
        """Read the key, unless its text is malformed, and cache it if it exists.

        The change number is read in the same statement, so in the same snapshot. Read after the key, it could include
        a change that the key does not show yet, and the old key would stay in the cache for TTL_S.
        """
        key = ApiKey.objects.with_text(text).with_change_number().first() if is_api_key(text) else None
        if key is None:
            return None
        changes: int = key.changes  # type: ignore[attr-defined]
        self.apply_change_number(changes, now)
        with self._lock:
            if self.changes == changes:
                self.keys[key_digest] = key
        return key

    def apply_change_number(self, changes: int, now: float) -> None:
        """Drop all keys if the change number differs from the known one."""
        with self._lock:
            if changes != self.changes:
                self.keys.clear()
                self.changes = changes
            self.next_check_at = now + CHANGE_CHECK_INTERVAL_S

    def record_use(self, key: ApiKey, *, now: datetime, address: Callable[[], str | None]) -> None:
        """Store the last use of the key, at most once a minute. Does not fail while the database is read-only."""
        with self._lock:
            cached = self.keys.get(bytes(key.digest), key)
            if cached.last_used_at is not None and now - cached.last_used_at < MINUTE:
                return
            cached.last_used_at = now
        try:
            key.record_use(now=now, address=address())
        except DatabaseError:
            logger.warning("the last use of the key %s was not stored", key.masked, exc_info=True)


api_key_cache = ApiKeyCache()

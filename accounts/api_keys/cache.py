"""What a process remembers of API keys, so that most calls cost no look-up, and when it forgets.

A key that was found is believed for half a minute, with its venue. Each change of a key or a venue raises the number
of KeyChange in the same transaction; the ring looks at that number before it believes anything, at most twice a
second, and forgets everything when it differs. So what is revoked is refused by every process within a second.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.db import DatabaseError
from django.db.models import Model

from accounts.models import ApiKey, KeyChange, digest, looks_like_a_key
from accounts.models.api_keys import MINUTE
from framework.django_internals import copy_row

Row = TypeVar("Row", bound=Model)

logger = logging.getLogger("tablewire.api")

REMEMBERED_S = 30.0
LOOKS_AGAIN_S = 0.5
MOST = 10_000


@dataclass(slots=True)
class Remembered:
    """A key as it was read, until when (time.monotonic) it is believed, and when its use was last written down."""

    key: ApiKey
    until: float
    used_at: datetime | None


class Keyring:
    """The keys that this process has seen of late; its threads read it without a lock and write it with one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            self.kept: dict[bytes, Remembered] = {}
            self.changes = -1
            self.looks_again_at = 0.0

    def find(self, text: str) -> ApiKey | None:
        """The key that was issued as this text, with its venue, or None. It may have ended.

        At most one query: of the key where it is not remembered, else of KeyChange where that was not looked at for
        half a second. Raises the database's errors: what cannot be checked lets nobody in. The key and its venue are
        the caller's own, to be changed at will.
        """
        key = self.look(text)
        return copied(key) if key is not None else None

    def look(self, text: str) -> ApiKey | None:
        """As `find`, but the key is that of all threads and only to be read: a copy costs as much as the search."""
        name = digest(text)
        now = time.monotonic()
        kept = self.kept.get(name)
        if kept is not None and kept.until > now:
            self.look_again(now)
            kept = self.kept.get(name)
        if kept is None or kept.until <= now:
            kept = self.fetch(text, name, now)
        return kept.key if kept is not None else None

    def look_again(self, now: float) -> None:
        """Forget everything if a key or a venue has changed; one query where the last is half a second old."""
        if now < self.looks_again_at:
            return
        self.believe(KeyChange.objects.values_list("number", flat=True).first() or 0, now)

    def fetch(self, text: str, name: bytes, now: float) -> Remembered | None:
        """Read the key, unless it cannot be one of ours, and remember it if there is one.

        The number of changes is read in the same statement, so in the same snapshot. Read after the key, it could
        count a change that the key does not show yet, and the old key would be believed for half a minute.
        """
        key = ApiKey.objects.of_text(text).stamped().first() if looks_like_a_key(text) else None
        if key is None:
            return None
        changes: int = key.changes  # type: ignore[attr-defined]
        self.believe(changes, now)
        kept = Remembered(key, now + REMEMBERED_S, key.last_used_at)
        with self.lock:
            if self.changes == changes:
                self.kept.pop(name, None)
                while len(self.kept) >= MOST:
                    self.kept.pop(next(iter(self.kept)))
                self.kept[name] = kept
        return kept

    def believe(self, changes: int, now: float) -> None:
        """Take this for the number of changes, as it was asked for at `now`."""
        with self.lock:
            if changes != self.changes:
                self.kept = {}
                self.changes = changes
            self.looks_again_at = now + LOOKS_AGAIN_S

    def used(self, key: ApiKey, *, now: datetime, address: Callable[[], str | None]) -> None:
        """Have the last use of the key written down, once a minute at most; other calls cost nothing.

        A database that takes no writes just then costs the caller nothing either.
        """
        kept = self.kept.get(bytes(key.digest))
        with self.lock:
            used_at = kept.used_at if kept is not None else key.last_used_at
            if used_at is not None and now - used_at < MINUTE:
                return
            if kept is not None:
                kept.used_at = now
        try:
            key.used(now=now, address=address())
        except DatabaseError:
            logger.warning("the last use of the key %s was not written down", key.shown, exc_info=True)


def copied(key: ApiKey) -> ApiKey:
    """The key and its venue again: requests run in threads, and each may change what it is given."""
    twin = copy_row(key)
    twin.venue = copy_row(key.venue)
    return twin


ring = Keyring()

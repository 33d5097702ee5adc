"""Advisory locks of PostgreSQL, each with a name.

A lock is one number of 64 bits, derived from its name and a key. Every name is declared once, as a constant beside the
code that takes the lock:

    FEED_LOCK = AdvisoryLock("version feed")

`AdvisoryLock` keeps the registry of all names and refuses one that is declared twice.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

from django.db import InterfaceError, OperationalError, connection
from django.db.transaction import TransactionManagementError

_names: set[str] = set()


class AdvisoryLock:
    """A named lock; with a `key` (a wallet, a market), each key is a lock of its own."""

    def __init__(self, name: str) -> None:
        if name in _names:
            raise ValueError(f"The advisory lock {name!r} is declared twice.")
        _names.add(name)
        self.name = name

    def number(self, key: object = "") -> int:
        """The argument of PostgreSQL's functions, for callers with a connection of their own."""
        return int.from_bytes(sha256(f"{self.name}\0{key}".encode()).digest()[:8], signed=True)

    def acquire(self, key: object = "", *, shared: bool = False) -> None:
        """Wait for the lock, up to `lock_timeout`, and hold it until the transaction ends. One query.

        Raises OperationalError on a timeout, TransactionManagementError outside of a transaction.
        """
        self._call("pg_advisory_xact_lock", key, shared=shared)

    def try_acquire(self, key: object = "", *, shared: bool = False) -> bool:
        """Hold the lock until the transaction ends, if it is free; whether it was. One query.

        Raises TransactionManagementError outside of a transaction.
        """
        return bool(self._call("pg_try_advisory_xact_lock", key, shared=shared))

    @contextmanager
    def session(self, key: object = "", *, shared: bool = False, retry_every_s: float | None = None) -> Iterator[bool]:
        """Hold the lock for the block, across transactions, if it is free; yields whether it was.

        With `retry_every_s` it is tried again until it is free: waiting inside PostgreSQL would end by
        `statement_timeout`. The end of the connection ends the lock too. Not for connections through PgBouncer.
        """
        while not (is_mine := bool(self._call("pg_try_advisory_lock", key, shared=shared))):
            if retry_every_s is None:
                break
            time.sleep(retry_every_s)
        try:
            yield is_mine
        finally:
            if is_mine:
                with suppress(OperationalError, InterfaceError):
                    self._call("pg_advisory_unlock", key, shared=shared)

    def _call(self, function: str, key: object, *, shared: bool) -> object:
        if "_xact_" in function and not connection.in_atomic_block:
            raise TransactionManagementError(f"The advisory lock {self.name!r} needs a transaction.")
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}{'_shared' if shared else ''}(%s)", [self.number(key)])
            return cursor.fetchone()[0]

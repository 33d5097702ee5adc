"""The cache backend of the rate limits: counts in Valkey, one round trip per request."""

import os
import threading
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

import redis
from django.core.cache.backends.base import BaseCache
from hiredis import pack_command
from redis.backoff import NoBackoff
from redis.retry import Retry

from framework.resilience.circuit_breaker import CircuitBreaker

TIMEOUT_S = 0.1
# By address: Django gives each thread its own cache, and all threads share the breaker.
breakers: defaultdict[str, CircuitBreaker] = defaultdict(
    partial(CircuitBreaker, "the rate-limit store", fallback="each process counts for itself")
)


class LastCount(threading.local):
    """What `add` counted last in this thread, and under which key; None while Valkey is unavailable.

    `decrement` needs the key. At module level, because finding a thread's cache costs as much as counting.
    """

    name: str | None = None
    count: int | None = None


last_count = LastCount()
# Decrements only a live, positive count: a new key would never expire, and a negative count would be extra calls.
DECREMENT_SCRIPT = "if tonumber(redis.call('get', KEYS[1]) or '0') > 0 then redis.call('decr', KEYS[1]) end"


class ValkeyCounterCache(BaseCache):
    """The two calls by which django-ratelimit counts, `add` and then `incr`, in one round trip.

    `add` sets and increments at once and remembers the count for the `incr` that follows in the same thread. While
    Valkey is unavailable both raise ValueError, which django-ratelimit treats as "no count available".
    """

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self.store = redis.Redis.from_url(
            location,
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
            # The client's own retries would stretch 0.1 s to several seconds.
            retry=Retry(NoBackoff(), 0),
        )
        self.breaker = breakers[location]
        self.local = threading.local()

    def add(self, key: str, value: Any, timeout: Any = None, version: int | None = None) -> bool:
        """Add `value` to the count, which expires `timeout` seconds after its first call; True for the first.

        The key is a hash made by django-ratelimit, so it is not validated.
        """
        name = self.make_key(key, version)
        last_count.name = last_count.count = None
        if not self.breaker.allow_request():
            return False
        try:
            count = self._increment(name, int(value), expires_s=int(timeout))
        except redis.RedisError as error:
            self.breaker.record_failure(error)
            return False
        self.breaker.record_success()
        last_count.name, last_count.count = name, count
        return count == int(value)

    def _increment(self, name: str, amount: int, *, expires_s: int) -> int:
        """Return the count after adding `amount`. Raises RedisError.

        Uses a connection of this thread: half the cost of a pool with its pipeline.
        """
        create: tuple[Any, ...] = ("SET", name, 0, "NX", "EX", expires_s)
        increment: tuple[Any, ...] = ("INCRBY", name, amount)
        commands = pack_command(create) + pack_command(increment)
        connection: Any = getattr(self.local, "connection", None)
        if connection is None or connection.pid != os.getpid():
            connection = self.local.connection = self.store.connection_pool.make_connection()
        try:
            return self._send(connection, commands)
        except redis.ConnectionError:
            # The server may have restarted. At worst this call is counted twice.
            return self._send(connection, commands)

    def _send(self, connection: Any, commands: bytes) -> int:
        """Return the reply to the second of two commands. Raises RedisError."""
        try:
            connection.send_packed_command([commands], check_health=False)
            connection.read_response()
            return int(connection.read_response())
        except redis.RedisError:
            # An unread reply would be taken for the next one.
            connection.disconnect()
            raise

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """The count that `add` in this thread has just made. Raises ValueError while Valkey is unavailable."""
        if last_count.count is None:
            raise ValueError("the rate-limit store is unavailable")
        return last_count.count

    def get_counts(self, keys: Sequence[str]) -> list[int] | None:
        """The counts of these keys, without counting; None while Valkey is unavailable. One round trip."""
        if not keys or not self.breaker.allow_request():
            return None if keys else []
        try:
            counts = self.store.mget([self.make_and_validate_key(key) for key in keys])
        except redis.RedisError as error:
            self.breaker.record_failure(error)
            return None
        self.breaker.record_success()
        return [int(count or 0) for count in counts]

    def decrement(self, name: str) -> None:
        """Count one call less under this key, if the count still exists."""
        if not self.breaker.allow_request():
            return
        try:
            self.store.eval(DECREMENT_SCRIPT, 1, name)
        except redis.RedisError as error:
            self.breaker.record_failure(error)
        else:
            self.breaker.record_success()

    def clear(self) -> None:
        names = list(self.store.scan_iter(match=self.make_key("*"), count=1000))
        if names:
            self.store.delete(*names)

"""The cache behind the rate limit: counts in Valkey, one round trip a request."""

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


# By address: Django gives each thread a cache of its own, and all threads share the breaker.
breakers: defaultdict[str, CircuitBreaker] = defaultdict(
    partial(CircuitBreaker, "the rate-limit store", fallback="each process counts for itself")
)


class LastCount(threading.local):
    """What `add` in this thread has just counted, and under which name; None while the store is away.

    The name is for `undo_count`. Of the module, as to find the cache of a thread costs as much as to count.
    """

    name: str | None = None
    count: int | None = None


last_count = LastCount()


# One less, of a count that lives: what is made anew would have no end, and what is below zero would be a gift.
DECREMENT_SCRIPT = "if tonumber(redis.call('get', KEYS[1]) or '0') > 0 then redis.call('decr', KEYS[1]) end"


class ValkeyCounterCache(BaseCache):
    """The two calls by which django-ratelimit counts, `add` and then `incr`, answered by one round trip.

    `add` sets and increments at once and remembers the count for the `incr` that follows in the same thread. While the
    store is away both raise ValueError, which django-ratelimit takes for "no count to be had".
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
        self.lines = threading.local()

    def add(self, key: str, value: Any, timeout: Any = None, version: int | None = None) -> bool:
        """Count `value` more under the key, which lives `timeout` seconds from its first count; true on the first.

        The key is a hash (django-ratelimit): it is not looked at letter by letter for what memcached would not take.
        """
        name = self.make_key(key, version)
        last_count.name = None
        if not self.breaker.allow_request():
            last_count.count = None
            return False
        try:
            count = self.counting(name, int(value), lasts_s=int(timeout))
        except redis.RedisError as error:
            self.breaker.record_failure(error)
            last_count.count = None
            return False
        self.breaker.record_success()
        last_count.name, last_count.count = name, count
        return count == int(value)

    def counting(self, name: str, more: int, *, lasts_s: int) -> int:
        """The count after `more`. Raises RedisError.

        On a connection of this thread alone: half of what a pool and its pipeline cost.
        """
        held: tuple[Any, ...] = ("SET", name, 0, "NX", "EX", lasts_s)
        raised: tuple[Any, ...] = ("INCRBY", name, more)
        asked = pack_command(held) + pack_command(raised)
        line: Any = getattr(self.lines, "line", None)
        if line is None or line.pid != os.getpid():
            line = self.lines.line = self.store.connection_pool.make_connection()
        try:
            return self.asked(line, asked)
        except redis.ConnectionError:
            # The server was started anew since; what it had not answered yet is counted once more at worst.
            return self.asked(line, asked)

    def asked(self, line: Any, commands: bytes) -> int:
        """The answer to the second of two commands. Raises RedisError."""
        try:
            line.send_packed_command([commands], check_health=False)
            line.read_response()
            return int(line.read_response())
        except redis.RedisError:
            # An answer that nobody has read would be taken for the next one.
            line.disconnect()
            raise

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """The count that `add` in this thread has just made. Raises ValueError while the store is away."""
        if last_count.count is None:
            raise ValueError("the counters are away")
        return last_count.count

    def counts(self, keys: Sequence[str]) -> list[int] | None:
        """How far these have been counted, counting nothing; None while the store is away. One round trip."""
        if not keys or not self.breaker.allow_request():
            return None if keys else []
        try:
            found = self.store.mget([self.make_and_validate_key(key) for key in keys])
        except redis.RedisError as error:
            self.breaker.record_failure(error)
            return None
        self.breaker.record_success()
        return [int(count or 0) for count in found]

    def undo_count(self, name: str) -> None:
        """Count one less under this name. A count whose time is over, or that the store has lost, stays as it is."""
        if not self.breaker.allow_request():
            return
        try:
            self.store.eval(DECREMENT_SCRIPT, 1, name)
        except redis.RedisError as error:
            self.breaker.record_failure(error)
        else:
            self.breaker.record_success()

    def clear(self) -> None:
        """Forget all counts; what others keep in the same store stays."""
        names = list(self.store.scan_iter(match=self.make_key("*"), count=1000))
        if names:
            self.store.delete(*names)

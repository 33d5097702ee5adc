"""The cache behind the rate limit: counts in Valkey, one round trip a request."""

import logging
import threading
import time
from collections import defaultdict
from typing import Any

import redis
from django.core.cache.backends.base import BaseCache
from redis.backoff import NoBackoff
from redis.retry import Retry

logger = logging.getLogger("tablewire.api")

TIMEOUT_S = 0.1
# After a failure the store is left alone for this long, so a frozen one costs one caller a second its 0.1 s.
REST_S = 1.0


class Outage:
    """Whether the store of one address is away, known to all threads of this process: one of them finds out for all.

    Django gives each thread a cache of its own; if each found out for itself, all would wait, one after the other.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.began_at: float | None = None
        self.rests_until = 0.0

    def may_ask(self) -> bool:
        """Whether this caller is to ask the store: always while it is there, one caller a second while it is not."""
        if self.began_at is None:
            return True
        with self.lock:
            now = time.monotonic()
            if now < self.rests_until:
                return False
            self.rests_until = now + REST_S
            return True

    def begins(self, error: Exception) -> None:
        """The store has failed."""
        with self.lock:
            now = time.monotonic()
            self.rests_until = now + REST_S
            if self.began_at is None:
                self.began_at = now
                logger.warning("the counters are away, each process counts for itself: %s", error)

    def ends(self) -> None:
        """The store has answered."""
        if self.began_at is None:
            return
        with self.lock:
            began_at, self.began_at = self.began_at, None
            if began_at is not None:
                logger.warning("the counters are back after %.1f s", time.monotonic() - began_at)


outages: defaultdict[str, Outage] = defaultdict(Outage)


class CounterCache(BaseCache):
    """The two calls by which django-ratelimit counts, `add` and then `incr`, answered by one pipeline.

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
        self.outage = outages[location]
        self.remembered = threading.local()

    def add(self, key: str, value: Any, timeout: Any = None, version: int | None = None) -> bool:
        """Count `value` more under the key, which lives `timeout` seconds from its first count; true on the first."""
        name = self.make_and_validate_key(key, version)
        if not self.outage.may_ask():
            self.remembered.count = None
            return False
        try:
            with self.store.pipeline(transaction=False) as pipe:
                pipe.set(name, 0, nx=True, ex=int(timeout))
                pipe.incrby(name, value)
                count = int(pipe.execute()[1])
        except redis.RedisError as error:
            self.outage.begins(error)
            self.remembered.count = None
            return False
        self.outage.ends()
        self.remembered.count = count
        return count == int(value)

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """The count that `add` in this thread has just made. Raises ValueError while the store is away."""
        count: int | None = self.remembered.count
        if count is None:
            raise ValueError("the counters are away")
        return count

    def clear(self) -> None:
        """Forget all counts; what others keep in the same store stays."""
        names = list(self.store.scan_iter(match=self.make_key("*"), count=1000))
        if names:
            self.store.delete(*names)

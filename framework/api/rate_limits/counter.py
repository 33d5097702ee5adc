"""Counts within fixed windows: in Valkey for all processes, or in this process while Valkey is unavailable."""

import hashlib
import time
from dataclasses import dataclass

from django_ratelimit.core import get_usage

from framework.api.rate_limits.local_fallback import local_counter
from framework.api.rate_limits.valkey_backend import last_count


@dataclass(frozen=True, slots=True)
class Count:
    """The count of a bucket. `ends_at`, the end of its window, and `now` are Unix seconds.

    `cache_key` names the count in Valkey; None if this process counted.
    """

    count: int
    ends_at: int
    now: int
    cache_key: str | None = None


def count(policy: str, bucket: str, *, window_s: int) -> Count:
    """Count one more under this policy. `bucket` has a fixed width: names are joined without a separator."""
    usage = get_usage(
        None,
        group=f"{policy}:",
        key=lambda _group, _request: bucket,
        # django-ratelimit counts each limit separately. Callers compare with theirs, so that several share a count.
        rate=(1, window_s),
        increment=True,
    )
    now = int(time.time())
    if usage["limit"]:
        # django-ratelimit counts the second in which a window ends to that window.
        return Count(usage["count"], now + max(usage["time_left"], 0) + 1, now, last_count.name)
    number, ends_at = local_counter.count(f"{policy}:{bucket}", window_s, now)
    return Count(number, ends_at, now)


def hash_bucket(value: str) -> str:
    """A bucket of fixed width that does not reveal the value."""
    return hashlib.sha256(value.encode()).hexdigest()[:32]

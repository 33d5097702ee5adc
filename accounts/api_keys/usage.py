"""Rate limit usage of key families, read from the counters without incrementing them."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from accounts.api_keys.rate_limit import HOUR_S, ManagementRateLimitMiddleware
from accounts.models import ApiKey
from framework.api.rate_limits.middleware import counter_cache
from framework.ratelimit_internals import counter_key


@dataclass(frozen=True, slots=True)
class FamilyUsage:
    """The calls of a key family in the hour that ends at `until`; None while the counters are unavailable."""

    name: str
    calls: int | None
    allowance: int
    until: datetime

    @property
    def is_scarce(self) -> bool:
        """Whether at most a tenth of the allowance is left."""
        return self.calls is not None and self.calls * 10 >= self.allowance * 9


def get_family_usage(keys: Iterable[ApiKey]) -> Mapping[UUID, FamilyUsage]:
    """Return the usage of the families of these keys; name and allowance are of the first key of each family.

    One round trip to the counters, no query.
    """
    first: dict[UUID, ApiKey] = {}
    for key in keys:
        first.setdefault(key.family, key)
    group = f"{ManagementRateLimitMiddleware.policy}:"
    counters = [counter_key(group=group, value=family.hex, period_s=HOUR_S) for family in first]
    counts = counter_cache().get_counts([key for key, _ in counters])
    return {
        family: FamilyUsage(
            name=key.name,
            calls=None if counts is None else counts[index],
            allowance=key.allowance,
            # The counters include the second in which a window ends.
            until=datetime.fromtimestamp(max(window, int(time.time())) + 1, UTC),
        )
        for index, ((family, key), (_, window)) in enumerate(zip(first.items(), counters, strict=True))
    }

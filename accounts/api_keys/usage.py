"""How much of its hourly allowance a family of keys has used, read where the doorway counts and counting nothing."""

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
    """The calls of a family of keys in its hour, which ends at `until`; `calls` is None while nobody knows."""

    name: str
    calls: int | None
    allowance: int
    until: datetime

    @property
    def shown(self) -> int:
        """The calls as far as a bar reaches."""
        return min(self.calls or 0, self.allowance)

    @property
    def is_scarce(self) -> bool:
        """Whether less than a tenth is left."""
        return self.calls is not None and self.calls * 10 >= self.allowance * 9


def of_families(keys: Iterable[ApiKey]) -> Mapping[UUID, FamilyUsage]:
    """What the families of these keys have used of their hour; of a family the first key gives name and allowance.

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
            calls=None if counts is None else counts[place],
            allowance=key.allowance,
            # The second in which the counters see a window end still belongs to it.
            until=datetime.fromtimestamp(max(window, int(time.time())) + 1, UTC),
        )
        for place, ((family, key), (_, window)) in enumerate(zip(first.items(), counters, strict=True))
    }

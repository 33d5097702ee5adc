"""How much of its hourly allowance a family of keys has used, read where the doorway counts and counting nothing."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django_ratelimit.core import ALL, _get_window, _make_cache_key

from accounts.api_keys.rate_limit import HOUR_S, ManagementDoorway
from accounts.models import ApiKey
from framework.api.rate_limits.middleware import store


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
    windows = {family: _get_window(family.hex, HOUR_S) for family in first}
    group = f"{ManagementDoorway.policy}:"
    names = [_make_cache_key(group, windows[family], (1, HOUR_S), family.hex, ALL) for family in first]
    counts = store().counts(names)
    return {
        family: FamilyUsage(
            name=key.name,
            calls=None if counts is None else counts[place],
            allowance=key.allowance,
            # The second in which the counters see a window end still belongs to it.
            until=datetime.fromtimestamp(max(windows[family], int(time.time())) + 1, UTC),
        )
        for place, (family, key) in enumerate(first.items())
    }

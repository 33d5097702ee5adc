"""A cached value, and what stays of it while the database is away."""

import pytest
from django.db import OperationalError

from framework.cache import CachedValue


def test_cached_value_is_reloaded_when_too_old_and_served_stale_while_the_database_is_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr("framework.cache.time.monotonic", lambda: now[0])
    loads: list[int | Exception] = [1, 2, OperationalError("away"), OperationalError("away"), 3]

    def load() -> int:
        result = loads.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    cached = CachedValue(load)
    assert [cached.get(max_age_s=60), cached.get(max_age_s=60)] == [1, 1]
    now[0] += 60
    assert cached.get(max_age_s=60) == 2
    now[0] += 60
    with pytest.raises(OperationalError):
        cached.get(max_age_s=60)
    # The stale value is reused for another minute without a new attempt.
    assert [cached.get_or_stale(max_age_s=60), cached.get_or_stale(max_age_s=60)] == [2, 2]
    now[0] += 60
    assert cached.get_or_stale(max_age_s=60) == 3


def test_without_a_value_there_is_none_while_the_database_is_away() -> None:
    def load() -> int:
        raise OperationalError("away")

    assert CachedValue(load).get_or_stale(max_age_s=60) is None

"""Private names of django-ratelimit, by which a count is read without counting.

tests/framework/test_ratelimit_internals.py fails when a new version changes them.
"""

from django_ratelimit.core import ALL, _get_window, _make_cache_key


def counter_key(*, group: str, value: str, period_s: int) -> tuple[str, int]:
    """The cache key of the count of `value`, and the Unix time at which its window ends."""
    window = _get_window(value, period_s)
    return _make_cache_key(group, window, (1, period_s), value, ALL), window

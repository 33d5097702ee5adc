"""`@pytest.mark.sample(n)`: of a test's many cases the default run takes n, and CI's second run the others.

Of a matrix (each role and page, each parameter and bad value), a few cases fail when its promise is broken. The sample
is spread evenly over the cases in the order of their definition, and is the same in every run.
"""

from collections import defaultdict

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark cases outside of the sample with `exhaustive`, before `-m` is applied, and deep cases with that alone."""
    tests = defaultdict(list)
    for item in items:
        if item.get_closest_marker("deep"):
            # A case that takes minutes of an exhaustive test.
            item.own_markers = [mark for mark in item.own_markers if mark.name != "exhaustive"]
        if isinstance(item, pytest.Function) and item.get_closest_marker("sample"):
            tests[item.nodeid.partition("[")[0]].append(item)
    for cases in tests.values():
        (size,) = cases[0].get_closest_marker("sample").args  # type: ignore[union-attr]
        # pytest-randomly may have shuffled them.
        cases.sort(key=lambda item: [*item.callspec.indices.values()])
        chosen = {number * (len(cases) - 1) // max(size - 1, 1) for number in range(size)}
        for number, item in enumerate(cases):
            if number not in chosen:
                item.add_marker("exhaustive")

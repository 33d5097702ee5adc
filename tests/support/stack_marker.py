"""Only tests with the marker `stack` start the product or its servers: all others stay fast."""

import pytest

SLOW_MARKERS = ("stack", "outside", "chaos", "deep", "cluster")
_current: list[pytest.Item] = []


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember which test runs, also while it sets up a fixture that others share."""
    _current[:] = [item]


def require_stack_marker() -> None:
    """Fail the running test, if there is one, unless it has a marker that excludes it from the default run."""
    assert not _current or any(_current[0].get_closest_marker(name) for name in SLOW_MARKERS), (
        "A test that starts the product is marked with @pytest.mark.stack."
    )

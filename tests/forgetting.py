"""What a process remembers of the database for a moment must not reach the next test, whose database is another."""

import pytest

from payments import callers, prices


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    """Forget callers and prices."""
    callers.remembered.kept = {}
    prices.remembered.kept = None

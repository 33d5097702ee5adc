"""What a process remembers for a moment must not reach the next test, whose database and servers are others."""

import pytest

from payments import callers, facilitator, prices, rpc


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    """Forget callers, prices and how servers did: another may listen at the same port by now."""
    callers.remembered.kept = {}
    prices.remembered.kept = None
    rpc.breakers.clear()
    facilitator.healths.clear()

"""What a process remembers for a moment must not reach the next test, whose database and servers are others."""

import pytest

from payments.chain import rpc
from payments.identity import caller
from payments.pricing import price_list
from payments.x402 import facilitator_client


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    """Forget callers, prices and how servers did: another may listen at the same port by now."""
    caller.remembered.kept = {}
    price_list.remembered.kept = None
    rpc.breakers.clear()
    facilitator_client.healths.clear()

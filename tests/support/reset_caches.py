"""What a process remembers for a moment must not reach the next test, whose database and servers are others."""

import pytest

from payments.chain import rpc
from payments.identity import caller
from payments.pricing import price_list
from payments.x402 import facilitator_client


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    """Clear callers, prices and circuit breakers: another server may listen at the same port by now."""
    caller.cached_callers.clear()
    price_list.cached_price_rows.clear()
    rpc.breakers.clear()
    facilitator_client.breakers.clear()

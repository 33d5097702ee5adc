"""Clears what a process remembers between requests: the next test has another database and other servers.

A hook and not fixtures: each fixture that every test uses takes as long as a third of a small test.
"""

from collections.abc import Iterator

import pytest
import redis
from django.core.cache import caches

from accounts.api_keys.cache import api_key_cache
from accounts.request_log.writer import request_log
from framework.api.rate_limits import valkey_backend
from framework.api.rate_limits.local_fallback import local_counter
from payments.chain import rpc
from payments.identity import caller
from payments.ledger import receivers
from payments.pricing import price_list
from payments.x402 import facilitator_client
from tests.support.live_stack import eventually

# Caches that are read again on each use: what a test writes is visible immediately.
READ_EACH_TIME = (
    "accounts.api_keys.cache.CHANGE_CHECK_INTERVAL_S",
    "catalogue.search.text.vocabulary.MAX_AGE_S",
    "catalogue.search.text.spell_correction.MAX_AGE_S",
    "catalogue.attribution.MAX_AGE_S",
)


@pytest.fixture(scope="session", autouse=True)
def _caches_are_read_each_time() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in READ_EACH_TIME:
            patch.setattr(name, 0.0)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Clear rate limits, API keys, the request log, callers, prices and circuit breakers."""
    for breakers in (valkey_backend.breakers, rpc.breakers, facilitator_client.breakers):
        breakers.clear()
    assert eventually(_rate_limits_are_cleared)
    local_counter.windows.clear()
    api_key_cache.clear()
    request_log.reset()
    caller.cached_callers.clear()
    price_list.cached_price_rows.clear()
    receivers.cached_receivers.clear()
    receivers.remember.cache_clear()
    # Amounts of quotes.
    caches["default"].clear()


def _rate_limits_are_cleared() -> bool:
    """Whether Valkey has deleted its counters: on a busy machine it may take longer than a call waits for it."""
    try:
        caches["limits"].clear()
    except redis.TimeoutError:
        return False
    return True

"""Worlds and actors that all tests share."""

from collections.abc import Iterator

import pytest
import redis
from django.conf import settings
from django.core.cache import caches
from django.db.models import Sum
from django.test import Client

from accounts.api_keys.cache import api_key_cache
from accounts.models import Account, Venue
from accounts.request_log.writer import request_log
from framework.api.rate_limits.local_fallback import local_counter
from framework.api.rate_limits.valkey_backend import breakers
from payments.models import Payment
from payments.pricing import default_products
from tests.support import builders
from tests.support.live_stack import eventually
from tests.support.wallets import usdc_balance


@pytest.fixture(autouse=True)
def _fresh_counts() -> None:
    """No test pays for the calls of another."""
    breakers.clear()
    assert eventually(_cleared)
    local_counter.windows.clear()


def _cleared() -> bool:
    """Whether the counts are gone: on a busy machine the store may take longer than a call waits for it."""
    try:
        caches["limits"].clear()
    except redis.TimeoutError:
        return False
    return True


@pytest.fixture(autouse=True)
def _fresh_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test knows the keys of another, and what it does to a key or a venue shows at once."""
    monkeypatch.setattr("accounts.api_keys.cache.CHANGE_CHECK_INTERVAL_S", 0.0)
    api_key_cache.clear()


@pytest.fixture(autouse=True)
def _fresh_log() -> None:
    """No test writes down the calls of another."""
    request_log.reset()


@pytest.fixture(autouse=True)
def _fresh_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test knows the markets and cuisines of another, and what it adds is known at once."""
    monkeypatch.setattr("catalogue.search.text.vocabulary.MAX_AGE_S", 0.0)
    monkeypatch.setattr("catalogue.search.text.spell_correction.MAX_AGE_S", 0.0)
    monkeypatch.setattr("catalogue.attribution.MAX_AGE_S", 0.0)


@pytest.fixture
def venue(db: None) -> Venue:
    """A venue in Rome without a menu and without tables."""
    account = Account.objects.create(name="Trattoria Ltd")
    return Venue.objects.create(account=account, name="Trattoria", timezone="Europe/Rome", currency="EUR")


@pytest.fixture
def other_venue(db: None) -> Venue:
    """A venue of somebody else."""
    account = Account.objects.create(name="Bistro SARL")
    return Venue.objects.create(account=account, name="Bistro", timezone="Europe/Paris", currency="EUR")


def client_of(venue: Venue) -> Client:
    """A caller with a key of the venue."""
    return builders.client(venue)


@pytest.fixture
def api(venue: Venue) -> Client:
    """A caller of the venue."""
    return client_of(venue)


@pytest.fixture
def other_api(other_venue: Venue) -> Client:
    """A caller of the other venue."""
    return client_of(other_venue)


@pytest.fixture
def prices(transactional_db: None) -> None:
    """The price list of a fresh installation. Payments are never taken inside a transaction, so tests have none."""
    default_products.create_missing()


@pytest.fixture
def ledger_matches_chain(prices: None) -> Iterator[None]:
    """After the test, the sum of the ledger is what has arrived on the chain."""
    before = usdc_balance(settings.PAY_TO)
    yield
    arrived = Payment.objects.filter(state__in=Payment.PAID).aggregate(total=Sum("amount_usdc"))["total"]
    assert usdc_balance(settings.PAY_TO) - before == (arrived or 0)

"""Worlds and actors that all tests share."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db.models import Sum
from django.test import Client

from accounts.models import Account, Venue
from payments.models import Payment
from payments.pricing import default_products
from tests.support import builders
from tests.support.wallets import usdc_balance


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

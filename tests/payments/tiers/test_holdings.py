"""The tier of a wallet: read from the chain, believed for a while, kept when the chain is away."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from payments.chain.rpc import RpcUnavailable
from payments.devchain.wallets import Wallet as Key
from payments.models import Wallet
from payments.tiers import holdings
from payments.tiers.definitions import FREE, PREMIUM, PRO, TIERS
from tests.payments.buyer import buy, paid_by
from tests.payments.transfers import send
from tests.support.live_server import NOWHERE

pytestmark = pytest.mark.django_db


def now() -> datetime:
    return datetime.now(UTC)


def known(key: Key, *, tier: str = "pro", ago: timedelta = timedelta(0)) -> Wallet:
    """What was read of a wallet a while ago, true or not."""
    return Wallet.objects.create(address=key.address, tier=tier, holdings_usd=Decimal(100), read_at=now() - ago)


@pytest.fixture
def _chain_away(settings: Settings) -> None:
    settings.RPC_URL = f"http://{NOWHERE}"


# From the chain
@pytest.mark.parametrize("name", list(TIERS))
def test_each_demo_wallet_has_the_tier_of_its_name(wallets: Mapping[str, Key], name: str) -> None:
    assert holdings.load_terms(wallets[name].address, now=now()).tier == TIERS[name]


def test_what_was_read_is_written_down(wallets: Mapping[str, Key]) -> None:
    moment = now()
    holdings.load_terms(wallets["enterprise"].address, now=moment)
    wallet = Wallet.objects.get()
    assert (wallet.address, wallet.tier) == (wallets["enterprise"].address, "enterprise")
    assert (wallet.holdings_usd, wallet.staked, wallet.read_at) == (Decimal(120_000), Decimal(60_000), moment)


def test_a_stranger_that_holds_nothing_leaves_no_row(wallets: Mapping[str, Key]) -> None:
    assert holdings.load_terms(wallets["free"].address, now=now()).tier == FREE
    assert not Wallet.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("ledger_matches_chain")
def test_a_wallet_that_has_paid_is_remembered_though_it_holds_nothing(
    settings: Settings, wallets: Mapping[str, Key]
) -> None:
    buy(paid_by(wallets["free"]))
    assert not Wallet.objects.exists()
    assert holdings.load_terms(wallets["free"].address, now=now()).tier == FREE
    assert Wallet.objects.get().address == wallets["free"].address
    settings.RPC_URL = f"http://{NOWHERE}"
    assert holdings.load_terms(wallets["free"].address, now=now()).tier == FREE


def test_a_wallet_that_has_sold_its_tokens_loses_its_tier_and_not_its_row(wallets: Mapping[str, Key]) -> None:
    known(wallets["free"], tier="premium", ago=timedelta(days=2))
    assert holdings.load_terms(wallets["free"].address, now=now()).tier == FREE
    assert Wallet.objects.get().tier == "free"


def test_what_a_wallet_does_with_its_tokens_shows_at_the_next_reading(
    settings: Settings, wallets: Mapping[str, Key]
) -> None:
    pro, token = wallets["pro"], settings.TOKEN_ADDRESS
    known(pro, tier="premium")
    assert holdings.load_terms(pro.address, now=now()).tier == PRO
    send(pro, token, "stake(uint256)", 100 * 10**18)
    try:
        wallet = holdings.load_wallet(pro.address, now=now())
        assert (wallet.tier, wallet.holdings_usd, wallet.staked) == ("pro", Decimal(250), Decimal(100))
    finally:
        send(pro, token, "unstake(uint256)", 100 * 10**18)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_eight_readings_at_once_make_one_row(wallets: Mapping[str, Key]) -> None:
    address = wallets["pro"].address

    def read(_: int) -> str:
        try:
            return holdings.load_terms(address, now=now()).tier.name
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(read, range(16))) == ["pro"] * 16
    assert Wallet.objects.get().tier == "pro"


# Believed for a while
def test_a_fresh_reading_is_believed_for_one_query_and_no_trip_to_the_chain(
    settings: Settings, wallets: Mapping[str, Key]
) -> None:
    settings.TIER_CACHE_S, settings.RPC_URL = 600, f"http://{NOWHERE}"
    known(wallets["free"], tier="premium", ago=timedelta(seconds=590))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert holdings.load_terms(wallets["free"].address, now=now()).tier == PREMIUM
    assert len(queries) == 1


def test_an_old_reading_is_not_believed(settings: Settings, wallets: Mapping[str, Key]) -> None:
    settings.TIER_CACHE_S = 600
    known(wallets["free"], tier="premium", ago=timedelta(seconds=601))
    assert holdings.load_terms(wallets["free"].address, now=now()).tier == FREE


# The chain away
@pytest.mark.usefixtures("_chain_away")
def test_while_the_chain_is_down_the_last_tier_lasts_a_day(wallets: Mapping[str, Key]) -> None:
    known(wallets["premium"], tier="pro", ago=timedelta(hours=23, minutes=59))
    before = Wallet.objects.values().get()
    assert holdings.load_terms(wallets["premium"].address, now=now()).tier == PRO
    assert Wallet.objects.values().get() == before


@pytest.mark.usefixtures("_chain_away")
def test_while_the_chain_is_away_an_older_tier_counts_for_nothing(wallets: Mapping[str, Key]) -> None:
    known(wallets["premium"], ago=timedelta(hours=24, seconds=1))
    with pytest.raises(RpcUnavailable):
        holdings.load_terms(wallets["premium"].address, now=now())


@pytest.mark.usefixtures("_chain_away")
def test_while_the_chain_is_away_a_stranger_has_no_tier_and_no_row(wallets: Mapping[str, Key]) -> None:
    with pytest.raises(RpcUnavailable):
        holdings.load_terms(wallets["premium"].address, now=now())
    assert not Wallet.objects.exists()


@pytest.mark.usefixtures("_chain_away")
def test_a_wallet_that_was_never_read_has_no_tier_while_the_chain_is_away(wallets: Mapping[str, Key]) -> None:
    Wallet.objects.create(address=wallets["pro"].address, tier="pro")
    with pytest.raises(RpcUnavailable):
        holdings.load_terms(wallets["pro"].address, now=now())

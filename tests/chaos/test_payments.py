"""Payments under load while the processes that answer are killed again and again: paid once, served in the end."""

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from threading import Event

import httpx
import pytest

from payments.devchain.wallets import Wallet
from payments.models import Payment
from tests.payments.buyer import signed_by, with_quote
from tests.security.live_product import CONTEXT, PRICE, Shop, oldest_worker, opened, stocked, workers
from tests.support.live_stack import eventually
from tests.support.wallets import fresh_wallet, usdc_balance

pytestmark = [
    pytest.mark.stack,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("ledger_matches_chain"),
]

CALLERS = 6
KILLS = 5
GIVE_UP_S = 60.0


@pytest.fixture
def shop(ledger_matches_chain: None, tmp_path: Path) -> Iterator[Shop]:
    """Two processes at one address, started again when they die."""
    stocked()
    respawn = {"GRANIAN_RESPAWN_FAILED_WORKERS": "true", "GRANIAN_RESPAWN_INTERVAL": "0.1"}
    with opened(tmp_path, processes=1, GRANIAN_WORKERS="2", **respawn) as shop:
        yield shop


def until_served(shop: Shop, headers: Mapping[str, str]) -> bool:
    """Ask with the same header until it is answered 200; a 402 would mean to pay again."""
    until = time.monotonic() + GIVE_UP_S
    while time.monotonic() < until:
        try:
            answer = shop.ask(CONTEXT, headers)
        except httpx.TransportError:
            time.sleep(0.1)
            continue
        if answer.status_code == 200:
            return True
        assert answer.status_code == 503, answer.text
        time.sleep(0.2)
    return False


def test_processes_that_are_killed_lose_no_payment_and_charge_none_twice(shop: Shop) -> None:
    payers, over = [fresh_wallet(usdc=Decimal(1)) for _ in range(CALLERS)], Event()

    def call(payer: Wallet) -> int:
        bought = 0
        while not over.is_set():
            assert until_served(shop, with_quote(signed_by(payer, max_timeout_seconds=600)))
            bought += 1
        return bought

    with ThreadPoolExecutor(CALLERS) as threads:
        calls = [threads.submit(call, payer) for payer in payers]
        try:
            for _ in range(KILLS):
                time.sleep(2)
                oldest_worker(shop.webs[0]).kill()
                assert eventually(lambda: len(workers(shop.webs[0])) == 2)
        finally:
            over.set()
        bought = [one.result() for one in calls]
    assert sum(bought) >= CALLERS
    spent = [Decimal(1) - usdc_balance(payer.address) for payer in payers]
    assert spent == [Decimal(PRICE) * each for each in bought]
    assert Payment.objects.count() == sum(bought)

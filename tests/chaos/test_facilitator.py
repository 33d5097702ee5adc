"""Our facilitator and its node under paid calls: killed again and again, or losing transactions."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from config.dev_stack.servers import Server, free_port
from config.dev_stack.wsgi_servers import Chain, Facilitator
from payments.devchain.wallets import Wallet
from payments.models import Payment
from tests.payments.buyer import signed_by, with_quote
from tests.payments.facilitator_server.mempool import mempool
from tests.security.live_product import CONTEXT, PRICE, ask, stocked
from tests.support.live_server import served
from tests.support.live_stack import eventually
from tests.support.wallets import chain_secret, fresh_wallet, usdc_balance

pytestmark = [pytest.mark.chaos, pytest.mark.django_db(transaction=True)]

CALLERS = 4
ROUNDS = 30
# From the first request of a purchase to its answer, while servers that are killed take seconds to start.
SERVED_WITHIN_S = 45.0
# The same while one of four transactions is lost.
SERVED_WITHIN_S_IF_LOST = 15.0


def server(kind: type[Server], home: Path, **more: Any) -> Any:
    return kind(
        home=home / kind.name, log=home / f"{kind.name}.log", port=free_port(), password=chain_secret(), **more
    )


@pytest.fixture
def chain(tmp_path: Path, settings: Settings, prices: None) -> Iterator[Chain]:
    """A chain of our own, which may be killed, with the wallets of the tests."""
    stocked()
    chain: Chain = server(Chain, tmp_path)
    chain.start()
    settings.RPC_URL = chain.url
    yield chain
    chain.stop()


def kill(killed: Server) -> None:
    """SIGKILL of the server and of all of its processes, and a new start."""
    assert killed.pid is not None
    os.killpg(killed.pid, signal.SIGKILL)
    assert eventually(lambda: not killed.is_running())
    killed.start()


def served_after_s(url: str, headers: Mapping[str, str]) -> float:
    """Ask with the same header until the answer is 200; a 402 would mean to pay again."""
    started = time.monotonic()
    while time.monotonic() < started + SERVED_WITHIN_S:
        try:
            answer = ask(url + CONTEXT, headers)
        except httpx.TransportError:
            time.sleep(0.1)
            continue
        if answer.status_code == 200:
            return time.monotonic() - started
        assert answer.status_code == 503, answer.text
        time.sleep(0.2)
    raise AssertionError(f"not served within {SERVED_WITHIN_S} s")


def buy_during(url: str, action: Callable[[list[float]], None]) -> list[float]:
    """Let several wallets buy until the action ends; return how long each purchase took. Each is charged once.

    The action gets the list of the purchases so far, which grows.
    """
    payers, over = [fresh_wallet(usdc=Decimal(1)) for _ in range(CALLERS)], Event()
    took_s: list[float] = []

    def call(payer: Wallet) -> int:
        bought = 0
        while not over.is_set():
            took_s.append(served_after_s(url, with_quote(signed_by(payer, max_timeout_seconds=600))))
            bought += 1
            time.sleep(0.2)
        return bought

    with ThreadPoolExecutor(CALLERS) as threads:
        calls = [threads.submit(call, payer) for payer in payers]
        try:
            action(took_s)
        finally:
            over.set()
        bought = [each.result() for each in calls]
    assert [Decimal(1) - usdc_balance(payer.address) for payer in payers] == [Decimal(PRICE) * each for each in bought]
    assert list(Payment.objects.values_list("state", flat=True)) == [Payment.State.DELIVERED] * len(took_s)
    print(f"{len(took_s)} purchases, the slowest took {max(took_s):.1f} s")  # noqa: T201 - a figure
    return took_s


def test_kills_of_the_node_and_of_the_facilitator_lose_no_purchase(chain: Chain, tmp_path: Path) -> None:
    facilitator: Facilitator = server(Facilitator, tmp_path, chain=chain)
    facilitator.start()

    def kill_them(took_s: list[float]) -> None:
        for number in range(ROUNDS):
            before = len(took_s)
            # At any moment of a settlement.
            time.sleep(random.Random(number).random())
            for killed in ([chain], [facilitator], [facilitator, chain])[number % 3]:
                kill(killed)
            assert eventually(lambda before=before: len(took_s) > before + CALLERS, within_s=SERVED_WITHIN_S)  # type: ignore[misc]

    try:
        with served(
            tmp_path / "web.log", RPC_URL=chain.url, FACILITATOR_URL=facilitator.url, TRUSTED_PROXIES="1"
        ) as url:
            took_s = buy_during(url, kill_them)
    finally:
        facilitator.stop()
    assert len(took_s) > ROUNDS * CALLERS


def test_a_node_that_loses_every_fourth_transaction_delays_each_payment_by_seconds(
    chain: Chain, tmp_path: Path
) -> None:
    with mempool() as node:
        through: Any = SimpleNamespace(url=node.url, password=chain.password)
        facilitator: Facilitator = server(Facilitator, tmp_path, chain=through)
        facilitator.start()

        def lose(took_s: list[float]) -> None:
            lost = 0
            while lost < 15 or len(took_s) <= 15:
                lost += 1
                received = len(node.received)
                assert eventually(lambda received=received: len(node.received) >= received + 3)  # type: ignore[misc]
                node.to_lose = 1

        try:
            with served(
                tmp_path / "web.log", RPC_URL=chain.url, FACILITATOR_URL=facilitator.url, TRUSTED_PROXIES="1"
            ) as url:
                took_s = buy_during(url, lose)
        finally:
            facilitator.stop()
    assert len(took_s) > 15
    assert max(took_s) < SERVED_WITHIN_S_IF_LOST

"""The MCP endpoint under hostile bodies and load: quick refusals, no connection left over, paid once and served."""

import itertools
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import psutil
import pytest
from django.db import connection

from config.dev_stack.valkey import Valkey
from payments.devchain.wallets import Wallet
from payments.models import Payment
from payments.x402.proofs import PAYMENT_META
from tests.chaos.test_limiter import freeze, thaw, valkey  # noqa: F401  # a fixture
from tests.mcp import client, fuzz_runner
from tests.mcp.hostile_input import HOSTILE
from tests.payments.buyer import read, signed_by, with_quote
from tests.security.live_product import PRICE, Shop, addresses, oldest_worker, opened, stocked, workers
from tests.support.live_server import THREADS, served
from tests.support.live_stack import eventually
from tests.support.wallets import fresh_wallet, usdc_balance

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("ledger_matches_chain"),
]

SLOWEST_S = 0.2
MAX_MB = 50
CALLS, CALLERS = 2000, 16
PAYERS, KILLS = 6, 5
GIVE_UP_S = 60.0
HUNG_UP = (0, b"")
AROUND = ("get_surroundings", {"slug": "noma"})


def sending(base_url: str) -> httpx.Client:
    """Somebody who calls, from as many threads as they like."""
    return httpx.Client(base_url=base_url, timeout=40)


def call(api: httpx.Client, tool: str, arguments: Mapping[str, Any], payment: Any = None) -> dict[str, Any]:
    """The result of a call from an address that has not called before; fails on any other status than 200."""
    meta = {PAYMENT_META: payment} if payment else {}
    payload, headers = client.message("tools/call", {"name": tool, "arguments": dict(arguments)}, meta=meta)
    headers["X-Forwarded-For"] = next(addresses)
    answer = api.post("/mcp", json=payload, headers=headers)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()["result"]
    return result


def code_of(result: Mapping[str, Any]) -> str:
    """The code of a refusal, `served` where it is none."""
    return str(client.refusal_of(result)["code"]) if result.get("isError") else "served"


# Hostile bodies
def resident_mb(base_url: str) -> float:
    """What the processes that answer for this address hold in memory."""
    return float(sum(one.memory_info().rss for one in workers(base_url))) / 1e6


def test_hostile_bodies_are_refused_in_200_ms_and_cost_less_than_50_mb(tmp_path: Path) -> None:
    stocked()
    took: dict[str, float] = {}
    with served(tmp_path / "web.log", TRUSTED_PROXIES="1") as base_url:
        with sending(base_url) as api:
            for _ in range(50):
                assert call(api, "get_restaurant", {"slug": "noma"})["content"]
        before = resident_mb(base_url)
        numbers = itertools.count(1)
        for (name, hostile), _ in itertools.product(HOSTILE.items(), range(3)):
            with fuzz_runner.over_http(base_url) as send:
                began = time.perf_counter()
                seen = send(hostile.case(next(numbers)))
                seconds = time.perf_counter() - began
            # A busy machine may take longer once.
            took[name] = min(took.get(name, seconds), seconds)
            assert fuzz_runner.problem(seen) is None, (name, seen)
            # The web server itself refuses what is no HTTP, and hangs up on who sends on when it was refused.
            of_web_server = {"a length of 30 digits": [(400, b"")], "30 MB": [HUNG_UP], "30 MB in chunks": [HUNG_UP]}
            is_ours = seen.status == hostile.status
            assert is_ours or (seen.status, seen.body) in of_web_server.get(name, []), (name, seen)
        grown = resident_mb(base_url) - before
    assert {name: seconds for name, seconds in took.items() if seconds > SLOWEST_S} == {}
    assert grown < MAX_MB


# Connections
def connections(pids: Sequence[int]) -> int:
    """How many connections to the database these processes hold."""
    ports = [
        link.laddr.port for pid in pids if psutil.pid_exists(pid) for link in psutil.Process(pid).net_connections()
    ]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE client_port = ANY(%s)", [ports])
        (count,) = cursor.fetchone()
    return int(count)


def sessions(state: str = "%") -> int:
    """How many sessions of others in our database are in such a state."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE %s",
            [state],
        )
        (count,) = cursor.fetchone()
    return int(count)


def test_after_2000_calls_of_16_callers_each_thread_has_one_idle_connection_and_a_kill_leaves_none(
    tmp_path: Path,
) -> None:
    stocked()
    calls = (
        ("get_restaurant", {"slug": "noma"}),
        ("search_restaurants", {"ll": "55.6737,12.5681"}),
        ("find_landmark", {"query": "Tivoli"}),
        ("get_restaurant", {"slug": "nowhere"}),
        AROUND,
    )
    before = sessions()
    with served(tmp_path / "web.log", TRUSTED_PROXIES="1") as base_url:
        with sending(base_url) as api, ThreadPoolExecutor(CALLERS) as threads:
            results = threads.map(lambda number: call(api, *calls[number % len(calls)]), range(CALLS))
            codes = Counter(client.ERROR in result.get("_meta", {}) for result in results)
        assert codes == {False: CALLS * 3 // 5, True: CALLS * 2 // 5}
        old = workers(base_url)
        assert 0 < connections([worker.pid for worker in old]) <= THREADS
        assert before < sessions() <= before + THREADS
        # No call has left a transaction open behind its answer.
        assert sessions("idle in transaction%") == 0
        assert sessions("idle") == sessions()
        for worker in old:
            worker.kill()
        # While the test still runs: the database itself has noticed.
        assert eventually(lambda: sessions() == before, within_s=5)


# Payments
@pytest.fixture
def shop(ledger_matches_chain: None, tmp_path: Path) -> Iterator[Shop]:
    """Two processes at one address, started again when they die."""
    stocked()
    respawn = {"GRANIAN_RESPAWN_FAILED_WORKERS": "true", "GRANIAN_RESPAWN_INTERVAL": "0.1"}
    with opened(tmp_path, processes=1, GRANIAN_WORKERS="2", **respawn) as shop:
        yield shop


def payment_of(payer: Wallet) -> Any:
    """What pays for one call from any address, good for ten minutes."""
    return read(with_quote(signed_by(payer, max_timeout_seconds=600)))


def until_served(api: httpx.Client, payment: Any) -> dict[str, Any]:
    """Call with the same payment until the content comes; to be asked for another one would be to pay again."""
    until = time.monotonic() + GIVE_UP_S
    while time.monotonic() < until:
        try:
            result = call(api, *AROUND, payment=payment)
        except httpx.TransportError:
            time.sleep(0.1)
            continue
        code = code_of(result)
        if code == "served":
            return result
        assert code in ("settlement_pending", "service_unavailable", "facilitator_unavailable"), result
        time.sleep(0.2)
    raise AssertionError("never served")


def test_processes_that_are_killed_under_paid_calls_lose_no_payment_and_charge_none_twice(shop: Shop) -> None:
    base_url, over = shop.webs[0], Event()
    payers = [fresh_wallet(usdc=Decimal(1)) for _ in range(PAYERS)]

    def buy(payer: Wallet) -> list[tuple[Any, dict[str, Any]]]:
        bought = []
        with sending(base_url) as api:
            while not over.is_set():
                payment = payment_of(payer)
                bought.append((payment, until_served(api, payment)))
        return bought

    with ThreadPoolExecutor(PAYERS) as threads:
        calls = [threads.submit(buy, payer) for payer in payers]
        try:
            for _ in range(KILLS):
                time.sleep(2)
                oldest_worker(base_url).kill()
                assert eventually(lambda: len(workers(base_url)) == 2)
        finally:
            over.set()
        bought = [one.result() for one in calls]
    assert min(map(len, bought)) >= 1
    # Each payer has paid for what they got, once, and the ledger says so.
    spent = [Decimal(1) - usdc_balance(payer.address) for payer in payers]
    assert spent == [Decimal(PRICE) * len(each) for each in bought]
    rows = list(Payment.objects.values_list("channel", "state"))
    assert len(rows) == sum(map(len, bought))
    assert {channel for channel, _ in rows} == {"mcp"}
    assert {state for _, state in rows} <= {Payment.State.DELIVERED, Payment.State.SETTLED}
    # Who lost the answer may ask again, and gets what was bought.
    for payment, result in (each[-1] for each in bought):
        with sending(base_url) as api:
            again = call(api, *AROUND, payment=payment)
        assert json.dumps(again["structuredContent"]) == json.dumps(result["structuredContent"])
        assert again["_meta"][client.RECEIPT] == result["_meta"][client.RECEIPT]
    assert Payment.objects.count() == len(rows)


@pytest.fixture
def counted_apart(ledger_matches_chain: None, valkey: Valkey, tmp_path: Path) -> Iterator[tuple[str, Valkey]]:  # noqa: F811
    """A process that counts in a store of its own, which may be frozen."""
    stocked()
    with served(tmp_path / "web.log", TRUSTED_PROXIES="1", REDIS_URL=valkey.url) as base_url:
        yield base_url, valkey


def test_while_the_store_of_the_counts_is_frozen_calls_are_answered_and_paid_for_as_ever(
    counted_apart: tuple[str, Valkey],
) -> None:
    base_url, store = counted_apart
    payer, over = fresh_wallet(usdc=Decimal(1)), Event()
    codes: Counter[str] = Counter()

    def look() -> None:
        while not over.is_set():
            codes[code_of(call(api, "get_restaurant", {"slug": "noma"}))] += 1
            codes[code_of(call(api, *AROUND))] += 1

    def buy() -> int:
        bought = 0
        while not over.is_set():
            codes[code_of(call(api, *AROUND, payment=payment_of(payer)))] += 1
            bought += 1
        return bought

    with sending(base_url) as api, ThreadPoolExecutor(4) as threads:
        looking, buying = [threads.submit(look) for _ in range(3)], threads.submit(buy)
        try:
            time.sleep(1)
            freeze(store)
            time.sleep(5)
            thaw(store)
            time.sleep(1)
        finally:
            thaw(store)
            over.set()
        for one in looking:
            one.result()
        bought = buying.result()
    assert set(codes) == {"served", "payment_required"}
    assert bought > 3
    assert Decimal(1) - usdc_balance(payer.address) == Decimal(PRICE) * bought
    assert psutil.pid_exists(store.pid or 0)

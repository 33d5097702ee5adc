"""Orders under load while the database is killed or frozen, or a web process killed: what was said stays true.

Who waits for a frozen database is told so within what config.database.base waits and a new connection takes.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event

import httpx
import psutil
import psycopg
import pytest
from django.conf import settings

from config.api.ids import encode
from config.database.base import GREETING_S, PATIENCE_S
from config.stack import Stack
from tests import make
from tests.running import eventually
from tests.served import served

pytestmark = pytest.mark.chaos

CALLERS = 8
DOWN_S = 2.0
BETWEEN_S = 4.0
GIVE_UP_S = 60.0
# From the start of a database to the next order that is acknowledged.
GAP_S = 3.0
FROZEN_S = 20.0
# A wait, a greeting, and the attempt at a new connection; and what else an answer takes on a busy machine.
TOLD_WITHIN_S = PATIENCE_S + GREETING_S + 2.0 + 1.5


@dataclass
class Seen:
    """What the callers were answered: the acknowledged orders by their Idempotency-Keys, and how they came about."""

    acknowledged: dict[str, bytes] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    impolite: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    took_s: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Shop:
    """The product on a PostgreSQL of its own, which can be killed."""

    stack: Stack
    base_url: str
    key: str

    def post(self, client: httpx.Client, name: str) -> httpx.Response:
        """Order once under this Idempotency-Key, however often it is called; before the dash stands the customer."""
        body = make.order_body(customer_id=name.partition("-")[0])
        return client.post(f"{self.base_url}/api/v1/orders", json=body, headers={"Idempotency-Key": name})

    def client(self) -> httpx.Client:
        """A caller that keeps its connection."""
        return httpx.Client(headers={"Authorization": f"Bearer {self.key}"}, timeout=GIVE_UP_S)

    def stored(self, customer: str) -> set[str]:
        """The ids of a customer's orders; fails when the numbers of all orders have a gap."""
        assert self.stack.database_url is not None
        with psycopg.connect(self.stack.database_url) as database:
            orders = database.execute("SELECT id, customer_id, number FROM orders_order").fetchall()
        assert sorted(number for _, _, number in orders) == [*range(1, len(orders) + 1)]
        return {encode("ord", key) for key, whose, _ in orders if whose == customer}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Two processes that are started again when they die; every commit waits for the disk."""
    tmp_path = tmp_path_factory.mktemp("shop")
    with ExitStack() as held:
        stack = held.enter_context(Stack(tmp_path / "state", valkey=False, chain=False, shared_buffers="64MB"))
        assert stack.database_url is not None
        environment = os.environ | {"DATABASE_URL": stack.database_url}
        for words in (["migrate", "--no-input"], ["seed", "--json"]):
            command = [sys.executable, "manage.py", *words]
            told = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, check=True)
        key = json.loads(told.stdout)["management"]["wide_api_key"]
        workers = {
            "GRANIAN_WORKERS": "2",
            "GRANIAN_RESPAWN_FAILED_WORKERS": "true",
            "GRANIAN_RESPAWN_INTERVAL": "0.1",
        }
        base_url = held.enter_context(served(tmp_path / "web.log", DATABASE_URL=stack.database_url, **workers))
        shop = Shop(stack=stack, base_url=base_url, key=key)
        assert eventually(lambda: len(processes_of(shop)) == 2)
        yield shop


def processes_of(shop: Shop) -> list[psutil.Process]:
    """Those of the web server that answer requests."""
    port = shop.base_url.rpartition(":")[2]
    (parent,) = (one for one in psutil.Process().children() if {"granian", port} <= {*one.cmdline()})
    return parent.children()


@contextmanager
def load(shop: Shop, *, customer: str) -> Iterator[Seen]:
    """Callers that order as fast as they can inside the block, and send again what was not acknowledged."""
    seen, enough = Seen(), Event()

    def call(caller: int) -> None:
        with shop.client() as client:
            for number in range(1_000_000):
                if enough.is_set():
                    return
                order_until_acknowledged(client, f"{customer}-{caller}-{number}")

    def order_until_acknowledged(client: httpx.Client, name: str) -> None:
        until = time.monotonic() + GIVE_UP_S
        while time.monotonic() < until:
            began_at = time.monotonic()
            try:
                answer = shop.post(client, name)
            except httpx.TransportError as error:
                seen.broken.append(repr(error))
                time.sleep(0.05)
                continue
            finally:
                seen.took_s.append(time.monotonic() - began_at)
            seen.statuses[answer.status_code] += 1
            if answer.status_code == 201:
                seen.acknowledged[name] = answer.content
                return
            if "Retry-After" not in answer.headers or answer.json()["error"]["code"] != "service_unavailable":
                seen.impolite.append(answer.text)
            time.sleep(0.05)
        seen.unanswered.append(name)

    with ThreadPoolExecutor(CALLERS) as callers:
        calls = [callers.submit(call, caller) for caller in range(CALLERS)]
        try:
            time.sleep(BETWEEN_S / 2)
            yield seen
            time.sleep(BETWEEN_S)
        finally:
            enough.set()
    for one in calls:
        one.result()


def kill_all(pid: int | None) -> None:
    """kill -9 of a process and of everything below it."""
    top = psutil.Process(pid)
    for process in [top, *top.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def check_that_all_is_as_it_was_said(shop: Shop, seen: Seen, *, customer: str) -> None:
    """Each acknowledged order is there once, and its call is answered the same bytes again."""
    assert seen.unanswered == []
    with shop.client() as client:
        for name, content in seen.acknowledged.items():
            again = shop.post(client, name)
            assert (again.status_code, again.content) == (201, content)
            assert again.headers["Idempotent-Replayed"] == "true"
    ids = {json.loads(content)["id"] for content in seen.acknowledged.values()}
    assert len(ids) == len(seen.acknowledged)
    # No order that nobody was told of, and none twice.
    assert shop.stored(customer) == ids


def test_no_acknowledged_order_is_lost_when_the_database_is_killed_and_nobody_is_told_worse_than_503(
    shop: Shop,
) -> None:
    postgres = shop.stack.postgres
    assert postgres is not None
    with load(shop, customer="ada") as seen:
        for _ in range(2):
            before = len(seen.acknowledged)
            kill_all(postgres.pid)
            assert eventually(lambda: not postgres.is_running())
            time.sleep(DOWN_S)
            postgres.start(keep_port=True)
            # Those that were acknowledged before it died, and were told of only now, are not meant.
            assert eventually(lambda before=before: len(seen.acknowledged) > before + CALLERS, within_s=GAP_S)  # type: ignore[misc]
            time.sleep(BETWEEN_S / 2)
    assert set(seen.statuses) == {201, 503}
    assert seen.impolite == []
    # The web server itself has not dropped anybody.
    assert seen.broken == []
    check_that_all_is_as_it_was_said(shop, seen, customer="ada")


def test_while_the_database_is_frozen_callers_are_told_so_in_seconds_and_it_loses_nothing(shop: Shop) -> None:
    postgres = shop.stack.postgres
    assert postgres is not None
    assert postgres.pid is not None
    with load(shop, customer="mary") as seen:
        frozen = [psutil.Process(postgres.pid), *psutil.Process(postgres.pid).children(recursive=True)]
        for process in frozen:
            process.suspend()
        try:
            time.sleep(FROZEN_S)
        finally:
            for process in frozen:
                process.resume()
        before = len(seen.acknowledged)
        assert eventually(lambda: len(seen.acknowledged) > before + CALLERS, within_s=TOLD_WITHIN_S)
    print(f"slowest of {len(seen.took_s)} answers: {max(seen.took_s):.1f} s, {dict(seen.statuses)}")  # noqa: T201  # a figure
    assert set(seen.statuses) == {201, 503}
    assert seen.impolite == []
    assert seen.broken == []
    assert max(seen.took_s) < TOLD_WITHIN_S
    check_that_all_is_as_it_was_said(shop, seen, customer="mary")


def test_a_process_that_is_killed_takes_no_acknowledged_order_with_it_and_makes_none_twice(shop: Shop) -> None:
    with load(shop, customer="grace") as seen:
        victim, survivor = processes_of(shop)
        victim.kill()
        assert eventually(lambda: len({one.pid for one in processes_of(shop)} - {victim.pid}) == 2)
        assert survivor.is_running()
    assert set(seen.statuses) == {201}
    # Those that it was answering just then, and no others.
    assert len(seen.broken) <= CALLERS
    check_that_all_is_as_it_was_said(shop, seen, customer="grace")

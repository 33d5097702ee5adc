"""Orders under load while the database is killed or frozen, or a web process killed: what was said stays true.

Who waits for a frozen database is told so within what framework.db.backend.base waits and a new connection takes.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
import psutil
import psycopg
import pytest
from django.conf import settings

from config.dev_stack import Stack
from framework.db.backend.base import PROBE_TIMEOUT_S, RESPONSE_TIMEOUT_S
from framework.public_ids import encode
from tests.security.live_product import oldest_worker
from tests.support.live_server import served
from tests.support.live_stack import eventually
from tests.support.order_load import CALLERS, Shop

DOWN_S = 2.0
BETWEEN_S = 4.0
# From the start of a database to the next order that is acknowledged.
GAP_S = 3.0
FROZEN_S = 20.0
# A wait, a greeting, and the attempt at a new connection; and what else an answer takes on a busy machine.
ANSWER_WITHIN_S = RESPONSE_TIMEOUT_S + PROBE_TIMEOUT_S + 2.0 + 1.5


@dataclass(frozen=True)
class Killable(Shop):
    """The product on a PostgreSQL of its own, which can be killed."""

    stack: Stack
    base_url: str
    key: str

    def stored(self, customer: str) -> set[str]:
        """The ids of a customer's orders; fails when the numbers of a restaurant's day have a gap."""
        with psycopg.connect(self.stack.environment()["DATABASE_URL"]) as database:
            orders = database.execute("SELECT id, customer_id FROM orders_order").fetchall()
            numbers = database.execute(
                "SELECT array_agg(number ORDER BY number) FROM orders_order GROUP BY venue_id, business_date"
            )
            for (of_one_day,) in numbers:
                assert of_one_day == [*range(1, len(of_one_day) + 1)]
        return {encode("ord", key) for key, whose in orders if whose == customer}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killable]:
    """Two processes that are started again when they die; every commit waits for the disk."""
    tmp_path = tmp_path_factory.mktemp("shop")
    with ExitStack() as held:
        stack = held.enter_context(Stack(tmp_path / "state", valkey=False, chain=False, shared_buffers="64MB"))
        database_url = stack.environment()["DATABASE_URL"]
        environment = os.environ | {"DATABASE_URL": database_url}
        for words in (["migrate", "--no-input"], ["seed", "--json"]):
            command = [sys.executable, "manage.py", *words]
            payload = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, check=True)
        key = json.loads(payload.stdout)["management"]["wide_api_key"]
        workers = {
            "GRANIAN_WORKERS": "2",
            "GRANIAN_RESPAWN_FAILED_WORKERS": "true",
            "GRANIAN_RESPAWN_INTERVAL": "0.1",
        }
        base_url = held.enter_context(served(tmp_path / "web.log", DATABASE_URL=database_url, **workers))
        shop = Killable(stack=stack, base_url=base_url, key=key)
        assert eventually(lambda: len(processes_of(shop)) == 2)
        yield shop


def processes_of(shop: Killable) -> list[psutil.Process]:
    """Those of the web server that answer requests."""
    port = shop.base_url.rpartition(":")[2]
    (parent,) = (one for one in psutil.Process().children() if {"granian", port} <= {*one.cmdline()})
    return parent.children()


def kill_all(pid: int | None) -> None:
    """kill -9 of a process and of everything below it."""
    top = psutil.Process(pid)
    for process in [top, *top.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()


@pytest.mark.stack
def test_no_acknowledged_order_is_lost_when_the_database_is_killed_and_other_calls_get_503(
    shop: Killable,
) -> None:
    postgres = shop.stack.postgres
    assert postgres is not None
    with shop.ordering(customer="ada", before_s=BETWEEN_S / 2, after_s=BETWEEN_S) as seen:
        for _ in range(2):
            before = len(seen.acknowledged)
            kill_all(postgres.pid)
            assert eventually(lambda: not postgres.is_running())
            time.sleep(DOWN_S)
            postgres.start()
            # Those that were acknowledged before it died, and were told of only now, are not meant.
            assert eventually(lambda before=before: len(seen.acknowledged) > before + CALLERS, within_s=GAP_S)  # type: ignore[misc]
            time.sleep(BETWEEN_S / 2)
    assert set(seen.statuses) == {201, 503}
    assert seen.impolite == []
    # The web server itself has not dropped anybody.
    assert not seen.broken
    shop.check(seen, customer="ada")


@pytest.mark.chaos
def test_callers_of_a_frozen_database_get_503_in_seconds_and_nothing_is_lost(shop: Killable) -> None:
    postgres = shop.stack.postgres
    assert postgres is not None
    assert postgres.pid is not None
    with shop.ordering(customer="mary", before_s=BETWEEN_S / 2, after_s=BETWEEN_S) as seen:
        frozen = [psutil.Process(postgres.pid), *psutil.Process(postgres.pid).children(recursive=True)]
        for process in frozen:
            process.suspend()
        try:
            time.sleep(FROZEN_S)
        finally:
            for process in frozen:
                process.resume()
        before = len(seen.acknowledged)
        assert eventually(lambda: len(seen.acknowledged) > before + CALLERS, within_s=ANSWER_WITHIN_S)
    print(f"slowest of {len(seen.took_s)} answers: {max(seen.took_s):.1f} s, {dict(seen.statuses)}")  # noqa: T201  # a figure
    assert set(seen.statuses) == {201, 503}
    assert seen.impolite == []
    assert not seen.broken
    assert max(seen.took_s) < ANSWER_WITHIN_S
    shop.check(seen, customer="mary")


@pytest.mark.stack
def test_a_process_that_is_killed_takes_no_acknowledged_order_with_it_and_makes_none_twice(shop: Killable) -> None:
    with shop.ordering(customer="grace", before_s=BETWEEN_S / 2, after_s=BETWEEN_S) as seen:
        victim, survivor = processes_of(shop)
        victim.kill()
        assert eventually(lambda: len({one.pid for one in processes_of(shop)} - {victim.pid}) == 2)
        assert survivor.is_running()
    assert set(seen.statuses) == {201}
    # Those that it was answering just then, and no others.
    assert seen.broken.total() <= CALLERS
    shop.check(seen, customer="grace")


@pytest.mark.chaos
def test_a_hold_ends_to_the_second_after_its_servers_and_database_were_killed(shop: Killable) -> None:
    with psycopg.connect(shop.stack.environment()["DATABASE_URL"]) as database:
        database.execute(
            "INSERT INTO reservations_table (id, venue_id, name, seats_min, seats_max, priority, is_active)"
            " SELECT gen_random_uuid(), id, 'H1', 1, 4, 0, true FROM accounts_venue"
        )
        database.execute(
            "INSERT INTO reservations_serviceperiod (id, venue_id, name, weekdays, first_seating, last_seating,"
            " slot_min, turn_2_min, turn_4_min, turn_6_min, turn_more_min)"
            " SELECT gen_random_uuid(), id, 'All day', '{0,1,2,3,4,5,6}', '12:00', '22:00', 30, 90, 105, 120, 150"
            " FROM accounts_venue"
        )
    day = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    wish = {"date": day, "time": "19:00", "party_size": 4}
    guest = wish | {"customer_name": "Ada", "customer_email": "ada@example.com"}
    headers = {"Authorization": f"Bearer {shop.key}"}

    def book(api: httpx.Client) -> str:
        """The status of the reservation, or the code of the refusal."""
        try:
            answer = api.post("/api/v1/reservations", json=guest).json()
        except httpx.TransportError:
            return "no answer"
        return str(answer["error"]["code"] if "error" in answer else answer["status"])

    with httpx.Client(base_url=shop.base_url, headers=headers, timeout=30) as api:
        assert api.post("/api/v1/holds", json=wish | {"minutes": 15}).status_code == 201
        postgres = shop.stack.postgres
        assert postgres is not None
        with psycopg.connect(shop.stack.environment()["DATABASE_URL"]) as database:
            cursor = database.execute("UPDATE reservations_hold SET expires_at = now() + '15 s' RETURNING expires_at")
            (expires_at,) = cursor.fetchone() or (None,)
        kill_all(postgres.pid)
        assert eventually(lambda: not postgres.is_running())
        postgres.start()
        oldest_worker(shop.base_url).kill()
        before, outcomes = [], set()
        while (outcome := book(api)) != "confirmed":
            before.append(datetime.now(UTC))
            outcomes.add(outcome)
            assert before[-1] < expires_at + timedelta(seconds=10)
            time.sleep(0.05)
    assert "slot_unavailable" in outcomes
    assert outcomes <= {"slot_unavailable", "service_unavailable", "no answer"}
    assert before[-1] <= expires_at + timedelta(seconds=1)
    assert datetime.now(UTC) >= expires_at

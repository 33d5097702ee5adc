"""A replica for reads that may be late: a real one, which lags, freezes and stops, behind a real web server."""

import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from django.conf import settings
from django.db import OperationalError, connection, connections, transaction

from catalogue.models import Market, Restaurant
from framework.db import read_replica
from tests.catalogue import builders
from tests.support import builders as making
from tests.support.live_server import served
from tests.support.live_stack import eventually
from tests.support.standby import Standby, run_standby

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

sources = count(1)


@dataclass(frozen=True)
class Shop:
    """A web server with a replica, which it believes to a second."""

    standby: Standby
    base_url: str
    log: Path

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Ask from an address whose allowance nobody has used."""
        source = {"X-Forwarded-For": f"192.0.2.{next(sources)}"}
        return httpx.get(f"{self.base_url}{path}", headers=source | headers, timeout=10)

    def name_of(self, slug: str) -> str:
        """What a free record calls the restaurant."""
        return str(self.get(f"/v1/restaurants/{slug}").json()["name"])

    def fallbacks(self) -> dict[str, int]:
        """Reads that the primary answered in the replica's place, by the reason."""
        lines = self.get("/metrics", Authorization="Bearer readable").text.splitlines()
        payload = [line for line in lines if line.startswith("tablewire_replica_fallbacks_total{")]
        return {line.split('"')[1]: int(float(line.rpartition(" ")[2])) for line in payload}

    def is_in_use(self) -> bool:
        """Whether a free read went to the replica."""
        before = self.fallbacks()
        self.get("/v1/restaurants?limit=1").raise_for_status()
        return self.fallbacks() == before


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None) -> Iterator[Shop]:
    """The servers of all these tests."""
    folder = tmp_path_factory.mktemp("replica")
    environment = {"REPLICA_MAX_LAG_S": "1", "TRUSTED_PROXIES": "1", "METRICS_TOKEN": "readable"}
    with run_standby(folder) as standby:
        environment |= {"REPLICA_URL": standby.url, "TABLEWIRE_STATE_DIR": str(folder)}
        with served(folder / "web.log", **environment) as base_url:
            yield Shop(standby, base_url, folder / "web.log")


@pytest.fixture
def shop(made: Shop, transactional_db: None) -> Iterator[Shop]:
    """The same with a replica that is asked."""
    assert eventually(made.is_in_use)
    yield made
    if not made.standby.server.is_running():
        made.standby.start()
    made.standby.ask("SELECT pg_wal_replay_resume()")


@pytest.fixture
def nearby(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This very process has the replica too."""
    monkeypatch.setattr(settings, "DATABASES", {**settings.DATABASES, "replica": {}})
    database: Any = connections["default"]
    connections["replica"] = replica = database.copy()
    replica.settings_dict |= of(shop.standby.url)
    replica.settings_dict["OPTIONS"]["target_session_attrs"] = "any"
    monitor = read_replica.LagMonitor(max_lag_s=5)
    monkeypatch.setattr("framework.db.read_replica._Shared.monitor", monitor)
    monitor.check()
    assert eventually(lambda: monitor.check() or monitor.reason is None, within_s=5)  # type: ignore[func-returns-value]
    yield
    replica.close()
    del connections["replica"]


def side() -> str:
    """Which server this thread asks."""
    return "replica" if connections["default"] is connections["replica"] else "primary"


def of(url: str) -> dict[str, Any]:
    """Where the server of an address is."""
    return {"HOST": urlsplit(url).hostname, "PORT": urlsplit(url).port}


@pytest.fixture
def place(shop: Shop) -> Restaurant:
    """A restaurant that the replica knows."""
    found = builders.restaurant(slug="noma", name="Noma")
    assert eventually(shop.standby.follows)
    return found


def rename(place: Restaurant, name: str) -> None:
    """Change the name where it is written."""
    place.name = name
    place.save(update_fields=["name"])


def test_free_reads_of_the_catalogue_are_the_replicas_and_what_is_sold_is_read_where_it_is_written(
    shop: Shop, place: Restaurant, prices: None
) -> None:
    shop.standby.ask("SELECT pg_wal_replay_pause()")
    rename(place, "Noma 3.0")
    builders.landmark("The old wall")
    assert shop.name_of("noma") == "Noma"
    # What lies around it is told, and its price asked, as of this moment.
    quoted = shop.get("/v1/restaurants/noma?fields=context")
    assert quoted.status_code == 402
    assert quoted.json()["accepts"][0]["maxAmountRequired"] == "2000"


def test_orders_are_read_where_they_are_written(shop: Shop) -> None:
    venue = making.venue()
    bearer = {"Authorization": f"Bearer {making.key(venue).text}"}
    shop.standby.ask("SELECT pg_wal_replay_pause()")
    order = httpx.post(f"{shop.base_url}/api/v1/orders", json=making.order_body(), headers=bearer).json()
    assert shop.get(f"/api/v1/orders/{order['id']}", **bearer).json() == order
    assert shop.get("/api/v1/orders", **bearer).json()["data"] == [order]


def test_a_replica_behind_by_more_than_the_limit_is_not_used_until_it_catches_up(
    shop: Shop, place: Restaurant
) -> None:
    shop.standby.ask("SELECT pg_wal_replay_pause()")
    rename(place, "Noma 3.0")
    assert eventually(lambda: shop.name_of("noma") == "Noma 3.0", within_s=5)
    assert shop.fallbacks()["behind"] >= 1
    assert "the replica: more than 1 s behind, so it is not used" in shop.log.read_text()
    shop.standby.ask("SELECT pg_wal_replay_resume()")
    assert eventually(shop.is_in_use, within_s=5)


def test_a_row_missing_on_the_replica_is_read_from_the_primary(shop: Shop) -> None:
    shop.standby.ask("SELECT pg_wal_replay_pause()")
    before = shop.fallbacks().get("refused", 0)
    builders.restaurant(slug="alchemist", name="Alchemist")
    answer = shop.get("/v1/restaurants/alchemist")
    assert (answer.status_code, answer.json()["name"]) == (200, "Alchemist")
    assert shop.get("/v1/restaurants/nobody").status_code == 404
    assert shop.fallbacks()["refused"] - before == 2


def test_stopped_replica_is_noticed_only_by_staff(shop: Shop, place: Restaurant) -> None:
    shop.standby.server.stop()
    assert [shop.get("/v1/restaurants/noma").status_code for _ in range(5)] == [200] * 5
    assert shop.fallbacks()["away"] >= 4
    assert "circuit breaker open: the replica failed, the primary answers all reads" in shop.log.read_text()
    shop.standby.start()
    assert eventually(shop.is_in_use, within_s=5)
    assert "circuit breaker closed: the replica answers again" in shop.log.read_text()


def signalled(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    """Send a signal to those that are still there: a backend may end meanwhile."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def test_a_frozen_replica_delays_requests_by_at_most_two_checks_and_one_connection_attempt(
    shop: Shop, place: Restaurant
) -> None:
    top = psutil.Process(shop.standby.server.pid)
    servers = [top, *top.children(recursive=True)]
    signalled(servers, signal.SIGSTOP)
    try:
        before = time.monotonic()
        assert shop.get("/v1/restaurants/noma").status_code == 200
        # A second until the next look, one of silence, and two for a new connection.
        assert time.monotonic() - before < 9
        assert min(shop.get("/v1/restaurants/noma").elapsed.total_seconds() for _ in range(3)) < 1
    finally:
        signalled(servers, signal.SIGCONT)
    assert eventually(shop.is_in_use, within_s=8)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE catalogue_market SET name = 'Atlantis'", "SELECT nonsense"],
    ids=["that writes", "that only the primary understands"],
)
def test_what_the_replica_cannot_do_the_primary_does(place: Restaurant, nearby: None, statement: str) -> None:
    def read() -> str:
        name = Market.objects.get().name
        if side() == "replica":
            with connection.cursor() as cursor:
                cursor.execute(statement)
        return name

    assert read_replica.read_from_replica(read) == "Copenhagen"
    assert side() == "primary"


def test_a_transaction_stays_where_it_is(place: Restaurant, nearby: None) -> None:
    assert read_replica.read_from_replica(side) == "replica"
    with transaction.atomic():
        assert read_replica.read_from_replica(side) == "primary"


def test_statement_that_timed_out_is_not_retried(place: Restaurant, nearby: None) -> None:
    begun = []

    def read() -> None:
        begun.append(side())
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 50")
            cursor.execute("SELECT pg_sleep(5)")

    with pytest.raises(OperationalError, match="statement timeout"):
        read_replica.read_from_replica(read)
    assert begun == ["replica"]

"""A shop under attack: processes of the product on one database, with a facilitator and a node that may fail."""

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from django.conf import settings

from payments.chain.networks import payment_network
from payments.models import Payment
from tests.catalogue import builders
from tests.payments.facilitators import Script, Server, serving
from tests.support.live_server import served

CONTEXT = "/v1/restaurants/noma?fields=context"
ELSEWHERE = "/v1/restaurants/geranium?fields=context"
PRICE = "0.002"
# What a facilitator may take us at most, and what an answer takes besides.
MAX_RESPONSE_S = 8.5
addresses = (f"198.51.{number // 250 % 250}.{number % 250 + 1}" for number in itertools.count())


def stocked() -> None:
    """Two restaurants with a park nearby: what is around them is sold to everybody."""
    for slug in ("noma", "geranium"):
        builders.restaurant(slug=slug)
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")


def passed_on(url: str) -> Script:
    """Asks another server at this address, and says what it says."""

    def script(content: bytes) -> tuple[int, bytes]:
        response = httpx.post(url, content=content, headers={"Content-Type": "application/json"}, timeout=30)
        return response.status_code, response.content

    return script


@dataclass
class Shop:
    """Its processes by their addresses; the facilitator and the node do what their `script` says, and count."""

    webs: tuple[str, ...]
    facilitator: Server
    node: Server

    def ask(self, path: str = CONTEXT, headers: Mapping[str, str] | None = None, *, web: int = 0) -> httpx.Response:
        """Ask one of the processes, from an address that has not asked before."""
        return ask(self.webs[web % len(self.webs)] + path, headers)

    def mend(self) -> None:
        """Nothing fails any more, and nothing was asked yet."""
        self.facilitator.script = passed_on(f"{settings.FACILITATOR_URL}/settle")
        self.node.script = passed_on(settings.RPC_URL)
        self.facilitator.asked.clear()
        self.node.asked.clear()


def an_address() -> dict[str, str]:
    """The header of an address that has not asked before, to ask from it more than once."""
    return {"X-Forwarded-For": next(addresses)}


def ask(url: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
    """Ask from an address that has not asked before, as the proxy in front of the product says."""
    return httpx.get(url, headers={"X-Forwarded-For": next(addresses), **(headers or {})}, timeout=40)


@contextmanager
def opened(directory: Path, *, processes: int, **environment: str) -> Iterator[Shop]:
    """The shop, while it is needed; its processes have these variables, and a log in the directory."""
    nothing: Script = lambda _: None  # noqa: E731 - replaced at once
    with serving(nothing) as facilitator, serving(nothing) as node:
        shop = Shop(webs=(), facilitator=facilitator, node=node)
        shop.mend()
        given = {
            "FACILITATOR_URL": facilitator.url,
            "RPC_URL": node.url,
            "TRUSTED_PROXIES": "1",
            **environment,
        }
        with all_served(directory, processes, given) as webs:
            shop.webs = webs
            yield shop


@contextmanager
def all_served(directory: Path, processes: int, environment: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """So many web servers; one after the other, for each start takes a core."""
    if processes == 0:
        yield ()
        return
    given: dict[str, Any] = dict(environment)
    with (
        served(directory / f"web-{processes}.log", **given) as web,
        all_served(directory, processes - 1, environment) as others,
    ):
        yield (web, *others)


def workers(web: str) -> list[psutil.Process]:
    """The processes that answer for this address; none once their server has ended."""
    port = web.rpartition(":")[2]
    return [worker for child in psutil.Process().children() if is_granian(child, port) for worker in child.children()]


def oldest_worker(web: str) -> psutil.Process:
    """The process to kill next: Granian ends when one that it started again less than 5.5 seconds ago dies."""
    return min(workers(web), key=psutil.Process.create_time)


def is_granian(process: psutil.Process, port: str) -> bool:
    """Whether it serves at this port. What has ended, and waits to be reaped, has no command any more."""
    try:
        return {"granian", port} <= {*process.cmdline()}
    except psutil.NoSuchProcess:
        return False


def kill(web: str) -> None:
    """SIGKILL of those that answer for this address."""
    for worker in workers(web):
        worker.kill()


def the_one_payment() -> Payment:
    """The only line of the ledger; it is of our asset."""
    row = Payment.objects.get()
    assert (row.network, row.asset) == (payment_network().caip2, payment_network().asset)
    return row


# Fixtures, which all tests find (tests/conftest.py)
@pytest.fixture(scope="session")
def _open_shop(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Started once, for all attacks."""
    with opened(tmp_path_factory.mktemp("shop"), processes=2) as shop:
        yield shop


@pytest.fixture
def attacked(_open_shop: Shop, ledger_matches_chain: None) -> Shop:
    """The shop of two processes with its goods, whole; at the end its ledger and the chain are compared."""
    stocked()
    _open_shop.mend()
    return _open_shop

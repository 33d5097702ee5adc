"""The product on several machines: two web servers behind the proxy, two of PostgreSQL, one of Valkey."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import httpx
import psycopg
import pytest
from django.conf import settings

from config.api.ids import encode
from config.stack import last_lines
from config.stack.valkey import binary
from tests import make
from tests.cluster import nets
from tests.cluster.nets import Site
from tests.cluster.pair import Pair
from tests.running import eventually

DEPLOY = Path(settings.BASE_DIR) / "deploy"
GIVE_UP_S = 40.0
CALLERS = 8
# So that no reader is told to ask less often.
PLAN = """
from django.utils import timezone
for account in Account.objects.all():
    Plan.objects.create(name="load", account=account, per_minute=1_000_000, valid_from=timezone.now())
"""


@dataclass
class Seen:
    """What callers were answered, and when the latest was: orders by their Idempotency-Keys."""

    acknowledged: dict[str, bytes] = field(default_factory=dict)
    moments: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    unanswered: list[str] = field(default_factory=list)
    slowest_s: float = 0

    def gap(self) -> float:
        """The longest time in which nothing was acknowledged, in seconds."""
        return max(after - before for before, after in zip(self.moments, self.moments[1:], strict=False))

    def first_after(self, moment: float) -> float:
        """Seconds from that moment to the next acknowledgement."""
        return min(at for at in self.moments if at > moment) - moment


class Shop:
    """The servers, and the key of a venue."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.pair = Pair(site.machine("pg1"), site.machine("pg2"))
        self.store, self.proxy = site.machine("valkey"), site.machine("proxy")
        self.webs = [site.machine("web1"), site.machine("web2")]
        self.secrets = {"SECRET_KEY": secrets.token_hex(32), "VALKEY": secrets.token_hex(8)}
        self.key = ""
        self.base_url = f"http://{self.proxy.address}:8080"

    @property
    def environment(self) -> dict[str, str]:
        """What our programs find in their environment."""
        state = self.site.folder / "state"
        state.mkdir(exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {
            **kept,
            "DATABASE_URL": self.pair.url,
            "REDIS_URL": f"redis://:{self.secrets['VALKEY']}@{self.store.address}:6379/0",
            "SECRET_KEY": self.secrets["SECRET_KEY"],
            "TABLEWIRE_STATE_DIR": str(state),
            "PUBLIC_BASE_URL": self.base_url,
            "ALLOWED_HOSTS": self.proxy.address,
            "TRUSTED_PROXIES": "1",
            "GRANIAN_BLOCKING_THREADS": "8",
            "EXPORTS_DIR": str(state / "exports"),
        }

    def begin(self) -> None:
        """Start everything but the web servers, with the first rows."""
        self.pair.begin()
        self.store.start(
            "valkey",
            *(str(binary()), "--bind", self.store.address, "--port", "6379", "--save", ""),
            *("--requirepass", self.secrets["VALKEY"], "--dir", str(self.site.folder)),
        )
        for words in (["migrate", "--no-input", "-v", "0"], ["seed", "--json"], ["demo_data", "--restaurants", "200"]):
            told = self.manage(*words)
            if words[0] == "seed":
                self.key = json.loads(told)["management"]["wide_api_key"]
        self.manage("shell", "-c", PLAN)
        self.pair.follow()
        servers = {f"WEB_{number}": f"{web.address}:8000" for number, web in enumerate(self.webs, 1)}
        self.proxy.start(
            *("haproxy", "haproxy", "-f", str(DEPLOY / "haproxy.cfg")),
            env={
                **os.environ,
                **servers,
                "HTTP_BIND": f"{self.proxy.address}:8080",
                "STATS_BIND": f"{self.proxy.address}:8404",
                "RETRY_READS": "1",
            },
        )

    def manage(self, *words: str) -> str:
        """What a command of ours says."""
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(
            command, cwd=settings.BASE_DIR, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def serve(self, number: int, **more: str) -> None:
        """Start a web server, and return when it answers."""
        web = self.webs[number]
        child = web.start(
            *("granian", sys.executable, "-m", "granian", "config.wsgi:application", "--interface", "wsgi"),
            *("--http", "1", "--no-ws", "--host", web.address, "--port", "8000", "--workers", "1"),
            *("--runtime-mode", "st", "--workers-kill-timeout", "2"),
            env={**self.environment, **more},
            cwd=Path(settings.BASE_DIR),
        )
        ready = f"http://{web.address}:8000/readyz"
        assert eventually(lambda: status_of(ready) == 200, within_s=60), last_lines(child.log, lines=30)

    def serve_all(self, **more: str) -> None:
        """Start both anew, and return when the proxy gives to both."""
        for number, web in enumerate(self.webs):
            web.kill()
            self.serve(number, **more)
        assert eventually(lambda: status_of(f"{self.base_url}/readyz") == 200, within_s=20)
        time.sleep(3)

    def client(self) -> httpx.Client:
        """A caller that keeps its connection."""
        return httpx.Client(headers={"Authorization": f"Bearer {self.key}"}, timeout=GIVE_UP_S)

    def post(self, client: httpx.Client, name: str) -> httpx.Response:
        """Order once under this Idempotency-Key; before the dash stands the customer."""
        body = make.order_body(customer_id=name.partition("-")[0])
        return client.post(f"{self.base_url}/api/v1/orders", json=body, headers={"Idempotency-Key": name})

    def stored(self, customer: str) -> set[str]:
        """The ids of a customer's orders where they are written."""
        with psycopg.connect(self.pair.primary.url) as database:
            found = database.execute("SELECT id FROM orders_order WHERE customer_id = %s", [customer]).fetchall()
        return {encode("ord", key) for (key,) in found}

    def check(self, seen: Seen, *, customer: str) -> None:
        """Each acknowledged order is there once, and its call is answered the same bytes again."""
        assert seen.unanswered == []
        ids = {json.loads(content)["id"] for content in seen.acknowledged.values()}
        assert len(ids) == len(seen.acknowledged)
        assert ids - self.stored(customer) == set(), "acknowledged and lost"
        assert self.stored(customer) - ids == set(), "made twice, or for nobody"
        with self.client() as client:
            for name, content in list(seen.acknowledged.items())[-100:]:
                again = self.post(client, name)
                assert (again.status_code, again.content) == (201, content)


def status_of(url: str) -> int:
    """The status of an answer; 0 without one."""
    try:
        return httpx.get(url, timeout=5).status_code
    except httpx.TransportError:
        return 0


@contextmanager
def ordering(shop: Shop, *, customer: str, before_s: float = 3, after_s: float = 4) -> Iterator[Seen]:
    """Callers that order as fast as they can, and send again what was not acknowledged."""
    seen, enough = Seen(), Event()

    def call(caller: int) -> None:
        with shop.client() as client:
            number = 0
            while not enough.is_set():
                until_acknowledged(client, f"{customer}-{caller}-{number}")
                number += 1

    def until_acknowledged(client: httpx.Client, name: str) -> None:
        until = time.monotonic() + GIVE_UP_S
        while time.monotonic() < until:
            try:
                answer = shop.post(client, name)
            except httpx.TransportError as error:
                seen.broken[type(error).__name__] += 1
                time.sleep(0.05)
                continue
            seen.statuses[answer.status_code] += 1
            if answer.status_code == 201:
                seen.acknowledged[name] = answer.content
                seen.moments.append(time.monotonic())
                return
            time.sleep(0.05)
        seen.unanswered.append(name)

    with callers(enough, call):
        time.sleep(before_s)
        yield seen
        time.sleep(after_s)


@contextmanager
def reading(shop: Shop, *paths: str, before_s: float = 2, after_s: float = 4) -> Iterator[Seen]:
    """Callers that read through the proxy, and never ask twice."""
    seen, enough = Seen(), Event()

    def call(caller: int) -> None:
        with shop.client() as client:
            number = caller
            while not enough.is_set():
                number += 1
                try:
                    answer = client.get(f"{shop.base_url}{paths[number % len(paths)]}")
                except httpx.TransportError as error:
                    seen.broken[type(error).__name__] += 1
                    continue
                seen.statuses[answer.status_code] += 1
                seen.moments.append(time.monotonic())
                seen.slowest_s = max(seen.slowest_s, answer.elapsed.total_seconds())

    with callers(enough, call):
        time.sleep(before_s)
        yield seen
        time.sleep(after_s)


@contextmanager
def callers(enough: Event, call: Callable[[int], None]) -> Iterator[None]:
    """So many threads that call until it is enough, which it is at the end of the block; what they raise is raised."""
    with ThreadPoolExecutor(CALLERS) as pool:
        calls = [pool.submit(call, caller) for caller in range(CALLERS)]
        try:
            yield
        finally:
            enough.set()
    for one in calls:
        one.result()


def told(statuses: Mapping[int, int]) -> str:
    """Counts of answers in words."""
    return ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))


@contextmanager
def begun(folder: Path) -> Iterator[Shop]:
    """A shop on machines of its own, without web servers; they end with the block. Skips where there can be none."""
    if reason := nets.missing():
        pytest.skip(reason)
    with nets.site(folder) as site:
        shop = Shop(site)
        shop.begin()
        yield shop

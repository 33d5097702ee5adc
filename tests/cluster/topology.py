"""The product on several machines: two web servers behind the proxy, two of PostgreSQL, one of Valkey."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import httpx
import psycopg
import pytest
from django.conf import settings

from config.dev_stack.processes import last_lines
from config.dev_stack.valkey import binary
from config.up.supervisor import WEB_THREADS
from framework.public_ids import encode
from tests.cluster import network
from tests.cluster.network import Site
from tests.cluster.replication import Pair
from tests.support.live_stack import eventually
from tests.support.order_load import Seen, Shop, calling

DEPLOY = Path(settings.BASE_DIR) / "deploy"
# So that no reader is told to ask less often.
PLAN = """
from django.utils import timezone
for account in Account.objects.all():
    Plan.objects.create(name="load", account=account, per_minute=1_000_000, valid_from=timezone.now())
"""


class Cluster(Shop):
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
        retained = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {
            **retained,
            "DATABASE_URL": self.pair.url,
            "REDIS_URL": f"redis://:{self.secrets['VALKEY']}@{self.store.address}:6379/0",
            "SECRET_KEY": self.secrets["SECRET_KEY"],
            "TABLEWIRE_STATE_DIR": str(state),
            "PUBLIC_BASE_URL": self.base_url,
            "ALLOWED_HOSTS": self.proxy.address,
            "TRUSTED_PROXIES": "1",
            "GRANIAN_BLOCKING_THREADS": str(WEB_THREADS),
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
            payload = self.manage(*words)
            if words[0] == "seed":
                self.key = json.loads(payload)["management"]["wide_api_key"]
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

    def stored(self, customer: str) -> set[str]:
        """The ids of a customer's orders where they are written."""
        with psycopg.connect(self.pair.primary.url) as database:
            found = database.execute("SELECT id FROM orders_order WHERE customer_id = %s", [customer]).fetchall()
        return {encode("ord", key) for (key,) in found}


def status_of(url: str) -> int:
    """The status of an answer; 0 without one."""
    try:
        return httpx.get(url, timeout=5).status_code
    except httpx.TransportError:
        return 0


@contextmanager
def reading(shop: Cluster, *paths: str, before_s: float = 2, after_s: float = 4) -> Iterator[Seen]:
    """Callers that read through the proxy, and never ask twice."""
    seen = Seen()

    def call(caller: int, enough: Event) -> None:
        with shop.client() as client:
            number = caller
            while not enough.is_set():
                number += 1
                try:
                    answer = client.get(paths[number % len(paths)])
                except httpx.TransportError as error:
                    seen.broken[repr(error)] += 1
                    continue
                seen.statuses[answer.status_code] += 1
                seen.moments.append(time.monotonic())
                seen.took_s.append(answer.elapsed.total_seconds())

    with calling(call, before_s=before_s, after_s=after_s):
        yield seen


def payload(statuses: Mapping[int, int]) -> str:
    """Counts of answers in words."""
    return ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))


@contextmanager
def begun(folder: Path) -> Iterator[Cluster]:
    """A shop on machines of its own, without web servers; they end with the block. Skips where there can be none."""
    if reason := network.missing():
        pytest.skip(reason)
    with network.site(folder) as site:
        shop = Cluster(site)
        shop.begin()
        yield shop

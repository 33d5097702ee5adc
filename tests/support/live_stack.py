"""A `manage.py up` for tests: started once, requested over HTTP."""

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import psycopg
import pytest
from django.conf import settings

from tests.support.stack_marker import require_stack_marker

REPLACEMENTS = (
    *("DATABASE_URL", "REDIS_URL", "BROKER_URL", "SECRET_KEY", "PUBLIC_BASE_URL", "ALLOWED_HOSTS"),
    *("RPC_URL", "FACILITATOR_URL", "PAYMENT_NETWORK", "PAY_TO", "TOKEN_ADDRESS", "TOKEN_PRICE_FEED", "TIER_CACHE_S"),
    "TIER_UPGRADE_AGE_S",
)


@dataclass(frozen=True)
class Up:
    """A running `manage.py up`: its process and its up.json."""

    process: subprocess.Popen[bytes]
    state_dir: Path
    record: dict[str, Any]

    @property
    def pids(self) -> list[int]:
        """The process ids in up.json."""
        return [pid for pid in self.record["pids"].values() if pid is not None]


def environment(state_dir: Path) -> dict[str, str]:
    """This environment with the servers of `state_dir` instead of those of the test run."""
    others = {name: value for name, value in os.environ.items() if name not in REPLACEMENTS}
    return {**others, "TABLEWIRE_STATE_DIR": str(state_dir)}


def manage(state_dir: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run another command on the state directory."""
    command = [sys.executable, "manage.py", *arguments]
    env = environment(state_dir) | more
    return subprocess.run(command, cwd=settings.BASE_DIR, env=env, capture_output=True, text=True, check=False)


@contextmanager
def running(state_dir: Path, *arguments: str, **more: str) -> Iterator[Up]:
    """A ready `manage.py up` on a free port, with `more` in its environment; it stops at the end of the block."""
    require_stack_marker()
    command = [sys.executable, "manage.py", "up", "--port", "0", "--json", "--state-dir", str(state_dir), *arguments]
    # Tests set X-Forwarded-For: each address has its own rate limit.
    env = environment(state_dir.with_name("not used")) | {"TRUSTED_PROXIES": "1"} | more
    with subprocess.Popen(command, cwd=settings.BASE_DIR, env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield Up(process=process, state_dir=state_dir, record=json.loads(process.stdout.readline()))
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A seeded run with 60 restaurants, shared by tests that leave it unchanged."""
    with running(tmp_path_factory.mktemp("up") / "state with spaces", "--restaurants", "60") as up:
        yield up
        assert ledger(up) == income(up), "The ledger and the chain differ."


def ledger(up: Up) -> Decimal:
    """The sum of the payments in the ledger, in USDC."""
    with psycopg.connect(up.record["database_url"]) as database:
        paid = "SELECT coalesce(sum(amount_usdc), 0) FROM payments_payment WHERE state = ANY(%s)"
        row = database.execute(paid, [["settled", "delivered", "refund_due", "refunded"]]).fetchone()
    assert row is not None
    return Decimal(row[0])


def income(up: Up) -> Decimal:
    """The sum of the payments on the chain, in USDC: the balance of the receiver, who has spent nothing."""
    chain = up.record["chain"]
    # The selector of balanceOf(address).
    query = {"to": chain["usdc"], "data": "0x70a08231" + chain["pay_to"].removeprefix("0x").rjust(64, "0")}
    call = {"jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": [query, "latest"]}
    return Decimal(int(httpx.post(chain["rpc_url"], json=call).json()["result"], 16)) / 10**6


def ask(url: str, *, method: str = "GET", key: str | None = None, body: Any = None) -> tuple[int, Any]:
    """Send a request; return the status and the JSON of the response."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    connection.request(method, url, body=body and json.dumps(body), headers=headers)
    response = connection.getresponse()
    content = json.loads(response.read())
    connection.close()
    return response.status, content


def eventually(holds: Callable[[], bool], *, within_s: float = 30) -> bool:
    """Poll until the condition holds or the time is over."""
    until = time.monotonic() + within_s
    while not (result := holds()) and time.monotonic() < until:
        time.sleep(0.05)
    return result


def is_alive(pid: int) -> bool:
    """Whether the process runs and is no zombie."""
    return psutil.pid_exists(pid) and bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)

"""PgBouncer, as deploy/pgbouncer.ini sets it, between a web server and PostgreSQL."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psycopg
import pytest

from accounts.models import ApiKey
from tests.catalogue import builders
from tests.cluster.figures import tell
from tests.cluster.pgbouncer import answers, bouncing
from tests.support import builders as making
from tests.support.live_server import database_url, served

pytestmark = [pytest.mark.cluster, pytest.mark.django_db(transaction=True)]

# Fewer than the threads of the web server, so that each of them is served by all in turn.
POOL = 2


@pytest.fixture
def pooled(tmp_path: Path, transactional_db: None) -> Iterator[str]:
    """The address of the pooler."""
    with bouncing(database_url(), tmp_path / "pool", default_pool_size=POOL, reserve_pool_size=0) as url:
        yield url


def test_sixteen_callers_share_two_connections_and_none_of_them_notices(
    pooled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    venue = making.venue()
    key = ApiKey.create(venue, name="test", allowance=1_000_000).text
    for number in range(5):
        builders.restaurant(slug=f"noma-{number}", name=f"Noma {number}")
    calls = [
        ("GET", "/v1/restaurants/noma-1"),
        ("GET", "/v1/restaurants?ll=55.67,12.56&limit=3"),
        ("GET", "/v1/restaurants?q=nmoa"),
        ("POST", "/api/v1/orders"),
        ("GET", "/api/v1/orders?limit=2"),
        ("GET", "/api/v1/reservations"),
    ] * 50
    through = f"{pooled}?disable_server_side_cursors=true"
    environment = {"GRANIAN_BLOCKING_THREADS": "16", "TRUSTED_PROXIES": "1"}
    with served(tmp_path / "web.log", DATABASE_URL=through, **environment) as base_url, httpx.Client() as client:

        def ask(number: int) -> tuple[str, int]:
            method, path = calls[number]
            headers = {"X-Forwarded-For": f"192.0.{number // 200}.{number % 200}"}
            if path.startswith("/api/"):
                headers["Authorization"] = f"Bearer {key}"
            body = making.order_body() if method == "POST" else None
            return path, client.request(method, f"{base_url}{path}", json=body, headers=headers).status_code

        with ThreadPoolExecutor(16) as callers:
            answered = Counter(callers.map(ask, range(len(calls))))
        log = (tmp_path / "web.log").read_text()
    assert answered == {(path, 201 if method == "POST" else 200): 50 for method, path in set(calls)}, log[-2000:]
    tell(capsys, f"PgBouncer: 300 calls of 16 threads through {POOL} connections to PostgreSQL, none failed")


def test_sessions_have_the_limits_that_the_web_servers_wish_for_and_no_others_are_let_in(pooled: str) -> None:
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    wished = " ".join(f"-c {name}=1" for name in names)
    with psycopg.connect(pooled, options=wished, autocommit=True) as database:
        assert [database.execute(f"SHOW {name}".encode()).fetchone() for name in names] == [("5s",), ("3s",), ("10s",)]
    with pytest.raises(psycopg.OperationalError, match="unsupported startup parameter in options: work_mem"):
        psycopg.connect(pooled, options="-c work_mem=1GB")


def test_callers_without_a_free_connection_are_asked_to_retry(pooled: str, tmp_path: Path) -> None:
    with served(tmp_path / "web.log", DATABASE_URL=pooled, TRUSTED_PROXIES="1") as base_url:
        held = [psycopg.connect(pooled) for _ in range(POOL)]
        for one in held:
            one.execute("SELECT 1")
        answer = httpx.get(f"{base_url}/v1/restaurants", timeout=10)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
        for one in held:
            one.close()
        assert answers(pooled)
        assert httpx.get(f"{base_url}/v1/restaurants").status_code == 200

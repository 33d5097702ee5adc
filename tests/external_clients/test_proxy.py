"""deploy/haproxy.cfg as it is shipped, before a real `manage.py up`, and before servers that break."""

import gzip
import http.client
import json
import shutil
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.proxy import run_haproxy
from config.dev_stack.processes import last_lines
from tests.external_clients.fault_proxy import FailingServer
from tests.support.live_stack import Up, eventually

pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(shutil.which("haproxy") is None, reason="HAProxy is not installed: apt-get install haproxy"),
]

NOWHERE = "127.0.0.1:1"
# Of each of the two processes that `up` has on two cores; more slow bodies than threads are sent.
SLOW = 40


def start_proxy(held: ExitStack, tmp_path: Path, *servers: str, **more: str) -> int:
    """The port of a proxy before these servers, once it answers."""
    log = tmp_path / "haproxy.log"
    port, child = held.enter_context(run_haproxy(servers, log=log, **more))

    def answers() -> bool:
        with socket.socket() as line:
            return line.connect_ex(("127.0.0.1", port)) == 0

    assert eventually(answers, within_s=5), last_lines(child.log)
    return port


@pytest.fixture
def proxy_url(up: Up, tmp_path: Path) -> Iterator[str]:
    """The URL of a proxy before `up` and a second server that is dead."""
    with ExitStack() as held:
        port = start_proxy(held, tmp_path, up.record["base_url"].removeprefix("http://"), NOWHERE)
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def failing_server(tmp_path: Path) -> Iterator[tuple[FailingServer, str]]:
    """A server that echoes its request headers and fails on demand, and the URL of the proxy before it."""
    with ExitStack() as held:
        server = held.enter_context(FailingServer())
        port = start_proxy(held, tmp_path, f"127.0.0.1:{server.port}")
        yield server, f"http://127.0.0.1:{port}"


def exchange(base_url: str, sent: bytes) -> bytes:
    """What comes back for these bytes."""
    host, _, port = base_url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as line:
        line.sendall(sent)
        line.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: line.recv(65536), b""))


def a_restaurant(proxy_url: str) -> str:
    """The address of a record."""
    slug = httpx.get(f"{proxy_url}/v1/restaurants?limit=1").json()["data"][0]["slug"]
    return f"{proxy_url}/v1/restaurants/{slug}"


def an_order(up: Up, proxy_url: str, **headers: str) -> httpx.Response:
    """The answer to an order that is placed through the proxy."""
    order = {
        "customer_id": "ada",
        "items": [{"menu_item_id": "margherita", "quantity": 1}],
        "delivery_address": "1 Main St",
        "payment_method": "card",
    }
    key = {"Authorization": f"Bearer {up.record['management']['api_key']}"}
    return httpx.post(f"{proxy_url}/api/v1/orders", json=order, headers=key | headers)


def test_the_caller_address_is_that_of_the_connection_and_not_of_its_headers(
    failing_server: tuple[FailingServer, str],
) -> None:
    _, proxy_url = failing_server
    sent = (
        b"GET /v1/echo HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n"
        b"X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2, 192.0.2.3\r\nX_Forwarded_For: 192.0.2.4\r\n"
        b"X-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example\r\nForwarded: for=192.0.2.5\r\n"
        b"X-Real-IP: 192.0.2.6\r\nProxy: http://evil.example\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n"
        b"Content_Length: 7\r\nX-Kept: yes\r\n\r\n"
    )
    echoed = json.loads(exchange(proxy_url, sent).partition(b"\r\n\r\n")[2])
    assert sorted(echoed) == [
        ["host", "example.com"],
        ["x-forwarded-for", "127.0.0.1"],
        ["x-forwarded-proto", "http"],
        ["x-kept", "yes"],
    ]


def test_forged_addresses_do_not_raise_the_rate_limit(proxy_url: str) -> None:
    def left(number: int) -> tuple[str, int]:
        forged = {"X-Forwarded-For": f"192.0.2.{number}", "X_Forwarded_For": f"198.51.100.{number}"}
        answer = httpx.get(f"{proxy_url}/v1/markets", headers=forged)
        return answer.headers["X-RateLimit-Reset"], int(answer.headers["X-RateLimit-Remaining"])

    counted = [left(number) for number in range(4)]
    # A window may end on the way.
    falls = [first[1] - second[1] for first, second in pairwise(counted) if first[0] == second[0]]
    assert len(falls) >= 2
    assert set(falls) == {1}


@pytest.mark.parametrize("body", [b"abc", b"a" * 500_000], ids=["small", "large"])
def test_slow_request_bodies_do_not_block_other_requests(up: Up, proxy_url: str, body: bytes) -> None:
    host, _, port = proxy_url.removeprefix("http://").partition(":")
    key = up.record["management"]["api_key"]
    # Of one source no more than twenty large ones are let in; the others are refused at once.
    head = (
        f"POST /api/v1/orders HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body) + 1}\r\n\r\n"
    )
    with ExitStack() as held:
        for _ in range(SLOW):
            line = held.enter_context(socket.create_connection((host, int(port)), timeout=10))
            line.sendall(head.encode() + body)
        # They last until the timeout of the proxy, after twenty seconds.
        assert [httpx.get(f"{proxy_url}/livez", timeout=4).status_code for _ in range(4)] == [200] * 4


def test_more_large_bodies_of_one_source_than_twenty_are_refused(failing_server: tuple[FailingServer, str]) -> None:
    server, proxy_url = failing_server
    host, _, port = proxy_url.removeprefix("http://").partition(":")
    head = b"POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\nabc"
    with ExitStack() as held:
        lines = []
        for _ in range(21):
            lines.append(held.enter_context(socket.create_connection((host, int(port)), timeout=10)))
            lines[-1].sendall(head)
            time.sleep(0.01)
        refused = lines[-1].recv(65536).decode()
        assert refused.startswith("HTTP/1.1 429 ")
        assert json.loads(refused.partition("\r\n\r\n")[2])["error"]["code"] == "rate_limit_exceeded"
    assert eventually(lambda: httpx.post(f"{proxy_url}/v1/echo", content=b"a" * 100_000).status_code == 200)
    assert server.asked.count("POST /v1/echo") == 1


def test_a_dead_server_gets_no_requests(up: Up, proxy_url: str) -> None:
    with httpx.Client(base_url=proxy_url) as client:
        assert [client.get("/livez").status_code for _ in range(20)] == [200] * 20
    statuses = [an_order(up, proxy_url).status_code for _ in range(4)]
    assert statuses == [201] * 4


@pytest.mark.parametrize("header", ["PAYMENT-SIGNATURE", "X-Payment"])
def test_payments_go_to_servers_of_their_own_and_to_others_where_these_are_not_ready(
    failing_server: tuple[FailingServer, str], tmp_path: Path, header: str
) -> None:
    readers, _ = failing_server
    path, pays = "/v1/restaurants/noma?fields=context", {header: "a payment"}
    with ExitStack() as held:
        payers = held.enter_context(FailingServer())
        port = start_proxy(held, tmp_path, f"127.0.0.1:{readers.port}", PAY_1=f"127.0.0.1:{payers.port}")
        proxy_url = f"http://127.0.0.1:{port}"

        def asks(path: str, headers: Mapping[str, str]) -> tuple[int, int]:
            had = len(readers.asked), len(payers.asked)
            assert httpx.get(f"{proxy_url}{path}", headers=headers).status_code == 200
            address = f"GET {path}"
            return readers.asked[had[0] :].count(address), payers.asked[had[1] :].count(address)

        assert (asks(path, pays), asks(path, {})) == ((0, 1), (1, 0))
        # So do those of x402 clients for an order.
        assert asks("/order/ven_1/placed/token/pay", pays) == (0, 1)
        assert asks("/order/ven_1/placed/token", pays) == (1, 0)
        # People are shown pages, whatever they send.
        assert asks("/dashboard/", pays) == (1, 0)
        payers.is_ready = False
        assert eventually(lambda: asks(path, pays) == (1, 0), within_s=10)


def test_proxy_without_servers_answers_programs_in_json_and_people_in_html(tmp_path: Path) -> None:
    with ExitStack() as held:
        proxy_url = f"http://127.0.0.1:{start_proxy(held, tmp_path, NOWHERE)}"
        for path in ("/v1/restaurants", "/api/v1/orders", "/mcp", "/openapi.json"):
            answer = httpx.post(f"{proxy_url}{path}", json={})
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
            assert answer.headers["Content-Type"] == "application/json"
            assert answer.json() == {
                "error": {
                    "code": "service_unavailable",
                    "message": "The service is not available for a moment. Try again.",
                    "param": None,
                    "request_id": answer.headers["X-Request-Id"],
                    "details": [],
                }
            }
            assert answer.headers["X-Request-Id"].startswith("req_")
        page = httpx.get(f"{proxy_url}/dashboard/")
        assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
        assert page.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "<h1>Temporarily unavailable</h1>" in page.text


def test_a_server_that_is_not_ready_is_given_nothing_until_it_is(failing_server: tuple[FailingServer, str]) -> None:
    server, proxy_url = failing_server
    server.is_ready = False
    assert eventually(lambda: httpx.get(f"{proxy_url}/v1/echo").status_code == 503)
    before = server.asked.count("GET /v1/echo")
    assert httpx.get(f"{proxy_url}/v1/echo").status_code == 503
    assert server.asked.count("GET /v1/echo") == before
    server.is_ready = True
    assert eventually(lambda: httpx.get(f"{proxy_url}/v1/echo").status_code == 200)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "GET"])
def test_what_a_server_has_been_sent_is_never_sent_again(
    failing_server: tuple[FailingServer, str], method: str
) -> None:
    server, proxy_url = failing_server
    answer = httpx.request(method, f"{proxy_url}/v1/dies", headers={"Idempotency-Key": "first"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "service_unavailable")
    assert answer.headers["Retry-After"] == "2"
    assert server.asked.count(f"{method} /v1/dies") == 1


def test_a_compressed_response_is_revalidated_by_its_etag(proxy_url: str) -> None:
    address = a_restaurant(proxy_url)
    plain = httpx.get(address, headers={"Accept-Encoding": "identity"})
    small = httpx.get(address, headers={"Accept-Encoding": "gzip"})
    assert (small.headers["Content-Encoding"], small.content) == ("gzip", plain.content)
    assert "Accept-Encoding" in small.headers["Vary"]
    assert small.headers["ETag"] == f"W/{plain.headers['ETag'].removeprefix('W/')}"
    for tag in (small.headers["ETag"], plain.headers["ETag"]):
        again = httpx.get(address, headers={"Accept-Encoding": "gzip", "If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")


def test_orders_keep_the_strong_etag_that_if_match_needs(up: Up, proxy_url: str) -> None:
    placed = an_order(up, proxy_url, **{"Accept-Encoding": "gzip"})
    assert (placed.headers["ETag"], placed.headers.get("Content-Encoding")) == ('"1"', None)
    address = f"{proxy_url}/api/v1/orders/{placed.json()['id']}"
    key = {"Authorization": f"Bearer {up.record['management']['api_key']}", "Accept-Encoding": "gzip"}
    read = httpx.get(address, headers=key)
    assert read.headers["ETag"] == '"1"'
    moved = httpx.put(f"{address}/status", json={"status": "completed"}, headers=key | {"If-Match": '"1"'})
    assert moved.status_code == 200


def test_pages_with_a_session_are_not_compressed(proxy_url: str) -> None:
    assert "Content-Encoding" not in httpx.get(f"{proxy_url}/account/login/").headers
    assert httpx.get(f"{proxy_url}/docs").headers["Content-Encoding"] == "gzip"


def test_a_big_answer_flows_while_it_is_made(failing_server: tuple[FailingServer, str]) -> None:
    server, proxy_url = failing_server
    with httpx.stream("GET", f"{proxy_url}/v1/flows", headers={"Accept-Encoding": "gzip"}) as answer:
        pieces = answer.iter_raw()
        first = next(pieces)
        assert first.startswith(b"first")
        server.go_on.set()
        assert len(first) + sum(map(len, pieces)) == len(b"first") + 20 * 1024 * 1024


def test_a_malformed_request_reaches_no_server(failing_server: tuple[FailingServer, str]) -> None:
    server, proxy_url = failing_server
    server.asked.clear()
    for wrong in (
        b"GET /v1/echo HTTP/1.1\r\nHost: a\r\nBad Header: 1\r\n\r\n",
        b"GET /v1/echo HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST /v1/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    ):
        assert exchange(proxy_url, wrong).split()[1] == b"400", wrong
    assert exchange(proxy_url, b"TRACE /v1/echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").split()[1] == b"405"
    huge = b"POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n"
    assert exchange(proxy_url, huge).split()[1] == b"413"
    assert [one for one in server.asked if one != "GET /readyz"] == []


def test_each_request_is_logged_as_json_with_its_request_id(proxy_url: str, tmp_path: Path) -> None:
    answer = httpx.get(f"{proxy_url}/v1/markets?q=secret")
    log = tmp_path / "haproxy.log"
    wanted = answer.headers["X-Request-Id"]

    def line() -> dict[str, Any]:
        lines = [json.loads(one) for one in log.read_text().splitlines() if one.startswith("{")]
        return next((one for one in lines if one["request_id"] == wanted), {})

    assert eventually(lambda: bool(line()), within_s=5)
    assert (line()["path"], line()["status"], line()["source"]) == ("/v1/markets", answer.status_code, "127.0.0.1")
    httpx.get(f"{proxy_url}/guest/a-token-of-a-guest/cancel")
    assert eventually(lambda: "guest" in log.read_text(), within_s=5)
    assert "secret" not in log.read_text()
    httpx.get(f"{proxy_url}/order/ven_1/placed/a-token-of-a-guest/pay")
    assert eventually(lambda: "placed" in log.read_text(), within_s=5)
    assert "a-token-of-a-guest" not in log.read_text()


def test_agents_get_errors_as_json_and_their_sessions_are_not_logged(tmp_path: Path) -> None:
    """The id of a checkout session is the secret of the agent that orders."""
    log = tmp_path / "haproxy.log"
    with ExitStack() as held:
        port = start_proxy(held, tmp_path, NOWHERE)
        sessions = f"http://127.0.0.1:{port}/ucp/2026-08-25/checkout-sessions"
        for path in ("/chk_secret", "/chk_secret/complete"):
            answer = httpx.post(f"{sessions}{path}", json={})
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "service_unavailable")
        assert eventually(lambda: "complete" in log.read_text(), within_s=5)
    paths = [json.loads(one)["path"] for one in log.read_text().splitlines() if one.startswith("{")]
    assert paths == [f"/ucp/2026-08-25/checkout-sessions/-{action}" for action in ("", "/complete")]


def test_gzip_works_with_any_client(proxy_url: str) -> None:
    connection = http.client.HTTPConnection(proxy_url.removeprefix("http://"), timeout=30)
    connection.request("GET", "/openapi.json", headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    raw = answer.read()
    connection.close()
    assert answer.headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(raw))["openapi"].startswith("3.1")

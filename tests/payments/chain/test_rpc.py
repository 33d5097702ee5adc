"""The JSON-RPC client: results, errors, and nodes that are away or hang."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from framework.resilience.bulkhead import REQUEST_THREADS
from framework.resilience.deadline import response_deadline
from payments.chain import rpc
from payments.devchain.wallets import Wallet as Key
from tests.payments.signing import client_of
from tests.support.live_server import NOWHERE, THREADS, served
from tests.support.live_stack import eventually

Answer = Callable[[Any], tuple[int, bytes]]
# The web application, which waits longer for the node.
PATIENT = "tests.payments.chain.patient_app:application"


@contextmanager
def node(answer: Answer, *, a_connection: int | None = None) -> Iterator[str]:
    """The URL of a node that answers like this; it closes a connection after `a_connection` answers."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        answered = 0

        def do_POST(self) -> None:
            if self.answered == a_connection:
                self.close_connection = True
                return
            self.answered += 1
            status, content = answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        # Connections stay open, so their threads are not joined.
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            rpc.http_client.get().close()
            rpc.http_client.reset()


def echo(question: Any) -> tuple[int, bytes]:
    """Each call's result is its method and its parameters; a batch is answered in reverse order."""
    calls = question if isinstance(question, list) else [question]
    answers = [{"jsonrpc": "2.0", "id": call["id"], "result": [call["method"], call["params"]]} for call in calls]
    return 200, json.dumps(answers[::-1] if isinstance(question, list) else answers[0]).encode()


def always(content: Any, *, status: int = 200) -> Answer:
    """A node with the same answer to every request."""
    return lambda _: (status, content if isinstance(content, bytes) else json.dumps(content).encode())


# Results
def test_a_call_returns_its_result(settings: Settings) -> None:
    with node(echo) as settings.RPC_URL:
        assert rpc.call("eth_call", {"to": "0x00"}, "latest") == ["eth_call", [{"to": "0x00"}, "latest"]]


def test_a_batch_returns_results_in_the_order_of_its_calls(settings: Settings) -> None:
    with node(echo) as settings.RPC_URL:
        assert rpc.batch([("one", ()), ("two", (2,)), ("three", (3, 3))]) == [
            ["one", []],
            ["two", [2]],
            ["three", [3, 3]],
        ]


@pytest.mark.exhaustive
def test_eight_threads_get_the_results_of_their_own_calls(settings: Settings) -> None:
    with node(echo) as settings.RPC_URL, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda number: rpc.call("ask", number), range(200)))
    assert answers == [["ask", [number]] for number in range(200)]


def test_a_forked_process_has_its_own_connections(settings: Settings) -> None:
    with node(echo) as settings.RPC_URL:
        rpc.call("before")
        mine = rpc.http_client.get()
        child = os.fork()
        if child == 0:
            is_fresh = rpc.http_client.client is None
            os._exit(0 if is_fresh and rpc.call("inside") == ["inside", []] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert rpc.http_client.get() is mine
        assert rpc.call("after") == ["after", []]


# A node that is away or answers with an error
def test_a_node_that_is_away_gives_503_with_retry_after(settings: Settings) -> None:
    settings.RPC_URL = f"http://{NOWHERE}"
    with pytest.raises(rpc.RpcUnavailable) as caught:
        rpc.call("eth_chainId")
    refusal = caught.value
    assert (refusal.code, refusal.status, refusal.headers) == ("service_unavailable", 503, {"Retry-After": "5"})


def test_a_node_that_is_away_opens_the_breaker_and_its_url_is_not_logged(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.RPC_URL = f"http://{NOWHERE}/v2/a-secret-key"
    for _ in range(3):
        with pytest.raises(rpc.RpcUnavailable):
            rpc.call("eth_chainId")
    assert [record.getMessage() for record in caplog.records] == [
        "the chain's node did not answer: ConnectError",
        "circuit breaker open: the chain's node failed, calls are refused: ConnectError",
    ]


def test_a_node_that_was_away_is_probed_after_the_recovery_time(settings: Settings) -> None:
    with node(echo) as address:
        settings.RPC_URL = address
        rpc.get_breaker(address).record_failure("away")
        with pytest.raises(rpc.RpcUnavailable):
            rpc.call("eth_chainId")
        rpc.get_breaker(address).next_probe_at = time.monotonic()
        assert rpc.call("eth_chainId") == ["eth_chainId", []]


@pytest.mark.parametrize(
    "answer",
    [
        always(b"<html>"),
        always(b""),
        always(b"\xff\xfe"),
        always(b"rate limited", status=429),
        always([]),
        always("words"),
        always({"jsonrpc": "2.0", "id": 7, "result": "0x1"}),
        always({"jsonrpc": "2.0", "id": 0}),
    ],
)
def test_an_invalid_answer_of_the_node_is_an_error(settings: Settings, answer: Answer) -> None:
    with node(answer) as settings.RPC_URL, pytest.raises(rpc.RpcUnavailable):
        rpc.call("eth_chainId")


def test_the_reason_of_an_rpc_error_is_not_shown_to_the_caller(settings: Settings) -> None:
    error = {"code": 3, "message": "execution reverted"}
    answer = always({"jsonrpc": "2.0", "id": 0, "error": error})
    with node(answer) as settings.RPC_URL, pytest.raises(rpc.RpcError) as caught:
        rpc.call("eth_call")
    assert caught.value.reason == f"eth_call: {error}"
    assert caught.value.message == "The chain cannot be read for a moment. Try again."


def test_a_batch_fails_as_a_whole_where_the_node_supports_none(settings: Settings) -> None:
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no batches"}}
    with node(always(refusal)) as settings.RPC_URL, pytest.raises(rpc.RpcError, match="chain cannot be read"):
        rpc.batch([("one", ()), ("two", ())])


def test_a_connection_that_the_node_closes_is_replaced(settings: Settings) -> None:
    with node(echo, a_connection=1) as address:
        settings.RPC_URL = address
        assert [rpc.call("eth_chainId") for _ in range(3)] == [["eth_chainId", []]] * 3


# A node that hangs
@contextmanager
def hanging() -> Iterator[tuple[str, list[Any], threading.Event]]:
    """The URL of a node that answers nothing until the event, and its requests."""
    asked: list[Any] = []
    over = threading.Event()

    def answer(question: Any) -> tuple[int, bytes]:
        asked.append(question)
        over.wait(30)
        return echo(question)

    with node(answer) as address:
        try:
            yield address, asked, over
        finally:
            over.set()


def refused(_: int = 0) -> None:
    """A response that waits for a node that gives no answer, or is refused at once."""
    with response_deadline(), pytest.raises(rpc.RpcUnavailable):
        rpc.call("eth_chainId")


@pytest.mark.exhaustive
def test_all_threads_but_one_wait_for_a_hanging_node_and_then_one_probes_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpc, "RESPONSE_TIMEOUT_S", 1.5)
    # At first the node may just be slow, so callers queue for a moment.
    monkeypatch.setattr(rpc.bulkhead, "max_wait_s", 0.1)
    admitted = REQUEST_THREADS - 1
    with hanging() as (address, asked, over), ThreadPoolExecutor(16) as threads:
        settings.RPC_URL = address
        callers = [threads.submit(refused) for _ in range(16)]
        # Those who are refused go before those who wait for the node.
        assert eventually(lambda: sum(one.done() for one in callers) >= 16 - admitted)
        assert (sum(not one.done() for one in callers), len(asked)) == (admitted, admitted)
        wait(callers)
        refused()
        assert len(asked) == admitted
        rpc.get_breaker(address).next_probe_at = time.monotonic()
        callers = [threads.submit(refused) for _ in range(16)]
        assert eventually(lambda: sum(one.done() for one in callers) >= 15)
        assert (sum(not one.done() for one in callers), len(asked)) == (1, admitted + 1)
        wait(callers)
        assert [one.exception() for one in callers] == [None] * 16
        over.set()
        rpc.get_breaker(address).next_probe_at = time.monotonic()
        with response_deadline():
            assert rpc.call("eth_chainId") == ["eth_chainId", []]


@pytest.mark.exhaustive
def test_with_a_healthy_node_every_thread_gets_a_result(
    settings: Settings,
) -> None:
    def slow(question: Any) -> tuple[int, bytes]:
        time.sleep(0.02)
        return echo(question)

    def ask(number: int) -> Any:
        with response_deadline():
            return rpc.call("ask", number)

    with node(slow) as settings.RPC_URL, ThreadPoolExecutor(REQUEST_THREADS) as threads:
        assert list(threads.map(ask, range(40))) == [["ask", [number]] for number in range(40)]


def test_a_worker_has_no_bulkhead(settings: Settings) -> None:
    with hanging() as (address, asked, over), ThreadPoolExecutor(8) as threads:
        settings.RPC_URL = address
        answers = [threads.submit(rpc.call, "ask", number) for number in range(8)]
        assert eventually(lambda: len(asked) == 8)
        over.set()
        assert [one.result() for one in answers] == [["ask", [number]] for number in range(8)]


def test_a_request_with_little_time_left_does_not_probe_the_node(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpc, "RECOVERY_S", 0.0)
    asked: list[Any] = []

    def answer(question: Any) -> tuple[int, bytes]:
        asked.append(question)
        return echo(question)

    with node(answer) as address:
        settings.RPC_URL = address
        rpc.get_breaker(address).record_failure("away")
        monkeypatch.setattr(rpc, "RESPONSE_TIMEOUT_S", rpc.MIN_PROBE_TIMEOUT_S / 2)
        refused()
        assert asked == []
        monkeypatch.setattr(rpc, "RESPONSE_TIMEOUT_S", rpc.MIN_PROBE_TIMEOUT_S)
        with response_deadline():
            assert rpc.call("eth_chainId") == ["eth_chainId", []]


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("prices")
def test_while_the_node_hangs_other_requests_are_answered(wallets: Mapping[str, Key], tmp_path: Path) -> None:
    session = str(client_of(wallets["pro"]).defaults["HTTP_AUTHORIZATION"])
    with (
        hanging() as (address, asked, _),
        served(
            tmp_path / "web.log", application=PATIENT, RPC_URL=address, TIER_CACHE_S="0", TRUSTED_PROXIES="1"
        ) as web,
        ThreadPoolExecutor(3 * THREADS) as threads,
    ):

        def ask(number: int) -> int:
            headers = {"authorization": session, "X-Forwarded-For": f"192.0.2.{number}"}
            return httpx.get(f"{web}/v1/me", headers=headers, timeout=30).status_code

        waiting = [threads.submit(ask, number) for number in range(THREADS - 1)]
        assert eventually(lambda: len(asked) == THREADS - 1)
        others = threads.map(ask, range(THREADS, 3 * THREADS))
        assert httpx.get(f"{web}/livez", timeout=30).status_code == 200
        assert list(others) == [200] * 2 * THREADS
        # The node's three callers still wait, and no other has become one.
        assert not any(one.done() for one in waiting)
        assert len(asked) == THREADS - 1
        assert [one.result() for one in waiting] == [200] * (THREADS - 1)

"""The one trip to the facilitator: what is sent, and what it may not cost. How it may end: test_settling.py."""

import json
import socketserver
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from django.conf import LazySettings

from config import environment
from framework.resilience.bulkhead import REQUEST_THREADS
from payments.chain import evm
from payments.devchain.wallets import Wallet
from payments.x402 import facilitator_client
from payments.x402.challenges import build_requirement, build_resource
from payments.x402.facilitator_client import NotSent, Outcome, Settled, Unknown
from tests.catalogue import builders
from tests.payments.buyer import paid_by, purchase_for
from tests.payments.facilitators import Server, never_answers, says, serving
from tests.support.live_server import THREADS, served
from tests.support.live_stack import eventually

HASH = "0x" + "5A" * 32
PAYER = "0x857b06519e91e3a54538791bdbb0e22373e36b66"
PAY_TO = "0x209693bc6afc0c5328ba36faf03c514ef312287c"
NOTHING: Mapping[str, str] = {}
ALONE = NotSent("circuit breaker open")
SETTLING = THREADS - 1
SIGNED: Mapping[str, object] = {"signature": "0x11", "authorization": {"value": "2000"}}
SETTLED = says(
    200, {"success": True, "transaction": HASH, "network": "eip155:84532", "payer": evm.to_checksum_address(PAYER)}
)


@pytest.fixture
def _our_address(settings: LazySettings) -> None:
    settings.PAY_TO = PAY_TO
    settings.PUBLIC_BASE_URL = "https://api.example.com"


def settle(url: str, settings: LazySettings) -> Outcome:
    """Have the facilitator at this address settle."""
    settings.FACILITATOR_URL = url
    return facilitator_client.settle(
        payload=dict(SIGNED),
        requirement=build_requirement(2000),
        resource=build_resource(purchase_for()),
        payer=PAYER,
    )


@pytest.mark.usefixtures("_our_address")
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_settlement_is_asked_for_in_version_2(settings: LazySettings, slash: str) -> None:
    with serving(SETTLED) as server:
        assert settle(server.url + slash, settings) == Settled(transaction=HASH.lower())
    requirement = {
        "scheme": "exact",
        "network": "eip155:84532",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "amount": "2000",
        "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
        "maxTimeoutSeconds": 60,
        "extra": {"name": "USDC", "version": "2"},
    }
    resource = {"url": "https://api.example.com/v1/restaurants/noma?fields=context", "mimeType": "application/json"}
    (question,) = server.asked
    assert json.loads(question) == {
        "x402Version": 2,
        "paymentPayload": {"x402Version": 2, "payload": SIGNED, "accepted": requirement, "resource": resource},
        "paymentRequirements": requirement,
    }


# What it may not cost
@contextmanager
def dripping(beginning: bytes) -> Iterator[str]:
    """A facilitator that begins its answer like this and goes on with a byte now and then, for a long time."""
    over = threading.Event()

    class Drip(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            self.request.sendall(beginning)
            with suppress(OSError):
                for _ in range(250):
                    if over.wait(0.02):
                        break
                    self.request.sendall(b"a")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Drip) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            over.set()
            server.shutdown()
            thread.join()


@pytest.mark.exhaustive
@pytest.mark.parametrize("beginning", [b"HTTP/1.1 200 OK\r\nX-Drop: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_an_answer_that_drips_byte_by_byte_is_cut_off(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch, beginning: bytes
) -> None:
    monkeypatch.setattr(facilitator_client, "TOTAL_S", 0.5)
    with dripping(beginning) as url:
        assert settle(url, settings) == Unknown("TimeoutError")


@contextmanager
def hanging(settings: LazySettings) -> Iterator[tuple[Server, list[Future[Outcome]]]]:
    """A facilitator that hangs until the block ends, and as many settlements as may wait for it, which do."""
    over, count = threading.Event(), REQUEST_THREADS - 1
    with serving(never_answers(over)) as server, ThreadPoolExecutor(count) as threads:
        settlements = [threads.submit(settle, server.url, settings) for _ in range(count)]
        try:
            assert eventually(lambda: len(server.asked) == count)
            yield server, settlements
        finally:
            over.set()


@pytest.mark.exhaustive
def test_one_thread_stays_free_for_requests_without_settlement(settings: LazySettings) -> None:
    with hanging(settings) as (server, settlements):
        assert settle(server.url, settings) == NotSent("too many settlements at a time")
    assert [one.result() for one in settlements] == [Unknown("RemoteProtocolError")] * (REQUEST_THREADS - 1)
    with serving(SETTLED) as server:
        assert settle(server.url, settings) == Settled(transaction=HASH.lower())


@pytest.mark.exhaustive
def test_a_settlement_waits_for_a_free_slot_while_others_settle(settings: LazySettings) -> None:
    under_way, peak, lock = 0, 0, threading.Lock()

    def slow(content: bytes) -> tuple[int, bytes] | None:
        nonlocal under_way, peak
        with lock:
            under_way += 1
            peak = max(peak, under_way)
        time.sleep(0.05)
        with lock:
            under_way -= 1
        return SETTLED(content)

    with serving(slow) as server, ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(lambda _: settle(server.url, settings), range(24)))
    assert outcomes == [Settled(transaction=HASH.lower())] * 24
    assert peak == REQUEST_THREADS - 1


@pytest.mark.exhaustive
def test_a_settlement_is_refused_while_others_hang(settings: LazySettings) -> None:
    with hanging(settings) as (server, settlements):
        began_at = time.monotonic()
        assert settle(server.url, settings) == NotSent("too many settlements at a time")
        first_s = time.monotonic() - began_at
        assert settle(server.url, settings) == NotSent("too many settlements at a time")
        second_s = time.monotonic() - began_at - first_s
        assert not any(one.done() for one in settlements)
    assert [type(one.result()) for one in settlements] == [Unknown] * (REQUEST_THREADS - 1)
    # That they hang is known by then.
    assert second_s < first_s


@pytest.mark.exhaustive
def test_two_failures_open_the_circuit_breaker_and_one_trip_tests_it(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facilitator_client, "RECOVERY_S", 0.3)
    trial = threading.Event()

    def script(content: bytes) -> tuple[int, bytes] | None:
        if len(server.asked) <= facilitator_client.FAILURE_THRESHOLD:
            return None
        trial.wait()
        return SETTLED(content)

    with serving(script) as server, ThreadPoolExecutor(1) as threads:
        silent = [settle(server.url, settings) for _ in range(facilitator_client.FAILURE_THRESHOLD + 1)]
        assert silent == [*[Unknown("RemoteProtocolError")] * facilitator_client.FAILURE_THRESHOLD, ALONE]
        try:
            answer = threads.submit(until_asked, server, settings)
            assert eventually(lambda: len(server.asked) == facilitator_client.FAILURE_THRESHOLD + 1)
            assert settle(server.url, settings) == ALONE
        finally:
            trial.set()
        assert answer.result() == Settled(transaction=HASH.lower())
        assert settle(server.url, settings) == Settled(transaction=HASH.lower())


def until_asked(server: Server, settings: LazySettings) -> Outcome:
    """Have it settle as soon as it is not left alone any more."""
    outcome: Outcome = ALONE

    def is_asked() -> bool:
        nonlocal outcome
        outcome = settle(server.url, settings)
        return outcome != ALONE

    assert eventually(is_asked)
    return outcome


def test_refusals_do_not_open_the_circuit_breaker(settings: LazySettings) -> None:
    with serving(says(503, b"")) as server:
        for _ in range(facilitator_client.FAILURE_THRESHOLD + 1):
            assert settle(server.url, settings) == Unknown("HTTP 503, and no settlement in it")


@pytest.mark.parametrize(
    ("url", "token"),
    [
        ("http://[::1", ""),
        ("http://127.0.0.1:99999", ""),
        ("http://exa mple", ""),
        ("127.0.0.1:8", ""),
        ("http://127.0.0.1:1", "tökén"),
        ("http://127.0.0.1:1", "a\nb"),
    ],
)
def test_whatever_is_set_as_address_and_token_nothing_is_raised(settings: LazySettings, url: str, token: str) -> None:
    settings.FACILITATOR_TOKEN = token
    assert isinstance(settle(url, settings), NotSent | Unknown)


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:99999", "127.0.0.1:8"])
def test_an_address_that_is_none_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("FACILITATOR_URL", url)
    with pytest.raises(environment.WrongValue, match="FACILITATOR_URL must be an address such as https://e"):
        environment.address("FACILITATOR_URL", "", example="https://e", schemes=("http", "https"))


@pytest.mark.parametrize("token", ["tökén", "a\nb", "a\tb"])
def test_a_token_that_no_header_takes_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    monkeypatch.setenv("FACILITATOR_TOKEN", token)
    with pytest.raises(environment.WrongValue, match="FACILITATOR_TOKEN must be a token of printable ASCII") as caught:
        environment.token("FACILITATOR_TOKEN")
    assert token not in str(caught.value)


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("prices")
def test_while_paid_requests_hang_the_free_ones_are_answered(wallets: Mapping[str, Wallet], tmp_path: Path) -> None:
    builders.restaurant(slug="noma")
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    over = threading.Event()
    payments = [paid_by(wallets["free"]) for _ in range(8)]
    with (
        serving(never_answers(over)) as server,
        served(tmp_path / "web.log", FACILITATOR_URL=server.url, TRUSTED_PROXIES="1") as web,
        ThreadPoolExecutor(len(payments)) as threads,
    ):

        def get(path: str, address: str, headers: Mapping[str, str] = NOTHING) -> httpx.Response:
            return httpx.get(f"{web}{path}", headers={"X-Forwarded-For": address, **headers}, timeout=30)

        paid = [
            threads.submit(get, "/v1/restaurants/noma?fields=context", f"192.0.2.{number}", headers)
            for number, headers in enumerate(payments)
        ]
        try:
            assert eventually(lambda: sum(one.done() for one in paid) == len(paid) - SETTLING)
            free = [get(path, "198.51.100.7") for path in ("/v1/restaurants/noma", "/livez", "/v1/restaurants/noma")]
            # They hang still.
            assert sum(one.done() for one in paid) == len(paid) - SETTLING
        finally:
            over.set()
        assert [one.status_code for one in free] == [200] * 3
        codes = Counter(one.result().json()["error"]["code"] for one in paid)
        assert codes == {"facilitator_unavailable": len(paid) - SETTLING, "settlement_pending": SETTLING}
        assert len(server.asked) == SETTLING

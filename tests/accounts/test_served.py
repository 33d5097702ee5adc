"""Keys and Idempotency-Keys where several processes serve, and one of them dies."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from accounts.models import ApiKey, Event, IdempotentCall, Venue
from orders.models import Order
from tests.support import builders
from tests.support.live_server import served

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

ORDERS = "/api/v1/orders"


@pytest.fixture(scope="module")
def web(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A web server on the tests' database and counters."""
    with served(tmp_path_factory.mktemp("web") / "web.log") as base_url:
        yield base_url


@pytest.fixture(scope="module")
def mortal(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Another, whose worker dies when it is told to, and is started again."""
    log = tmp_path_factory.mktemp("mortal") / "web.log"
    again = {"GRANIAN_RESPAWN_FAILED_WORKERS": "true", "GRANIAN_RESPAWN_INTERVAL": "0.1"}
    with served(log, application="tests.accounts.crash_app:application", **again) as base_url:
        yield base_url


@pytest.fixture
def api(venue: Venue) -> Iterator[httpx.Client]:
    """A caller of the venue."""
    with httpx.Client(headers={"Authorization": f"Bearer {builders.key(venue).text}"}, timeout=20) as client:
        yield client


def test_what_is_revoked_is_refused_by_every_process_within_a_second(api: httpx.Client, web: str, mortal: str) -> None:
    def statuses() -> list[int]:
        return [api.get(f"{base_url}{ORDERS}").status_code for base_url in [web, mortal] * 4]

    assert statuses() == [200] * 8
    ApiKey.objects.get().revoke(now=datetime.now(UTC))
    time.sleep(1.0)
    assert statuses() == [401] * 8


def test_a_hundred_twins_at_two_processes_are_one_order_and_the_same_bytes(
    api: httpx.Client, web: str, mortal: str
) -> None:
    def post(base_url: str) -> httpx.Response:
        return api.post(f"{base_url}{ORDERS}", json=builders.order_body(), headers={"Idempotency-Key": "first"})

    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(post, [web, mortal] * 50))
    assert {(answer.status_code, answer.content) for answer in answers} == {(201, answers[0].content)}
    assert Counter(answer.headers.get("Idempotent-Replayed") for answer in answers) == {None: 1, "true": 99}
    assert (Order.objects.count(), Event.objects.count(), IdempotentCall.objects.count()) == (1, 1, 1)
    assert Order.objects.get().public_id == answers[0].json()["id"]


def test_a_body_in_chunks_has_one_effect_too(api: httpx.Client, web: str) -> None:
    def post(customer: str) -> httpx.Response:
        body = (
            piece
            for piece in (
                b'{"customer_id": "',
                customer.encode(),
                b'", "items": [{"menu_item_id": "m", ',
                b'"quantity": 1}], "payment_method": "card"}',
            )
        )
        return api.post(f"{web}{ORDERS}", content=body, headers={"Idempotency-Key": "first"})

    first, again, other = post("ada"), post("ada"), post("grace")
    assert first.request.headers["Transfer-Encoding"] == "chunked"
    assert (first.status_code, again.content, again.headers["Idempotent-Replayed"]) == (201, first.content, "true")
    assert (other.status_code, other.json()["error"]["code"]) == (400, "idempotency_key_reused")
    assert Order.objects.count() == 1


def wait_until_it_serves_again(base_url: str) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            httpx.get(f"{base_url}/livez").raise_for_status()
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("The worker was not started again.")


def test_what_a_process_did_before_it_died_is_answered_by_another_and_after_its_restart(
    api: httpx.Client, web: str, mortal: str, tmp_path: Path
) -> None:
    last_words = tmp_path / "last words"
    headers = {"Idempotency-Key": "first"}
    with pytest.raises(httpx.TransportError):
        api.post(f"{mortal}{ORDERS}", json=builders.order_body(), headers=headers | {"Die": str(last_words)})
    wait_until_it_serves_again(mortal)
    answers = [api.post(f"{url}{ORDERS}", json=builders.order_body(), headers=headers) for url in (web, mortal)]
    assert [(answer.status_code, answer.content) for answer in answers] == [(201, last_words.read_bytes())] * 2
    assert [answer.headers["Idempotent-Replayed"] for answer in answers] == ["true", "true"]
    assert Order.objects.get().public_id == answers[0].json()["id"]
    assert Event.objects.count() == 1

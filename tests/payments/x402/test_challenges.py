"""What a 402 counts as: who asks for a price has got nothing, and pays nothing of the requests of a minute."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.core.cache import caches
from django.db import connection
from django.test import Client
from pytest_django import Settings

from framework.api.rate_limits.local_fallback import LocalCounter, local_counter
from framework.api.rate_limits.valkey_backend import last_count
from payments.devchain.wallets import Wallet as Key
from payments.pricing import default_products
from tests.catalogue import builders
from tests.payments.buyer import is_quote_of
from tests.payments.signing import client_of
from tests.payments.test_rate_limits import believed, paid_before, payment, remaining

pytestmark = pytest.mark.django_db

MARKETS = "/v1/markets"
SOLD = "/v1/restaurants/noma?fields=context"


@pytest.fixture(autouse=True)
def _shop(db: None) -> None:
    default_products.create_missing()
    builders.restaurant(slug="noma")
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")


@pytest.fixture(params=["store", "process"])
def counted_in(request: pytest.FixtureRequest, settings: Settings) -> str:
    """Rate limits are counted in Valkey, or Valkey is down."""
    if request.param == "process":
        limits = settings.CACHES["limits"] | {"LOCATION": "redis://127.0.0.1:1"}
        settings.CACHES = settings.CACHES | {"limits": limits}
    where: str = request.param
    return where


@pytest.fixture
def still() -> Iterator[None]:
    """No window ends while the test lasts."""
    with time_machine.travel(datetime.now(UTC), tick=False):
        yield


def limits_of(response: Any) -> tuple[int, str, int]:
    """The status, the limit that counted, and what is left of it."""
    return response.status_code, response["RateLimit-Policy"], remaining(response)


def got(client: Client, path: str) -> Any:
    """The answer, asked for by a thread that leaves nothing open."""
    try:
        return client.get(path)
    finally:
        connection.close()


CHALLENGES, DATA = '"challenges";q=120;w=60', '"data";q=10;w=60'


@pytest.mark.exhaustive
@pytest.mark.usefixtures("still", "counted_in")
def test_a_402_counts_as_a_challenge_and_takes_nothing_of_the_requests_of_a_minute(client: Client) -> None:
    asked = [limits_of(client.get(SOLD)) for _ in range(30)] + [limits_of(client.head(SOLD))]
    assert asked == [(402, CHALLENGES, left) for left in range(119, 88, -1)]
    assert limits_of(client.get(MARKETS)) == (200, DATA, 9)
    assert limits_of(client.get(f"{SOLD}&fields=1")) == (400, DATA, 8)


@pytest.mark.usefixtures("still")
def test_the_headers_of_a_402_all_speak_of_challenges(client: Client) -> None:
    response = client.get(SOLD)
    left_s = response["RateLimit"].rpartition("=")[2]
    assert (response["X-RateLimit-Limit"], response["X-RateLimit-Remaining"]) == ("120", "119")
    assert response["RateLimit"] == f'"challenges";r=119;t={left_s}'
    assert int(response["X-RateLimit-Reset"]) == int(datetime.now(UTC).timestamp()) + int(left_s)
    assert (response["X-Tier"], "x402" in response) == ("free", True)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("still")
def test_the_default_client_of_a_pro_wallet_buys_120_times_a_minute(
    settings: Settings, wallets: Mapping[str, Key], client: Client
) -> None:
    believed(wallets["pro"], settings)
    paid_before(wallets["pro"])
    for number in range(120):
        assert limits_of(client.get(SOLD)) == (402, CHALLENGES, 119 - number)
        paid = client.get(MARKETS, headers=payment(wallets["pro"], settings))
        assert (*limits_of(paid), paid["X-Tier"]) == (200, '"data";q=120;w=60', 119 - number, "pro")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("still", "counted_in")
def test_more_than_120_challenges_a_minute_are_refused_and_soon_by_the_middleware(client: Client) -> None:
    asked = [client.get(SOLD) for _ in range(140)]
    assert [limits_of(one) for one in asked] == [
        *[(402, CHALLENGES, left) for left in range(119, -1, -1)],
        *[(429, CHALLENGES, 0)] * 10,
        *[(429, DATA, 0)] * 10,
    ]
    refused = asked[120]
    assert refused.json()["error"]["code"] == "rate_limit_exceeded"
    assert "120 requests without a payment" in refused.json()["error"]["message"]
    assert refused["Retry-After"] == refused["RateLimit"].rpartition("=")[2]
    assert "x402" not in refused
    assert limits_of(client.get(MARKETS)) == (429, DATA, 0)


@pytest.mark.usefixtures("still")
def test_a_tier_may_ask_for_prices_as_often_as_it_may_call(wallets: Mapping[str, Key]) -> None:
    premium, pro = client_of(wallets["premium"]), client_of(wallets["pro"])
    assert limits_of(premium.get(SOLD)) == (402, '"challenges";q=600;w=60', 599)
    assert limits_of(premium.get(MARKETS)) == (200, '"data";q=600;w=60', 599)
    assert limits_of(pro.get(SOLD)) == (402, CHALLENGES, 119)
    assert limits_of(Client().get(SOLD)) == (402, CHALLENGES, 119)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("still", "ledger_matches_chain")
def test_what_comes_with_a_payment_counts_whatever_it_is_answered(
    settings: Settings, wallets: Mapping[str, Key], client: Client
) -> None:
    wrong = payment(wallets["free"], settings, value=1)
    assert limits_of(client.get(SOLD, headers={"x-payment": "junk"})) == (400, DATA, 9)
    for left, headers in ((8, wrong), (7, {"x-payment": wrong["payment-signature"]})):
        rejected = client.get(SOLD, headers=headers)
        assert (*limits_of(rejected), rejected.json()["error"]) == (402, DATA, left, "payment_rejected")
    assert limits_of(client.get(SOLD, headers={"x-payment": " "})) == (402, CHALLENGES, 119)


# Many at a time
@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("still", "counted_in")
def test_of_16_threads_that_ask_for_prices_and_free_data_the_free_data_alone_is_counted(
    settings: Settings, wallets: Mapping[str, Key]
) -> None:
    settings.TIER_CACHE_S = 600
    pro = client_of(wallets["pro"])
    with ThreadPoolExecutor(16) as threads:
        answers = [limits_of(one) for one in threads.map(lambda n: got(pro, SOLD if n % 4 else MARKETS), range(112))]
    seen = Counter((status, policy) for status, policy, _ in answers)
    assert seen == {(200, '"data";q=120;w=60'): 28, (402, CHALLENGES): 84}
    assert sorted(left for status, _, left in answers if status == 402) == [*range(36, 120)]
    assert remaining(pro.get(MARKETS)) == 120 - 28 - 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("still", "counted_in")
def test_no_402_buys_its_address_an_eleventh_free_request(client: Client) -> None:
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda number: got(client, SOLD if number % 2 else MARKETS), range(100)))
    served = sum(one.status_code == 200 for one in answers)
    later = [client.get(MARKETS).status_code for _ in range(11)]
    assert served <= 10
    # Whoever was refused because challenges were under way has taken nothing from those who come after them.
    assert later == [200] * (10 - served) + [429] * (1 + served)
    assert {one.status_code for one in answers} <= {200, 402, 429}


# Giving back
def test_a_count_is_given_back_to_a_window_that_lasts_and_never_below_zero() -> None:
    counts: Any = caches["limits"]
    counts.add("bucket", 2, 60)
    name = last_count.name
    for _ in range(3):
        counts.decrement(name)
    assert (counts.store.get(name), 55 <= counts.store.ttl(name) <= 60) == (b"0", True)
    counts.store.delete(name)
    counts.decrement(name)
    assert counts.store.get(name) is None


def test_160_counts_given_back_by_16_threads_leave_none() -> None:
    def count(_: int) -> None:
        counts: Any = caches["limits"]
        counts.add("bucket", 1, 60)
        counts.decrement(last_count.name)

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(count, range(160)))
    counts: Any = caches["limits"]
    counts.add("bucket", 1, 60)
    assert counts.incr("bucket") == 1


def test_this_process_gives_back_to_the_same_window_only() -> None:
    local = LocalCounter()
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda _: local.undo("bucket", local.count("bucket", 60, 1000)[1]), range(160)))
    local.undo("bucket", 1060)
    assert local.count("bucket", 60, 1000) == (1, 1060)
    assert local.count("bucket", 60, 1060) == (1, 1120)
    local.undo("bucket", 1060)
    assert local.count("bucket", 60, 1060) == (2, 1120)
    local.undo("nobody", 1060)
    assert local.windows.keys() == {"bucket"}


def test_what_was_counted_in_a_store_that_has_gone_stays_counted(client: Client, settings: Settings) -> None:
    assert remaining(client.get(MARKETS)) == 9
    away = caches["limits"]
    limits = settings.CACHES["limits"] | {"LOCATION": "redis://127.0.0.1:1"}
    settings.CACHES = settings.CACHES | {"limits": limits}
    gone: Any = caches["limits"]
    assert gone is not away
    gone.decrement("limits:1:anything")
    assert not local_counter.windows
    assert is_quote_of("0.002", json.loads(client.get(SOLD)["x402"])["amount"])

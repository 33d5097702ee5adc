"""The doorway: who is counted, by what, and what the headers say of it.

Two processes and a store that is away are in test_served.py.
"""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis
import time_machine
from django.conf import settings
from django.core.cache import caches
from django.db import connection
from django.test import Client, RequestFactory
from pytest_django import Settings

from accounts.api_keys.usage import get_family_usage
from accounts.models import ApiKey, Venue
from framework.api.rate_limits.client_ip import client_network
from framework.api.rate_limits.local_fallback import LocalCounter
from framework.api.rate_limits.valkey_backend import ValkeyCounterCache
from tests.support import builders

ORDERS = "/api/v1/orders"
NOON = 1795262400


@pytest.fixture
def _store_away(settings: Settings) -> None:
    """Nobody listens where the counters should be."""
    caches_of = settings.CACHES
    settings.CACHES = caches_of | {"limits": caches_of["limits"] | {"LOCATION": "redis://127.0.0.1:1"}}


def remaining(response: Any) -> int:
    return int(response["X-RateLimit-Remaining"])


# Windows
@pytest.mark.django_db
def test_at_its_reset_an_allowance_is_fresh_and_not_a_second_before(venue: Venue) -> None:
    api = builders.client(venue, allowance=1)
    with time_machine.travel(NOON, tick=False) as clock:
        reset = int(api.get(ORDERS)["X-RateLimit-Reset"])
        clock.move_to(reset - 1)
        refused = api.get(ORDERS)
        assert (refused.status_code, refused["Retry-After"]) == (429, "1")
        assert refused["X-RateLimit-Reset"] == str(reset)
        clock.move_to(reset)
        fresh = api.get(ORDERS)
        assert (fresh.status_code, fresh["X-RateLimit-Remaining"]) == (200, "0")
        assert fresh["X-RateLimit-Reset"] == str(reset + 3600)


@pytest.mark.django_db
def test_a_clock_that_jumps_back_and_forward_gives_one_more_allowance_at_most_and_never_a_used_one(
    venue: Venue,
) -> None:
    api = builders.client(venue, allowance=2)

    def statuses() -> list[int]:
        return [api.get(ORDERS).status_code for _ in range(3)]

    with time_machine.travel(NOON, tick=False) as clock:
        found = [statuses()]
        for moment in (NOON - 3600, NOON, NOON - 3600, NOON + 3600, NOON):
            clock.move_to(moment)
            found.append(statuses())
    fresh, used = [200, 200, 429], [429, 429, 429]
    assert found == [fresh, fresh, used, used, fresh, used]


@pytest.mark.django_db
def test_the_headers_of_the_ietf_draft_say_the_same(venue: Venue) -> None:
    with time_machine.travel(NOON, tick=False):
        response = builders.client(venue, allowance=7).get(ORDERS)
    left = int(response["X-RateLimit-Reset"]) - NOON
    assert response["RateLimit-Policy"] == '"mgmt";q=7;w=3600'
    assert response["RateLimit"] == f'"mgmt";r=6;t={left}'


# Whose count it is
@pytest.mark.django_db
def test_a_key_that_replaces_another_goes_on_with_its_count(venue: Venue) -> None:
    old = builders.key(venue, allowance=5)
    new = old.row.rotate(overlap=timedelta(hours=1), now=datetime.now(UTC))
    ApiKey.objects.filter(pk=new.row.pk).update(allowance=8)
    first, second = builders.client_with(old.text), builders.client_with(new.text)
    assert [remaining(first.get(ORDERS)) for _ in range(3)] == [4, 3, 2]
    assert [remaining(second.get(ORDERS)) for _ in range(2)] == [4, 3]
    assert [first.get(ORDERS).status_code, second.get(ORDERS).status_code] == [429, 200]


@pytest.mark.django_db
def test_two_keys_of_a_venue_count_apart(venue: Venue) -> None:
    first, second = builders.client(venue), builders.client(venue)
    first.get(ORDERS)
    assert (remaining(first.get(ORDERS)), remaining(second.get(ORDERS))) == (998, 999)


@pytest.mark.django_db
def test_all_operations_draw_on_one_allowance(venue: Venue) -> None:
    api = builders.client(venue, allowance=10)
    order = builders.order(venue)
    answers = [
        api.get(ORDERS),
        api.post(ORDERS, builders.order_body(), content_type="application/json"),
        api.get(f"{ORDERS}/{order.public_id}"),
        api.put(f"{ORDERS}/{order.public_id}/status", {"status": "completed"}, content_type="application/json"),
        api.get("/api/v1/reservations"),
        api.post("/api/v1/reservations", {}, content_type="application/json"),
        api.get("/api/v1/nothing"),
        api.delete(ORDERS),
        api.get(ORDERS, headers={"host": "evil.example"}),
    ]
    assert [remaining(response) for response in answers] == [9, 8, 7, 6, 5, 4, 3, 2, 1]


@pytest.mark.django_db
def test_callers_without_a_key_are_counted_by_their_address(client: Client, api: Client) -> None:
    first = [remaining(client.get(ORDERS, REMOTE_ADDR="203.0.113.7")) for _ in range(3)]
    other = remaining(client.get(ORDERS, REMOTE_ADDR="203.0.113.8"))
    wrong = remaining(client.get(ORDERS, REMOTE_ADDR="203.0.113.7", headers={"authorization": "Bearer rk_live_x"}))
    assert (first, other, wrong) == ([999, 998, 997], 999, 996)
    assert remaining(api.get(ORDERS, REMOTE_ADDR="203.0.113.7")) == 999


@pytest.mark.django_db
def test_an_address_has_a_count_of_its_own_in_each_api(client: Client) -> None:
    assert remaining(client.get(ORDERS)) == 999
    assert remaining(client.get("/v1/nothing")) == 9


@pytest.mark.django_db
def test_nothing_else_of_the_site_is_counted(client: Client, api: Client) -> None:
    for path in ("/livez", "/readyz", "/", "/apis"):
        assert "X-RateLimit-Limit" not in client.get(path)
    assert remaining(api.get(ORDERS)) == 999


@pytest.mark.parametrize(
    ("remote", "forwarded", "proxies", "expected"),
    [
        ("203.0.113.7", None, 0, "203.0.113.7"),
        ("203.0.113.7", "198.51.100.1", 0, "203.0.113.7"),
        ("10.0.0.1", "198.51.100.1", 1, "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.1", 1, "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.1 ,10.0.0.2", 2, "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1", 2, "10.0.0.1"),
        ("10.0.0.1", " , ", 1, "10.0.0.1"),
        ("10.0.0.1", None, 1, "10.0.0.1"),
        ("10.0.0.1", "unknown", 1, "unknown"),
        ("10.0.0.1", "198.51.100.1:5000", 1, "198.51.100.1"),
        ("10.0.0.1", "[2001:db8:1:2::9]:5000", 1, "2001:db8:1:2::"),
        ("10.0.0.1", "2001:db8:1:2::9", 1, "2001:db8:1:2::"),
        ("2001:db8:1:2:3:4:5:6", None, 0, "2001:db8:1:2::"),
        ("2001:db8:1:2::9", None, 0, "2001:db8:1:2::"),
        ("2001:db8:1:3::9", None, 0, "2001:db8:1:3::"),
        ("fe80::1%eth0", None, 0, "fe80::"),
        ("::ffff:203.0.113.7", None, 0, "203.0.113.7"),
        ("", None, 0, "0.0.0.0"),  # noqa: S104  # an address without a peer, not one to bind
    ],
)
def test_the_address_of_a_caller(
    settings: Settings, remote: str, forwarded: str | None, proxies: int, expected: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    headers = {"x-forwarded-for": forwarded} if forwarded is not None else {}
    assert client_network(RequestFactory().get("/", REMOTE_ADDR=remote, headers=headers)) == expected


# Every answer
@pytest.mark.parametrize(
    ("status", "call"),
    [
        (200, ("GET", ORDERS, {})),
        (201, ("POST", ORDERS, {})),
        (304, ("GET", "{order}", {"if-none-match": '"1"'})),
        (400, ("GET", f"{ORDERS}?limit=0", {})),
        (400, ("GET", ORDERS, {"host": "evil.example"})),
        (401, ("GET", ORDERS, {"authorization": ""})),
        (401, ("GET", "/api/v1/nothing", {"authorization": "Bearer x"})),
        (404, ("GET", "/api/v1/nothing", {})),
        (405, ("DELETE", ORDERS, {})),
        (405, ("OPTIONS", ORDERS, {})),
        (412, ("PUT", "{order}/status", {"if-match": '"7"'})),
        (500, ("GET", "/api/v1/breaks", {})),
        (500, ("GET", "/api/v1/breaks-plainly", {})),
        (503, ("GET", "/api/v1/waits", {})),
    ],
)
def test_every_answer_carries_the_headers(
    settings: Settings, venue: Venue, status: int, call: tuple[str, str, dict[str, str]]
) -> None:
    settings.ROOT_URLCONF = "tests.framework.api.failing_urls"
    method, path, headers = call
    path = path.format(order=f"{ORDERS}/{builders.order(venue).public_id}")
    body = {"POST": json.dumps(builders.order_body()), "PUT": '{"status": "completed"}'}.get(method, "")
    api = builders.client(venue, raise_request_exception=False)
    with time_machine.travel(NOON, tick=False):
        response = api.generic(method, path, body, content_type="application/json", headers=headers)
    assert response.status_code == status
    reset = int(response["X-RateLimit-Reset"])
    # What was not modified is not counted.
    left = 1000 if status == 304 else 999
    assert (response["X-RateLimit-Limit"], response["X-RateLimit-Remaining"]) == ("1000", str(left))
    assert 0 < reset - NOON <= 3600
    assert response["RateLimit-Policy"] == '"mgmt";q=1000;w=3600'
    assert response["RateLimit"] == f'"mgmt";r={left};t={reset - NOON}'
    assert response["X-Request-Id"].startswith("req_")


def test_what_was_not_modified_tells_no_length(venue: Venue) -> None:
    path = f"{ORDERS}/{builders.order(venue).public_id}"
    response = builders.client(venue).get(path, headers={"if-none-match": '"1"'})
    assert (response.status_code, response.has_header("Content-Length")) == (304, False)


# Free answers
def ask_twice(api: Client, path: str) -> tuple[Any, Any]:
    """The first answer, and the one to its ETag."""
    first = api.get(path)
    return first, api.get(path, headers={"if-none-match": first["ETag"]})


@pytest.mark.django_db
def test_no_304_of_the_management_api_is_counted(venue: Venue) -> None:
    api = builders.client(venue, allowance=100)
    order, reservation = builders.order(venue).public_id, builders.reservation(venue).public_id
    paths = [
        ORDERS,
        f"{ORDERS}/{order}",
        "/api/v1/menu",
        "/api/v1/reservations",
        f"/api/v2/reservations/{reservation}",
    ]
    with time_machine.travel(NOON, tick=False):
        for number, path in enumerate(paths, start=1):
            first, again = ask_twice(api, path)
            assert (first.status_code, again.status_code) == (200, 304), path
            assert (remaining(first), remaining(again)) == (100 - number, 100 - number), path


@pytest.mark.django_db
def test_as_many_304s_are_free_as_a_key_has_calls(venue: Venue) -> None:
    api = builders.client(venue, allowance=3)
    with time_machine.travel(NOON, tick=False) as clock:
        etag = api.get(ORDERS)["ETag"]
        answers = [api.get(ORDERS, headers={"if-none-match": etag}) for _ in range(7)]
        found = [(response.status_code, remaining(response)) for response in answers]
        assert found == [(304, 2)] * 3 + [(304, 1), (304, 0), (429, 0), (429, 0)]
        clock.shift(3600)
        assert [response.status_code for response in ask_twice(api, ORDERS)] == [200, 304]


@pytest.mark.usefixtures("_store_away")
@pytest.mark.django_db
def test_without_the_store_304s_are_free_too(venue: Venue) -> None:
    api = builders.client(venue, allowance=2)
    with time_machine.travel(NOON, tick=False):
        etag = api.get(ORDERS)["ETag"]
        found = [remaining(api.get(ORDERS, headers={"if-none-match": etag})) for _ in range(3)]
    assert found == [1, 1, 0]


@pytest.mark.django_db
def test_a_call_that_is_refused_for_the_limit_is_not_counted(venue: Venue) -> None:
    key = builders.key(venue, allowance=2)
    api = builders.client_with(key.text)
    assert [api.get(ORDERS).status_code for _ in range(5)] == [200, 200, 429, 429, 429]
    assert get_family_usage([key.row])[key.row.family].calls == 2


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_calls_of_eight_threads_are_counted_exactly_beside_304s() -> None:
    key = builders.key(builders.venue(), allowance=1000)
    etag = builders.client_with(key.text).get(ORDERS)["ETag"]

    def call(number: int) -> int:
        headers = {"if-none-match": etag} if number % 2 else {}
        try:
            return builders.client_with(key.text).get(ORDERS, headers=headers).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(call, range(80)))
    assert statuses == [200, 304] * 40
    assert get_family_usage([key.row])[key.row.family].calls == 41


# Counting
def test_eight_threads_count_exactly() -> None:
    def count(_: int) -> int:
        cache = caches["limits"]
        cache.add("bucket", 1, 60)
        return cache.incr("bucket")

    with ThreadPoolExecutor(8) as threads:
        counts = list(threads.map(count, range(400)))
    assert sorted(counts) == list(range(1, 401))


def test_a_count_lives_as_long_as_its_window_from_its_first_call() -> None:
    cache: Any = caches["limits"]
    cache.add("bucket", 1, 60)
    cache.add("bucket", 1, 3600)
    assert 55 <= cache.store.ttl(cache.make_key("bucket")) <= 60


# The store away
def test_clearing_counts_preserves_other_keys_of_the_store() -> None:
    counters = caches["limits"]
    with redis.Redis.from_url(settings.REDIS_URL) as store:
        store.set("canary", "alive", ex=60)
        counters.add("rl:somebody", 1, 60)
        counters.clear()
        assert store.get("canary") == b"alive"
    assert counters.add("rl:somebody", 1, 60)


@pytest.mark.usefixtures("_store_away")
@pytest.mark.django_db
def test_without_the_store_the_process_counts_the_same_limits(venue: Venue) -> None:
    api = builders.client(venue, allowance=3)
    with time_machine.travel(NOON, tick=False) as clock:
        answers = [api.get(ORDERS) for _ in range(4)]
        assert [response.status_code for response in answers] == [200, 200, 200, 429]
        assert [remaining(response) for response in answers] == [2, 1, 0, 0]
        assert {response["X-RateLimit-Reset"] for response in answers} == {str(NOON + 3600)}
        clock.move_to(NOON + 3600)
        assert api.get(ORDERS).status_code == 200


@pytest.mark.usefixtures("_store_away")
@pytest.mark.django_db
def test_without_the_store_an_address_still_has_a_count_of_its_own_in_each_api(client: Client) -> None:
    for _ in range(20):
        client.get(ORDERS)
    assert remaining(client.get("/v1/nothing")) == 9


def test_a_frozen_store_costs_one_call_a_tenth_of_a_second_and_the_others_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        cache = ValkeyCounterCache(f"redis://127.0.0.1:{silent.getsockname()[1]}", {})
        began_at = time.perf_counter()
        for _ in range(100):
            cache.add("bucket", 1, 60)
            with pytest.raises(ValueError, match="the rate-limit store is unavailable"):
                cache.incr("bucket")
        # A tenth of a second for each of them would be twenty seconds, and the client's own retries six.
        assert 0.1 <= time.perf_counter() - began_at < 5


@pytest.mark.usefixtures("_store_away")
@pytest.mark.django_db
def test_that_the_store_is_away_is_logged_once(venue: Venue, caplog: pytest.LogCaptureFixture) -> None:
    api = builders.client(venue)
    for _ in range(5):
        assert api.get("/api/v1/orders").status_code == 200
    opened = [record for record in caplog.records if "circuit breaker open: the rate-limit store" in record.message]
    assert [record.levelname for record in opened] == ["WARNING"]


@pytest.mark.django_db
def test_failing_middleware_answers_in_json_with_the_rate_headers(
    venue: Venue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("accounts.api_keys.rate_limit.authenticate_request", broken)
    response = builders.client(venue).get("/api/v1/orders")
    assert (response.status_code, response.json()["error"]["code"]) == (500, "internal_error")
    assert response["X-RateLimit-Limit"] == "1000"
    assert [record.message for record in caplog.records if record.exc_info] == ["identifying the caller failed"]


def test_the_local_count_is_exact_under_eight_threads_and_forgets_windows_that_ended() -> None:
    local = LocalCounter()
    with ThreadPoolExecutor(8) as threads:
        counts = list(threads.map(lambda _: local.count("bucket", 60, 1000), range(200)))
    assert sorted(counts) == [(number, 1060) for number in range(1, 201)]
    assert local.count("bucket", 60, 1059) == (201, 1060)
    assert local.count("bucket", 60, 1060) == (1, 1120)


def test_the_local_counts_stay_bounded_however_many_call_at_once() -> None:
    local = LocalCounter()
    for number in range(3 * LocalCounter.MAX_BUCKETS):
        local.count(str(number), 60, 1000)
    assert len(local.windows) <= LocalCounter.MAX_BUCKETS
    assert local.count(str(3 * LocalCounter.MAX_BUCKETS - 1), 60, 1000) == (2, 1060)


def test_the_local_counts_drop_what_ended_when_there_are_many() -> None:
    local = LocalCounter()
    for number in range(LocalCounter.MAX_BUCKETS):
        local.count(str(number), 60, 1000)
    local.count("late", 60, 1100)
    assert local.windows == {"late": (1, 1160)}

"""The cache of API keys: what it costs and when it drops keys. Tests of time set its clock."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import DatabaseError, connection
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.api_keys.cache import ApiKeyCache, api_key_cache
from accounts.models import ApiKey, Venue
from accounts.models.api_keys import ApiKeyChangeCounter
from framework.api.rate_limits.client_ip import client_ip
from tests.support import builders

NOTHING = "/api/v1/nothing"
ORDERS = "/api/v1/orders"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The clock of the cache, which stands still, with the production interval between checks."""
    now = [1000.0]
    monkeypatch.setattr("accounts.api_keys.cache.CHANGE_CHECK_INTERVAL_S", 0.5)
    monkeypatch.setattr("accounts.api_keys.cache.time.monotonic", lambda: now[0])
    api_key_cache.clear()
    yield now
    api_key_cache.clear()


# What it costs
def test_a_key_costs_a_query_every_half_second_and_one_more_every_half_minute(
    venue: Venue, clock: list[float], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    text = builders.key(venue).text
    for seconds, queries in ((0, 1), (0.4, 0), (0.5, 1), (0.9, 0), (29.9, 1), (30.0, 1), (30.4, 0), (59.9, 1)):
        clock[0] = 1000 + seconds
        with django_assert_num_queries(queries):
            assert api_key_cache.find(text) is not None


def test_a_whole_call_costs_no_query_for_its_key(
    venue: Venue, clock: list[float], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    api = builders.client(venue)
    api.get(NOTHING)
    with django_assert_num_queries(0):
        assert api.get(NOTHING).status_code == 404


@pytest.mark.django_db
def test_a_key_that_does_not_exist_is_not_remembered(
    venue: Venue, clock: list[float], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    key = builders.key(venue)
    digest = bytes(key.row.digest)
    ApiKey.objects.filter(pk=key.row.pk).update(digest=b"another")
    with django_assert_num_queries(2):
        assert (api_key_cache.find(key.text), api_key_cache.find(key.text)) == (None, None)
    ApiKey.objects.filter(pk=key.row.pk).update(digest=digest)
    assert api_key_cache.find(key.text) == key.row


# When it forgets
@pytest.mark.parametrize(
    "change",
    [
        {"revoked_at": NOON},
        {"expires_at": NOON},
        {"allowance": 7},
        {"scopes": ["orders:read"]},
    ],
)
def test_a_change_of_a_key_shows_within_half_a_second(
    venue: Venue, clock: list[float], change: dict[str, Any]
) -> None:
    text = builders.key(venue).text
    api_key_cache.find(text)
    ApiKey.objects.update(**change)
    clock[0] += 0.5
    found = api_key_cache.find(text)
    assert found is not None
    assert {name: getattr(found, name) for name in change} == change


def test_a_change_of_a_venue_shows_within_half_a_second(venue: Venue, clock: list[float]) -> None:
    text = builders.key(venue).text
    api_key_cache.find(text)
    Venue.objects.filter(pk=venue.pk).update(timezone="Asia/Tokyo")
    before = api_key_cache.find(text)
    clock[0] += 0.5
    after = api_key_cache.find(text)
    assert before is not None
    assert after is not None
    assert (before.venue.timezone, after.venue.timezone) == ("Europe/Rome", "Asia/Tokyo")


def test_a_key_that_is_deleted_is_gone_within_half_a_second(venue: Venue, clock: list[float]) -> None:
    text = builders.key(venue).text
    api_key_cache.find(text)
    ApiKey.objects.all().delete()
    clock[0] += 0.5
    assert api_key_cache.find(text) is None


def test_a_change_that_is_seen_while_another_key_is_read_is_a_change_of_all(
    venue: Venue, clock: list[float], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    first, second = builders.key(venue), builders.key(venue)
    api_key_cache.find(first.text)
    first.row.revoke(now=NOON)
    api_key_cache.find(second.text)
    with django_assert_num_queries(1):
        found = api_key_cache.find(first.text)
    assert found is not None
    assert found.revoked_at == NOON


def test_the_use_of_a_key_is_no_change(venue: Venue) -> None:
    key = builders.key(venue)
    before = ApiKeyChangeCounter.objects.values_list("number", flat=True).first()
    key.row.record_use(now=datetime.now(UTC) + timedelta(hours=1), address=None)
    assert ApiKeyChangeCounter.objects.values_list("number", flat=True).first() == before


@pytest.mark.django_db(transaction=True)
def test_a_key_that_changes_while_it_is_read_is_not_believed_for_half_a_minute(
    venue: Venue, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change is committed between the reading and the remembering: the number that was read is the older one."""
    key = builders.key(venue)
    apply_change_number = ApiKeyCache.apply_change_number

    def late(self: ApiKeyCache, changes: int, now: float) -> None:
        monkeypatch.setattr(ApiKeyCache, "apply_change_number", apply_change_number)
        key.row.revoke(now=NOON)
        apply_change_number(self, changes, now)

    monkeypatch.setattr(ApiKeyCache, "apply_change_number", late)
    first = api_key_cache.find(key.text)
    assert first is not None
    assert first.revoked_at is None
    clock[0] += 0.5
    second = api_key_cache.find(key.text)
    assert second is not None
    assert second.revoked_at == NOON


@pytest.mark.django_db(transaction=True)
def test_value_read_before_a_change_is_not_cached_after_it(
    venue: Venue, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread has seen the change by the time at which this one wants to remember what it read before."""
    key = builders.key(venue)
    apply_change_number = ApiKeyCache.apply_change_number

    def overtaken(self: ApiKeyCache, changes: int, now: float) -> None:
        apply_change_number(self, changes, now)
        apply_change_number(self, changes + 1, now)

    monkeypatch.setattr(ApiKeyCache, "apply_change_number", overtaken)
    assert api_key_cache.find(key.text) == key.row
    assert len(api_key_cache.keys) == 0


def test_expiry_is_checked_at_each_call_and_not_at_key_lookup(
    venue: Venue, clock: list[float], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with time_machine.travel(NOON - timedelta(seconds=1), tick=False) as travel:
        api = builders.client_with(builders.key(venue, expires_at=NOON).text)
        assert api.get(NOTHING).status_code == 404
        travel.move_to(NOON)
        with django_assert_num_queries(0):
            assert api.get(NOTHING).json()["error"]["code"] == "expired_api_key"


# Whose it is
def test_what_one_request_does_to_its_key_and_venue_no_other_sees(venue: Venue, clock: list[float]) -> None:
    text = builders.key(venue).text
    first, second = api_key_cache.find(text), api_key_cache.find(text)
    assert first is not None
    assert second is not None
    first.venue.name = first.name = "changed"
    third = api_key_cache.find(text)
    assert third is not None
    assert {(key.name, key.venue.name) for key in (second, third)} == {("test", "Trattoria")}
    assert third.venue_id == third.venue.pk == venue.pk


def test_no_more_keys_are_remembered_than_there_is_room_for(
    venue: Venue,
    clock: list[float],
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    monkeypatch.setattr("accounts.api_keys.cache.MAX_KEYS", 3)
    api_key_cache.clear()
    texts = [builders.key(venue).text for _ in range(5)]
    for text in texts:
        api_key_cache.find(text)
    assert len(api_key_cache.keys) == 3
    with django_assert_num_queries(0):
        api_key_cache.find(texts[-1])
    with django_assert_num_queries(1):
        api_key_cache.find(texts[0])


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_eight_threads_find_their_own_keys(venue: Venue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.api_keys.cache.MAX_KEYS", 5)
    api_key_cache.clear()
    keys = [builders.key(venue, name=str(number)) for number in range(8)]

    def find(number: int) -> bool:
        try:
            return all((api_key_cache.find(key.text) or key.row).name == key.row.name for key in keys[number:] * 10)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(find, range(8))) == [True] * 8


def test_calls_without_the_database_are_not_authenticated_by_unchecked_credentials(
    venue: Venue, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    api = builders.client(venue)
    api.get(NOTHING)

    def away(*_: object, **__: object) -> None:
        raise DatabaseError

    monkeypatch.setattr("accounts.models.api_keys.ApiKeyChangeCounter.objects.values_list", away)
    assert api.get(NOTHING).status_code == 404
    clock[0] += 0.5
    refused = api.get(NOTHING)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "service_unavailable")


# Last use
def test_the_last_use_is_written_down_once_a_minute_and_costs_other_calls_nothing(
    venue: Venue, clock: list[float], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    api = builders.client_with(ApiKey.create(venue, name="Till").text)
    with time_machine.travel(NOON, tick=False) as travel:
        for seconds, address, queries in ((0, 1, 2), (1, 2, 0), (59, 3, 0), (60, 4, 1), (61, 5, 0)):
            travel.move_to(NOON + timedelta(seconds=seconds))
            with django_assert_num_queries(queries):
                api.get(NOTHING, REMOTE_ADDR=f"203.0.113.{address}")
    row = ApiKey.objects.get()
    assert (row.last_used_at, row.last_used_ip) == (NOON + timedelta(seconds=60), "203.0.113.4")


@time_machine.travel(NOON, tick=False)
def test_a_use_that_another_process_wrote_down_is_not_written_again(
    venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    key = ApiKey.create(venue, name="Till")
    api_key_cache.find(key.text)
    key.row.record_use(now=NOON - timedelta(seconds=1), address="203.0.113.1")
    builders.client_with(key.text).get(NOTHING, REMOTE_ADDR="203.0.113.2")
    assert ApiKey.objects.get().last_used_ip == "203.0.113.1"


def test_a_key_that_is_refused_was_not_used(venue: Venue) -> None:
    key = ApiKey.create(venue, name="Till")
    key.row.revoke(now=NOON)
    assert builders.client_with(key.text).get(NOTHING).status_code == 401
    assert ApiKey.objects.get().last_used_at is None


@pytest.mark.django_db(transaction=True)
def test_read_only_database_does_not_prevent_responses(venue: Venue, caplog: pytest.LogCaptureFixture) -> None:
    key = ApiKey.create(venue, name="Till")
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    try:
        response = builders.client_with(key.text).get(NOTHING)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET default_transaction_read_only")
    assert response.status_code == 404
    assert f"the last use of the key {key.row.masked} was not stored" in caplog.text


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        ("198.51.100.1", "198.51.100.1"),
        ("198.51.100.1:5000", "198.51.100.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"),
        ("fe80::1%eth0", "fe80::1"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("unknown", None),
    ],
)
def test_the_address_of_the_last_use_is_the_callers_own(
    settings: Settings, venue: Venue, forwarded: str, expected: str | None
) -> None:
    settings.TRUSTED_PROXIES = 1
    request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", headers={"x-forwarded-for": forwarded})
    assert client_ip(request) == expected
    key = ApiKey.create(venue, name="Till")
    Client(headers={"authorization": f"Bearer {key.text}", "x-forwarded-for": forwarded}).get(NOTHING)
    row = ApiKey.objects.get()
    assert (row.last_used_ip, row.last_used_at is None) == (expected, False)

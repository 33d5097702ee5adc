"""Idempotency-Key: one effect however often a call is sent, and the same bytes back."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.idempotency import CLAIM
from accounts.models import ApiKey, Event, IdempotentCall, Venue
from accounts.tasks import purge_idempotent_calls
from framework.db.batched_delete import delete_in_batches
from framework.public_ids import new_id
from orders.models import Order
from reservations.models import Reservation
from tests.support import builders

ORDERS = "/api/v1/orders"
RESERVATIONS = "/api/v1/reservations"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def post(api: Client, body: Any, *, key: str | None = "first", path: str = ORDERS, **headers: str) -> Any:
    if key is not None:
        headers["idempotency-key"] = key
    return api.post(path, body, content_type="application/json", headers=headers)


def refusal_of(response: Any) -> tuple[int, str, str | None]:
    error = response.json()["error"]
    return response.status_code, error["code"], error["param"]


@pytest.fixture(params=[ORDERS, RESERVATIONS])
def call(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any], Callable[[], int]]:
    """Each path that creates: with a good body, and how many records there are."""
    if request.param == ORDERS:
        return ORDERS, builders.order_body(), Order.objects.count
    return RESERVATIONS, builders.reservation_body(), Reservation.objects.count


# The same call again
def test_a_call_that_is_sent_again_is_answered_alike_and_has_no_second_effect(
    api: Client, call: tuple[str, dict[str, Any], Callable[[], int]]
) -> None:
    path, body, count = call
    first, *others = [post(api, body, path=path) for _ in range(3)]
    assert first.status_code == 201
    assert "Idempotent-Replayed" not in first
    for again in others:
        assert (again.status_code, again.content, again["Idempotent-Replayed"]) == (201, first.content, "true")
        assert again["Content-Type"] == first["Content-Type"] == "application/json"
        assert again["X-Request-Id"] != first["X-Request-Id"]
    assert (count(), Event.objects.count(), IdempotentCall.objects.count()) == (1, 1, 1)


def test_location_and_etag_come_back_too(api: Client) -> None:
    first, again = (post(api, builders.order_body()) for _ in range(2))
    assert again["Location"] == first["Location"]
    assert again["Location"].endswith(f"/api/v1/orders/{first.json()['id']}")
    assert (first["ETag"], again["ETag"]) == ('"1"', '"1"')


def test_what_comes_back_is_what_was_answered_then_not_what_is_now(api: Client) -> None:
    first = post(api, builders.order_body())
    api.put(f"{ORDERS}/{first.json()['id']}/status", {"status": "completed"}, content_type="application/json")
    again = post(api, builders.order_body())
    assert (again.content, again.json()["status"]) == (first.content, "pending")


def test_the_answer_is_the_same_as_without_a_key(api: Client) -> None:
    with time_machine.travel(NOON, tick=False):
        plain, keyed = post(api, builders.order_body(), key=None).json(), post(api, builders.order_body()).json()
    assert plain | {"id": "", "number": 0} == keyed | {"id": "", "number": 0}
    assert list(plain) == list(keyed)


def test_without_the_header_each_call_has_its_effect(api: Client) -> None:
    assert [post(api, builders.order_body(), key=None).status_code for _ in range(2)] == [201, 201]
    assert (Order.objects.count(), IdempotentCall.objects.count()) == (2, 0)


def test_two_keys_are_two_orders(api: Client) -> None:
    first, second = post(api, builders.order_body(), key="first"), post(api, builders.order_body(), key="second")
    assert first.json()["id"] != second.json()["id"]
    assert Order.objects.count() == 2


def test_an_optional_slash_makes_no_other_call(api: Client) -> None:
    first, again = post(api, builders.order_body()), post(api, builders.order_body(), path=f"{ORDERS}/")
    assert (again.content, again["Idempotent-Replayed"]) == (first.content, "true")


def test_a_replay_costs_five_statements(api: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    """Whether keys have changed, the two ends of the transaction, and two between them."""
    post(api, builders.order_body())
    with django_assert_num_queries(5):
        post(api, builders.order_body())


def test_a_page_may_send_a_key_and_read_of_the_replay(api: Client) -> None:
    page = {"origin": "https://shop.example"}
    asked = page | {"access-control-request-method": "POST", "access-control-request-headers": "idempotency-key"}
    assert "idempotency-key" in api.options(ORDERS, headers=asked)["Access-Control-Allow-Headers"]
    assert "Idempotent-Replayed" in post(api, builders.order_body(), **page)["Access-Control-Expose-Headers"]


# Whose key it is
def test_a_key_of_one_caller_is_nothing_to_another(api: Client, other_api: Client, venue: Venue) -> None:
    third = builders.client(venue)
    ids = {post(caller, builders.order_body()).json()["id"] for caller in (api, other_api, third)}
    assert (len(ids), Order.objects.count(), IdempotentCall.objects.count()) == (3, 3, 3)


@pytest.mark.django_db
def test_a_key_that_replaces_another_may_repeat_its_calls(venue: Venue) -> None:
    old = builders.key(venue)
    first = post(builders.client_with(old.text), builders.order_body())
    new = old.row.rotate(overlap=timedelta(hours=1), now=datetime.now(UTC))
    again = post(builders.client_with(new.text), builders.order_body())
    assert (again.content, again["Idempotent-Replayed"]) == (first.content, "true")
    assert Order.objects.count() == 1


def test_a_replay_is_counted_and_a_revoked_key_gets_none(venue: Venue) -> None:
    key = builders.key(venue, allowance=2)
    api = builders.client_with(key.text)
    left = [post(api, builders.order_body())["X-RateLimit-Remaining"] for _ in range(2)]
    assert left == ["1", "0"]
    assert refusal_of(post(api, builders.order_body())) == (429, "rate_limit_exceeded", None)
    ApiKey.objects.filter(pk=key.row.pk).update(revoked_at=NOON)
    assert refusal_of(post(api, builders.order_body())) == (401, "revoked_api_key", None)


# Another call
def test_another_body_is_refused(api: Client) -> None:
    post(api, builders.order_body())
    other = post(api, builders.order_body(customer_id="another"))
    assert refusal_of(other) == (400, "idempotency_key_reused", "Idempotency-Key")
    assert Order.objects.count() == 1


def test_the_same_object_in_other_bytes_is_another_body(api: Client) -> None:
    post(api, '{"customer_id":"c","items":[{"menu_item_id":"m","quantity":1}],"payment_method":"card"}')
    other = post(api, '{"customer_id": "c","items":[{"menu_item_id":"m","quantity":1}],"payment_method":"card"}')
    assert refusal_of(other) == (400, "idempotency_key_reused", "Idempotency-Key")


def test_another_path_is_refused(api: Client) -> None:
    post(api, builders.order_body())
    other = post(api, builders.reservation_body(), path=RESERVATIONS)
    assert refusal_of(other) == (400, "idempotency_key_reused", "Idempotency-Key")
    assert other.json()["error"]["message"] == (
        "This `Idempotency-Key` was used with `POST /api/v1/orders` before. Use a new one."
    )
    assert Reservation.objects.count() == 0


# Keys
@pytest.mark.parametrize("key", ["", "a b", "a, b", " ", "é", "a\tb", "k" * 256])
def test_a_key_that_is_not_visible_ascii_is_refused(api: Client, key: str) -> None:
    response = post(api, builders.order_body(), key=key)
    assert refusal_of(response) == (400, "invalid_request", "Idempotency-Key")
    assert (Order.objects.count(), IdempotentCall.objects.count()) == (0, 0)


@pytest.mark.parametrize("key", ["!", "~", "k" * 255, "a,b", '"8e03978e-40d5-43dd-bc93-6894a57f9324"'])
def test_any_visible_ascii_is_a_key(api: Client, key: str) -> None:
    assert post(api, builders.order_body(), key=key).status_code == 201
    assert IdempotentCall.objects.get().key == key


def test_calls_that_create_nothing_do_not_read_the_header(api: Client, venue: Venue) -> None:
    order = builders.order(venue)
    for response in (
        api.get(ORDERS, headers={"idempotency-key": ""}),
        api.put(
            f"{ORDERS}/{order.public_id}/status",
            {"status": "completed"},
            content_type="application/json",
            headers={"idempotency-key": "first"},
        ),
    ):
        assert response.status_code == 200
    assert IdempotentCall.objects.count() == 0


# Refused and broken
@pytest.mark.parametrize("wrong", [{"items": []}, "{", "", [1]])
def test_a_refused_call_leaves_its_key_unused(api: Client, wrong: Any) -> None:
    body = builders.order_body(**wrong) if isinstance(wrong, dict) else wrong
    assert refusal_of(post(api, body))[:2] == (400, "invalid_request")
    assert (Order.objects.count(), IdempotentCall.objects.count()) == (0, 0)
    right = post(api, builders.order_body())
    assert (right.status_code, "Idempotent-Replayed" in right) == (201, False)


def test_a_call_that_broke_leaves_its_key_unused(venue: Venue, monkeypatch: pytest.MonkeyPatch) -> None:
    api = builders.client(venue, raise_request_exception=False)

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        # The last thing that an order does.
        patched.setattr("accounts.webhooks.outbox.enqueue_deliveries", broken)
        assert refusal_of(post(api, builders.order_body())) == (500, "internal_error", None)
    assert (Order.objects.count(), IdempotentCall.objects.count()) == (0, 0)
    assert post(api, builders.order_body()).status_code == 201


# Time
def test_after_a_day_a_key_is_new_also_where_it_was_not_purged(api: Client) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        first = post(api, builders.order_body())
        clock.move_to(NOON + timedelta(hours=24, seconds=-1))
        assert post(api, builders.order_body()).content == first.content
        clock.move_to(NOON + timedelta(hours=24))
        second = post(api, builders.order_body(customer_id="another"))
        assert (second.status_code, "Idempotent-Replayed" in second) == (201, False)
        assert post(api, builders.order_body(customer_id="another")).content == second.content
    assert (Order.objects.count(), IdempotentCall.objects.count()) == (2, 1)


def test_the_purge_takes_what_is_a_day_old(api: Client) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        post(api, builders.order_body(), key="old")
        clock.move_to(NOON + timedelta(seconds=1))
        post(api, builders.order_body(), key="young")
        clock.move_to(NOON + timedelta(hours=24))
        purge_idempotent_calls(another_argument="of a later version")
    assert list(IdempotentCall.objects.values_list("key", flat=True)) == ["young"]


def test_the_purge_goes_piece_by_piece(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete_in_batches, "__kwdefaults__", {"batch": 2})
    for number in range(5):
        post(api, builders.order_body(), key=str(number))
    with time_machine.travel(datetime.now(UTC) + IdempotentCall.RETENTION):
        purge_idempotent_calls()
    assert not IdempotentCall.objects.exists()
    assert Order.objects.count() == 5


# Twins
@contextmanager
def under_way(row: dict[str, Any]) -> Iterator[threading.Event]:
    """A first call with the key of this row, in a transaction of another connection, until the event is set."""
    started, go_on = threading.Event(), threading.Event()

    def first() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(CLAIM, row)
            started.set()
            go_on.wait(10)
            transaction.set_rollback(True)
        connection.close()

    with ThreadPoolExecutor(1) as thread:
        ended = thread.submit(first)
        assert started.wait(10)
        try:
            yield go_on
        finally:
            go_on.set()
            ended.result()


@pytest.fixture
def row(transactional_db: None, venue: Venue) -> tuple[Client, dict[str, Any]]:
    """A caller, and the row of a call with the key `first` of theirs."""
    key = builders.key(venue)
    now = datetime.now(UTC)
    return builders.client_with(key.text), {
        "id": new_id(),
        "scope": key.row.family.hex,
        "key": "first",
        "operation": "POST /api/v1/orders",
        "body_sha256": b"",
        "now": now,
        "expired": now,
    }


def test_concurrent_duplicate_that_waits_too_long_is_asked_to_retry(row: tuple[Client, dict[str, Any]]) -> None:
    api, values = row
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = 100")
    try:
        with under_way(values):
            response = post(api, builders.order_body())
            other = post(api, builders.order_body(), key="second")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
    assert refusal_of(response) == (400, "idempotency_in_progress", None)
    assert response["Retry-After"] == "1"
    assert (other.status_code, Order.objects.count()) == (201, 1)


def test_a_twin_of_a_call_that_fails_takes_its_place(row: tuple[Client, dict[str, Any]]) -> None:
    api, values = row
    with under_way(values) as go_on:
        threading.Timer(0.2, go_on.set).start()
        response = post(api, builders.order_body())
    assert (response.status_code, "Idempotent-Replayed" in response, Order.objects.count()) == (201, False, 1)


@pytest.mark.exhaustive
def test_of_eight_twins_at_once_one_has_the_effect(row: tuple[Client, dict[str, Any]]) -> None:
    api, _ = row
    together = threading.Barrier(8)

    def twin(_: int) -> Any:
        together.wait(10)
        try:
            return post(api, builders.order_body())
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(twin, range(8)))
    assert {(response.status_code, response.content) for response in answers} == {(201, answers[0].content)}
    assert sorted("Idempotent-Replayed" in response for response in answers) == [False] + [True] * 7
    assert (Order.objects.count(), Event.objects.count()) == (1, 1)

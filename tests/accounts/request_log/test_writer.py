"""The request log: what is written of a call, what is not kept, and what becomes of lines when something fails."""

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.utils import OperationalError
from django.test import Client
from django.utils import timezone

from accounts.models import ApiCall, ApiCallCount, ApiKey, Venue
from accounts.request_log import redaction
from accounts.request_log import writer as log
from accounts.request_log.writer import request_log
from accounts.tasks import purge_request_log
from framework.db.batched_delete import delete_in_batches
from framework.public_ids import encode, new_id
from tests.support import builders

ORDERS = "/api/v1/orders"


def line(key: ApiKey, **fields: Any) -> log.LogEntry:
    """A call that was answered 200 just now."""
    result: dict[str, Any] = {
        "request_id": encode("req", new_id()),
        "key": key,
        "method": "GET",
        "path": ORDERS,
        "query": "",
        "status": 200,
        "duration_ms": 3,
        "address": "192.0.2.1",
        "agent": "till/1",
        "body": b"",
        "answer": b"",
        "at": timezone.now(),
    }
    return log.LogEntry(**result | fields)


def test_a_call_is_written_down_with_what_it_asked_and_was_answered(venue: Venue) -> None:
    issued = builders.key(venue)
    response = builders.client_with(issued.text).get(
        f"{ORDERS}?page=2&limit=5", headers={"user-agent": "till/2.1"}, REMOTE_ADDR="192.0.2.7"
    )
    assert ApiCall.objects.count() == 0
    assert request_log.flush()
    call = ApiCall.objects.get()
    assert call.public_id == response["X-Request-Id"]
    assert (call.venue_id, call.key_id, call.method, call.path) == (venue.pk, issued.row.pk, "GET", ORDERS)
    assert (call.query, call.status, call.error_code, call.address) == ("page=2&limit=5", 200, "", "192.0.2.7")
    assert (call.user_agent, call.body, call.answer) == ("till/2.1", "", "")
    assert call.duration_ms < 5000
    assert abs(call.created_at - timezone.now()) < timedelta(seconds=30)


def test_calls_are_counted_by_the_hour(venue: Venue) -> None:
    api = builders.client(venue)
    for _ in range(3):
        api.get(ORDERS)
    api.get(f"{ORDERS}?page=x")
    request_log.flush()
    api.get(ORDERS)
    request_log.flush()
    hour = ApiCallCount.objects.get()
    assert (hour.venue_id, hour.calls, hour.client_errors, hour.server_errors) == (venue.pk, 5, 1, 0)
    assert (hour.hour.minute, hour.hour.second) == (0, 0)


def test_body_and_response_of_a_successful_call_are_not_logged(venue: Venue) -> None:
    assert builders.client(venue).post(ORDERS, builders.order_body(), "application/json").status_code == 201
    request_log.flush()
    assert (ApiCall.objects.get().body, ApiCall.objects.get().answer) == ("", "")


def test_body_and_response_of_a_refused_call_are_logged_without_personal_data(venue: Venue) -> None:
    sent = builders.reservation_body(
        customer_name="Ada Lovelace",
        customer_phone="not a number of Ada Lovelace",
        special_requests="Ada Lovelace is allergic to nuts",
        metadata={"crm": "cust-778"},
        party_size=0,
    )
    response = builders.client(venue).post("/api/v1/reservations", sent, "application/json")
    assert response.status_code == 400
    request_log.flush()
    call = ApiCall.objects.get()
    assert call.error_code == "invalid_request"
    assert call.body == (
        "{\n"
        '  "customer_name": "[masked]",\n'
        '  "customer_email": "[masked]",\n'
        f'  "date": "{sent["date"]}",\n'
        '  "time": "19:30",\n'
        '  "party_size": 0,\n'
        '  "customer_phone": "[masked]",\n'
        '  "special_requests": "[masked]",\n'
        '  "metadata": {\n'
        '    "crm": "[masked]"\n'
        "  }\n"
        "}"
    )
    assert '"param": "party_size"' in call.answer
    assert response["X-Request-Id"] in call.answer
    for secret in ("Ada", "Lovelace", "ada@example.com", "nuts", "cust-778"):
        assert secret not in call.body + call.answer


def test_key_itself_is_not_stored(venue: Venue) -> None:
    issued = builders.key(venue)
    api = builders.client_with(issued.text)
    api.get(f"/api/v1/{issued.text}?page={issued.text}&api_key={issued.text}", headers={"user-agent": issued.text})
    api.post(ORDERS, builders.order_body(payment_method=issued.text, **{issued.text: 1}), "application/json")
    request_log.flush()
    assert ApiCall.objects.count() == 2
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(call::text, ' ') FROM accounts_apicall call")
        stored = cursor.fetchone()[0]
    assert issued.text not in stored
    assert issued.text[8:30] not in stored


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("ada@example.com", "[masked]"),
        ("write to ada%40example.com!", "write to [masked]"),
        ("call +39 06 1234 5678 now", "call [masked] now"),
        ("(555) 010-0999", "([masked]"),
        ("\uff14\uff19 \uff13\uff10 \uff11\uff12\uff13\uff14\uff15\uff16\uff17", "[masked]"),
        ("rk_live_" + "a" * 46, "[masked]"),
        ("Bearer abc.def.ghi", "[masked]"),
        ("4111 1111 1111 1111", "[masked]"),
        ("DE89370400440532013000", "DE[masked]"),
        ("2026-11-28 at 19:30 for 4", "2026-11-28 at 19:30 for 4"),
        (
            "/api/v1/orders/ord_01jd5k3v8rf8hb2m0c9t6w4y7z/status",
            "/api/v1/orders/ord_01jd5k3v8rf8hb2m0c9t6w4y7z/status",
        ),
        ("a\x00b\ud800c\u202ed\x1b[31m", "a\ufffdb\ufffdc\ufffdd\ufffd[31m"),
    ],
    ids=range(12),
)
def test_what_looks_personal_is_masked_in_any_text(sent: str, stored: str) -> None:
    assert redaction.redact_text(sent) == stored


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (b'{"customer_name": "Ada Lovelace",}', '{"customer_name": "… …",}'),
        (b'{"customer_email": "ada\\u0040example.com"', '{"customer_email": "…"'),
        (b"customer_name=Ada+Lovelace&party_size=4", "customer_name=…+…&party_size=4"),
        (b'{"a": "Ada", "a": "Lovelace"}', '{"…": "…", "…": "…"}'),
        (b"[" * 5000, "[" * 4000),
        (b"\xff\xfe\x00", "\ufffd\ufffd\ufffd"),
        (b'{"quantity": 1e400, "phone": 5551234567}', '{\n  "quantity": Infinity,\n  "phone": "[masked]"\n}'),
        (b'["Ada", 5, {"notes": {"x": [1, true, null]}}]', None),
        (b'{"custmer_name": "Ada", "pi": 3.14, "n": 15550100999}', None),
        (b"x" * 20_000, "(20000 bytes: too long to be kept)"),
        (b"  ", ""),
    ],
    ids=range(11),
)
def test_only_the_shape_of_an_invalid_body_is_logged(sent: bytes, stored: str | None) -> None:
    found = redaction.redact_body(sent)
    assert "Ada" not in found
    assert "1555" not in found
    if stored is not None:
        assert found == stored


def test_a_query_keeps_the_values_of_known_parameters_alone() -> None:
    asked = "status=pending&customer_id=cust_9&page=1&q=Ada+Lovelace&ada%40example.com=1&date=&x=%00"
    assert redaction.redact_query(asked) == (
        "status=pending&customer_id=[masked]&page=1&q=[masked]&[masked]=[masked]&date=&x=[masked]"
    )


def test_hostile_texts_are_masked_in_no_time() -> None:
    began = time.perf_counter()
    for hostile in ("a" * 16_000, "1 " * 8_000, "a@" * 8_000, "+" * 16_000, "\\u0040" * 2_600, '{"a":' * 3_000):
        redaction.redact_exchange(hostile.encode(), b'{"error": {"message": "x"}}')
        redaction.redact_text(hostile)
    assert time.perf_counter() - began < 10


def test_control_characters_break_no_flush(venue: Venue) -> None:
    key = builders.key(venue).row
    request_log.add(
        line(key, path="/api/\x00\ud800", agent="\x00", query="a=%00&b=%ed%a0%80", status=404, body=b"\x00")
    )
    assert request_log.flush()
    assert ApiCall.objects.get().path == "/api/\ufffd\ufffd"


def test_calls_of_an_expired_key_are_logged_for_its_venue_and_those_of_unknown_keys_for_none(venue: Venue) -> None:
    issued = builders.key(venue)
    issued.row.revoke(now=timezone.now())
    assert builders.client_with(issued.text).get(ORDERS).status_code == 401
    assert Client().get(ORDERS).status_code == 401
    assert builders.client_with("rk_live_nonsense").get(ORDERS).status_code == 401
    request_log.flush()
    call = ApiCall.objects.get()
    assert (call.key_id, call.status, call.error_code) == (issued.row.pk, 401, "revoked_api_key")


def test_unauthenticated_calls_are_logged_once_a_second_and_all_are_counted(venue: Venue) -> None:
    key = builders.key(venue).row
    now = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
    for number in range(10):
        request_log.add(line(key, status=429, at=now + timedelta(milliseconds=number * 300)))
    request_log.flush()
    assert ApiCall.objects.count() == 3
    hour = ApiCallCount.objects.get()
    assert (hour.hour, hour.calls, hour.client_errors) == (now.replace(minute=0), 10, 10)


def test_a_line_that_comes_twice_is_written_and_counted_once(venue: Venue) -> None:
    lines = [line(builders.key(venue).row) for _ in range(5)]
    for _ in range(2):
        for each in lines:
            request_log.add(each)
        request_log.flush()
    assert (ApiCall.objects.count(), ApiCallCount.objects.get().calls) == (5, 5)


def test_two_hundred_calls_cost_one_statement(venue: Venue, django_assert_num_queries: Any) -> None:
    key = builders.key(venue).row
    for _ in range(200):
        request_log.add(line(key))
    with django_assert_num_queries(1):
        request_log.flush()
    assert ApiCall.objects.count() == 200


def test_while_the_database_is_away_lines_wait_and_those_beyond_the_limit_are_counted(
    venue: Venue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    key = builders.key(venue).row
    monkeypatch.setattr(log, "MAX_QUEUED", 250)

    def away(*_: Any) -> None:
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as broken:
        broken.setattr(CursorWrapper, "execute", away)
        for _ in range(300):
            request_log.add(line(key))
        assert not request_log.flush()
    assert request_log.flush()
    assert (ApiCall.objects.count(), ApiCallCount.objects.get().calls) == (250, 250)
    assert "250 calls wait" not in caplog.text
    assert "200 calls wait to be logged: the server closed the connection" in caplog.text
    assert "50 calls were not logged: the queue was full" in caplog.text


def test_bodies_that_wait_take_a_limited_room(venue: Venue, monkeypatch: pytest.MonkeyPatch) -> None:
    key = builders.key(venue).row
    monkeypatch.setattr(log, "MAX_QUEUED_BYTES", 100_000)
    for _ in range(50):
        request_log.add(line(key, status=400, body=b"x" * 10_000))
    assert len(request_log.queue) == 10


def test_what_breaks_the_log_does_not_break_the_call(
    venue: Venue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ValueError("no line")

    monkeypatch.setattr(log, "build_entry", broken)
    assert builders.client(venue).get(ORDERS).status_code == 200
    assert "a call was not logged" in caplog.text


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_lines_of_many_threads_are_all_written_by_the_one_that_writes(venue: Venue) -> None:
    key = builders.key(venue).row
    mine = log.RequestLog()
    mine.serve()

    def call() -> None:
        for _ in range(100):
            mine.add(line(key))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    mine.stop()
    assert mine.thread is not None
    assert not mine.thread.is_alive()
    assert (ApiCall.objects.count(), ApiCallCount.objects.get().calls) == (800, 800)


@pytest.mark.django_db(transaction=True)
def test_two_processes_that_count_the_same_hours_never_deadlock(venue: Venue, other_venue: Venue) -> None:
    keys = [builders.key(venue).row, builders.key(other_venue).row]
    logs = [log.RequestLog(), log.RequestLog()]
    failed: list[bool] = []

    def count(mine: log.RequestLog, order: list[ApiKey]) -> None:
        for _ in range(30):
            for key in order:
                mine.add(line(key))
            failed.append(not mine.flush())
        connection.close()

    threads = [
        threading.Thread(target=count, args=(logs[0], keys)),
        threading.Thread(target=count, args=(logs[1], keys[::-1])),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(failed)
    assert sorted(ApiCallCount.objects.values_list("calls", flat=True)) == [60, 60]


def test_log_is_stored_for_a_month_and_its_counts_for_four_hundred_days(
    venue: Venue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delete_in_batches, "__kwdefaults__", {"batch": 2})
    key, now = builders.key(venue).row, timezone.now()
    for days in (0, 29, 31, 32, 33, 401):
        request_log.add(line(key, at=now - timedelta(days=days)))
    request_log.flush()
    purge_request_log()
    assert ApiCall.objects.count() == 2
    assert ApiCallCount.objects.count() == 5

"""Webhooks on their way: what is sent, when it is tried again, and what ends it."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Event, EventType, Venue, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import delivery_queue, dispatcher, endpoints, http_client, outbox, signing_secrets
from tests.accounts import webhook_receivers
from tests.accounts.webhook_receivers import Answer, Received, receiving, says
from tests.support import builders

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _to_loopback(settings: Settings) -> None:
    """The receivers are here."""
    settings.WEBHOOKS_TO_LOOPBACK = True


def happens(venue: Venue, *, now: datetime | None = None) -> Event:
    """Something happens at the venue."""
    key = outbox.record_event(
        venue,
        EventType.ORDER_CREATED,
        record={"id": "ord_1", "customer_id": "Zoë", "total": "9.50", "a": None},
        subject=None,
        actor="system",
        now=now or timezone.now(),
    )
    return Event.objects.get(pk=key)


def deliver(*, at: datetime | None = None, timeout_s: float = 5.0) -> None:
    """A worker delivers what is due at this moment."""
    dispatcher.run(clock=lambda: at or timezone.now(), claim_s=0.2, timeout_s=timeout_s)


def the_delivery() -> WebhookDelivery:
    """The only one."""
    return WebhookDelivery.objects.select_related("event", "endpoint").get()


def test_an_order_arrives_at_the_receiver_and_is_verified_by_the_library(venue: Venue) -> None:
    with receiving() as receiver:
        _, secret = endpoints.create(venue, url=receiver.url)
        order = builders.order(venue)
        deliver()
    (received,) = receiver.received
    content = received.verified(secret)
    event = Event.objects.get()
    assert list(content) == ["data", "timestamp", "type"]
    assert content["type"] == "order.created"
    assert content["timestamp"] == event.created_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    assert content["data"]["id"] == order.public_id
    assert content["data"] == event.record
    assert received.path == "/hooks?from=tablewire"
    assert received.headers["webhook-id"] == event.public_id
    assert received.headers["content-type"] == "application/json"
    assert received.headers["user-agent"] == "Tablewire-Webhooks/1"
    assert received.headers["host"] == f"127.0.0.1:{receiver.server_port}"
    delivery = the_delivery()
    assert (delivery.state, delivery.attempts, delivery.last_status, delivery.next_attempt_at) == (
        "delivered",
        1,
        200,
        None,
    )
    assert delivery.delivered_at is not None
    assert delivery.leased_until is None


def test_each_try_sends_the_same_id_and_bytes_with_a_time_and_signature_of_its_own(venue: Venue) -> None:
    def second_time_well(_: Received, before: int) -> Answer:
        return Answer(500 if before == 0 else 204)

    with receiving(second_time_well) as receiver:
        _, secret = endpoints.create(venue, url=receiver.url)
        now = timezone.now()
        happens(venue, now=now)
        deliver(at=now)
        deliver(at=now + timedelta(seconds=6))
    first, second = receiver.received
    assert first.body == second.body
    assert first.body.decode().startswith(
        '{"data":{"a":null,"customer_id":"Zoë","id":"ord_1","total":"9.50"},"timestamp"'
    )
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 6
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
    assert first.verified(secret) == second.verified(secret)
    assert (the_delivery().state, the_delivery().attempts) == ("delivered", 2)


@pytest.mark.exhaustive
def test_ten_tries_come_by_the_schedule_and_then_it_has_failed(venue: Venue) -> None:
    with receiving(says(500, b"no")) as receiver:
        endpoints.create(venue, url=receiver.url)
        now = begun = timezone.now()
        happens(venue, now=now)
        waits = []
        for tries in range(1, 11):
            deliver(at=now)
            delivery = the_delivery()
            assert (delivery.attempts, delivery.last_status, delivery.last_response) == (tries, 500, "no")
            if delivery.next_attempt_at is not None:
                waits.append((delivery.next_attempt_at - now) / timedelta(seconds=1))
                deliver(at=delivery.next_attempt_at - timedelta(seconds=1))
                now = delivery.next_attempt_at
        deliver(at=now + timedelta(days=3))
    assert len(receiver.received) == 10
    for wait, minimum in zip(waits, (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400), strict=True):
        assert minimum <= wait <= minimum * 1.1
    assert the_delivery().state == "failed"
    assert WebhookEndpoint.objects.get().failing_since == begun


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_success(venue: Venue, status: int) -> None:
    with receiving(says(status)) as receiver:
        endpoints.create(venue, url=receiver.url)
        happens(venue)
        deliver()
    assert (the_delivery().state, the_delivery().last_status) == ("delivered", status)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_a_failure_and_not_followed(venue: Venue, status: int) -> None:
    with receiving() as elsewhere, receiving(says(status, Location=elsewhere.url)) as receiver:
        endpoints.create(venue, url=receiver.url)
        happens(venue)
        deliver()
        assert len(receiver.received) == 1
        assert elsewhere.received == []
    assert (the_delivery().state, the_delivery().last_status, the_delivery().attempts) == ("pending", status, 1)


def test_410_switches_the_endpoint_off_and_gives_up_what_waits_for_it(venue: Venue, other_venue: Venue) -> None:
    with receiving(says(410)) as receiver:
        endpoint, _ = endpoints.create(venue, url=receiver.url)
        endpoints.create(other_venue, url="https://hooks.example.com/")
        now = timezone.now()
        happens(venue, now=now)
        late = happens(venue, now=now + MINUTE)
        happens(other_venue, now=now + MINUTE)
        deliver(at=now)
    endpoint.refresh_from_db()
    assert (endpoint.disabled_reason, endpoint.disabled_at) == ("gone", now)
    waiting = WebhookDelivery.objects.get(event=late)
    assert (waiting.state, waiting.attempts, waiting.last_error) == ("failed", 0, "the endpoint was disabled")
    assert WebhookDelivery.objects.get(event__venue=other_venue).state == "pending"
    happens(venue)
    assert WebhookDelivery.objects.filter(endpoint=endpoint).count() == 2
    assert len(receiver.received) == 1


NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("99999999999999999999", 86400),
        ("Sat, 21 Nov 2026 12:10:00 GMT", 600),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0),
        ("Thu, 01 Jan 2099 00:00:00 GMT", 86400),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 86400),
        ("Mon, 01 Jan 99999999999999 00:00:00 GMT", None),
        ("soon", None),
        ("-5", None),
        ("²", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date_up_to_a_day(value: str, seconds: int | None) -> None:
    assert http_client.parse_retry_after(value, now=NOW) == (None if seconds is None else timedelta(seconds=seconds))


@pytest.mark.parametrize(("status", "least"), [(429, 600), (503, 600), (500, 5)])
def test_a_busy_receiver_is_left_alone_for_as_long_as_it_asks(venue: Venue, status: int, least: int) -> None:
    with receiving(says(status, Retry_After="600")) as receiver:
        endpoints.create(venue, url=receiver.url)
        now = timezone.now()
        happens(venue, now=now)
        deliver(at=now)
    next_attempt_at = the_delivery().next_attempt_at
    assert next_attempt_at is not None
    assert timedelta(seconds=least) <= next_attempt_at - now <= timedelta(seconds=least * 1.1)


def test_the_wait_is_never_shorter_than_the_schedule() -> None:
    assert delivery_queue.get_retry_delay(9, retry_after=timedelta(seconds=1)) >= timedelta(hours=24)


def test_a_receiver_puts_the_next_try_off_by_a_day_at_most() -> None:
    asked = {delivery_queue.get_retry_delay(1, retry_after=http_client.MAX_RETRY_AFTER) for _ in range(20)}
    assert asked == {timedelta(hours=24)}
    spread = {delivery_queue.get_retry_delay(1, retry_after=timedelta(hours=1)) for _ in range(20)}
    assert len(spread) > 1
    assert all(timedelta(hours=1) <= wait <= timedelta(minutes=66) for wait in spread)


@pytest.mark.exhaustive
def test_a_receiver_that_drips_bytes_is_left_at_the_timeout(venue: Venue) -> None:
    dripped = []

    def drip(connection: Any) -> None:
        webhook_receivers.hear(connection)
        for character in b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 200:
            connection.sendall(bytes([character]))
            dripped.append(character)
            time.sleep(0.05)

    with webhook_receivers.listening(drip) as (port, came):
        endpoints.create(venue, url=f"http://127.0.0.1:{port}/")
        happens(venue)
        deliver(timeout_s=0.6)
        # All of them would take ten seconds.
        assert len(dripped) < 100
        assert len(came) == 1
    delivery = the_delivery()
    assert (delivery.state, delivery.last_status, delivery.last_error) == ("pending", None, "no answer within 0.6 s")


@pytest.mark.exhaustive
def test_a_body_without_an_end_costs_no_more_than_the_timeout_and_the_status_counts(venue: Venue) -> None:
    def babble(connection: Any) -> None:
        webhook_receivers.hear(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"1\r\na\r\n")
            time.sleep(0.05)

    with webhook_receivers.listening(babble) as (port, _):
        endpoints.create(venue, url=f"http://127.0.0.1:{port}/")
        happens(venue)
        deliver(timeout_s=0.6)
    assert (the_delivery().state, the_delivery().last_status) == ("delivered", 200)
    assert set(the_delivery().last_response) == {"a"}


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (b"", "Server disconnected without sending a response."),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", "illegal status line"),
    ],
)
def test_what_speaks_no_http_is_a_failed_try(venue: Venue, sent: bytes, error: str) -> None:
    def talk(connection: Any) -> None:
        webhook_receivers.hear(connection)
        connection.sendall(sent)
        connection.close()

    with webhook_receivers.listening(talk) as (port, _):
        endpoints.create(venue, url=f"http://127.0.0.1:{port}/")
        happens(venue)
        deliver()
    assert (the_delivery().state, the_delivery().attempts, the_delivery().last_status) == ("pending", 1, None)
    assert error in the_delivery().last_error


def test_error_names_an_unreachable_address(venue: Venue) -> None:
    with webhook_receivers.listening() as (port, _):
        pass
    endpoints.create(venue, url=f"http://127.0.0.1:{port}/")
    happens(venue)
    deliver()
    assert (the_delivery().state, the_delivery().last_error) == ("pending", "Connection refused")


def test_at_most_one_kilobyte_of_the_answer_is_kept_and_all_of_it_can_be_seen(venue: Venue) -> None:
    with receiving(says(400, b"\x00\x1b[31mno\xff\n" + b"x" * 100_000)) as receiver:
        endpoints.create(venue, url=receiver.url)
        happens(venue)
        deliver()
    stored = the_delivery().last_response
    assert stored == "\ufffd\ufffd[31mno\ufffd\n" + "x" * 1014
    assert len(stored) == 1024


def test_only_the_events_of_the_venue_and_of_the_wanted_types_are_sent(venue: Venue, other_venue: Venue) -> None:
    with receiving() as every, receiving() as cancelled, receiving() as foreign:
        endpoints.create(venue, url=every.url)
        endpoints.create(venue, url=cancelled.url, types=["order.cancelled"])
        endpoints.create(other_venue, url=foreign.url)
        builders.order(venue, status="cancelled")
        deliver()
        types = [json.loads(received.body)["type"] for received in every.received]
        assert sorted(types) == ["order.cancelled", "order.created"]
        assert [json.loads(received.body)["type"] for received in cancelled.received] == ["order.cancelled"]
        assert foreign.received == []


def test_while_a_secret_rotates_both_verify_and_a_day_later_the_new_one_alone(venue: Venue) -> None:
    with receiving() as receiver:
        endpoint, old = endpoints.create(venue, url=receiver.url)
        now = timezone.now()
        new = endpoints.rotate_secret(endpoint, now=now)
        happens(venue)
        deliver()
        (received,) = receiver.received
        assert received.verified(old) == received.verified(new)
        assert received.headers["webhook-signature"].count("v1,") == 2
        later = http_client.build_headers(Event.objects.get(), endpoint, now=now + timedelta(hours=24))
    assert later["webhook-signature"].count("v1,") == 1


def test_a_secret_that_cannot_be_read_is_a_failed_try_until_it_is_rotated(venue: Venue, settings: Settings) -> None:
    with receiving() as receiver:
        endpoint, _ = endpoints.create(venue, url=receiver.url)
        settings.SECRET_KEY = "another" * 8
        now = timezone.now()
        happens(venue, now=now)
        deliver(at=now)
        assert receiver.received == []
        delivery = the_delivery()
        assert (delivery.state, delivery.attempts) == ("pending", 1)
        assert delivery.last_error == (
            "the stored secret cannot be decrypted because SECRET_KEY was changed: rotate the secret"
        )
        secret = endpoints.rotate_secret(endpoint, now=now)
        deliver(at=now + timedelta(seconds=6))
        (received,) = receiver.received
        assert received.headers["webhook-signature"].count("v1,") == 1
        assert received.verified(secret)["type"] == "order.created"


def test_a_fallback_of_the_secret_key_still_opens_secrets_and_reencryption_makes_it_unneeded(
    venue: Venue, settings: Settings
) -> None:
    _, secret = endpoints.create(venue, url="https://hooks.example.com/")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another" * 8
    assert signing_secrets.decrypt(WebhookEndpoint.objects.get().secret) == secret
    assert endpoints.reencrypt_secrets() == 0
    settings.SECRET_KEY_FALLBACKS = []
    assert signing_secrets.decrypt(WebhookEndpoint.objects.get().secret) == secret
    settings.SECRET_KEY = "a third" * 8
    assert endpoints.reencrypt_secrets() == 1


def test_a_secret_has_32_random_bytes_and_is_not_stored_as_it_is(venue: Venue) -> None:
    endpoint, secret = endpoints.create(venue, url="https://hooks.example.com/")
    assert secret.startswith("whsec_")
    assert len(secret) == len("whsec_") + 44
    assert secret.encode() not in bytes(endpoint.secret)
    assert secret != endpoints.create(venue, url="https://hooks.example.com/")[1]

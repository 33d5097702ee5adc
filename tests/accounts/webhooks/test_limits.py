"""Limits that protect servers of strangers: of endpoints at a venue, and of requests to an address by all venues."""

import threading
from datetime import timedelta

import pytest
from django.core.cache import caches
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Venue, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import address_limit, delivery_queue, dispatcher, endpoints
from tests.accounts.webhook_receivers import receiving
from tests.support import builders, users

pytestmark = pytest.mark.django_db(transaction=True)

EXTERNAL = "https://hooks.example.com/"


@pytest.fixture(autouse=True)
def _to_loopback(settings: Settings) -> None:
    """The receivers are here."""
    settings.WEBHOOKS_TO_LOOPBACK = True


def resolve_to_loopback(_host: str, _port: int) -> list[str]:
    return ["127.0.0.1"]


def deliver() -> bool:
    return dispatcher.run(clock=timezone.now, claim_s=20.0, resolver=resolve_to_loopback)


def begin_next_minute() -> None:
    caches["limits"].clear()
    WebhookEndpoint.objects.update(postponed_until=timezone.now() - timedelta(seconds=1))


def test_a_venue_has_at_most_twenty_endpoints(venue: Venue, other_venue: Venue) -> None:
    for number in range(endpoints.MAX_ENDPOINTS):
        endpoints.create(venue, url=f"{EXTERNAL}{number}")
    with pytest.raises(endpoints.TooManyEndpoints, match="A restaurant can have at most 20 webhook endpoints"):
        endpoints.create(venue, url=EXTERNAL)
    endpoints.create(other_venue, url=EXTERNAL)
    endpoints.delete(WebhookEndpoint.objects.filter(venue=venue).latest("pk"))
    endpoints.create(venue, url=EXTERNAL)
    assert WebhookEndpoint.objects.filter(venue=venue).count() == endpoints.MAX_ENDPOINTS == 20


def test_of_many_who_create_the_last_endpoint_at_once_one_succeeds(venue: Venue) -> None:
    for number in range(endpoints.MAX_ENDPOINTS - 1):
        endpoints.create(venue, url=f"{EXTERNAL}{number}")
    outcomes, start = [], threading.Barrier(6)

    def create() -> None:
        start.wait()
        try:
            endpoints.create(venue, url=EXTERNAL)
            outcomes.append("created")
        except endpoints.TooManyEndpoints:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["created"] + ["refused"] * 5


@pytest.mark.exhaustive
def test_one_endpoint_too_many_is_a_form_error_on_the_dashboard_and_in_the_back_office(venue: Venue) -> None:
    for number in range(endpoints.MAX_ENDPOINTS):
        endpoints.create(venue, url=f"{EXTERNAL}{number}")
    owner = users.member(venue)
    answer = owner.post(f"/dashboard/{venue.public_id}/webhooks/new", {"url": EXTERNAL})
    assert (answer.status_code, "at most 20 webhook endpoints" in answer.content.decode()) == (400, True)
    answer = builders.staff().post("/admin/accounts/webhookendpoint/add/", {"venue": venue.pk, "url": EXTERNAL})
    assert (answer.status_code, "at most 20 webhook endpoints" in answer.content.decode()) == (200, True)
    assert WebhookEndpoint.objects.filter(venue=venue).count() == 20


@pytest.mark.exhaustive
def test_many_venues_with_many_host_names_send_one_address_no_more_than_the_limit(settings: Settings) -> None:
    settings.WEBHOOK_ADDRESS_LIMIT = 30
    with receiving() as stranger:
        for number in range(8):
            venue = builders.venue(f"Venue {number}")
            for path in range(5):
                # Each endpoint has a host name of its own, as a wildcard record of DNS gives.
                endpoints.create(venue, url=f"http://n{number}.p{path}.example.com:{stranger.server_port}/")
            builders.event(venue, times=2)
        assert WebhookDelivery.objects.count() == 80
        assert deliver() is False
        assert len(stranger.received) == 30
        # The others wait. They have had no attempt, and their endpoints do not count as failing.
        waiting = WebhookDelivery.objects.filter(state="pending")
        assert set(waiting.values_list("attempts", "leased_until")) == {(0, None)}
        assert (waiting.count(), WebhookEndpoint.objects.exclude(failing_since=None).count()) == (50, 0)
        assert not delivery_queue.has_due(now=timezone.now())
        assert delivery_queue.has_due(now=timezone.now() + timedelta(seconds=90))
        for minute in (2, 3):
            begin_next_minute()
            deliver()
            assert len(stranger.received) == min(80, 30 * minute)
    assert WebhookDelivery.objects.filter(state="delivered").count() == 80
    assert len({received.headers["webhook-id"] for received in stranger.received}) == 16


def test_a_busy_address_delays_no_other_address(settings: Settings, venue: Venue, other_venue: Venue) -> None:
    settings.WEBHOOK_ADDRESS_LIMIT = 3
    with receiving() as busy, receiving() as quiet:
        endpoints.create(venue, url=f"http://busy.example.com:{busy.server_port}/")
        endpoints.create(other_venue, url=f"http://quiet.example.com:{quiet.server_port}/")
        builders.event(venue, times=10)
        builders.event(other_venue, times=3)
        dispatcher.run(
            clock=timezone.now,
            claim_s=20.0,
            resolver=lambda host, _port: ["127.0.0.2" if host.startswith("quiet") else "127.0.0.1"],
        )
        # The receiver listens on 127.0.0.1 only: the attempts at 127.0.0.2 are refused, but they were made.
        assert len(busy.received) == 3
    assert set(WebhookDelivery.objects.filter(endpoint__venue=other_venue).values_list("attempts", flat=True)) == {1}


def test_addresses_of_one_ipv6_network_share_a_limit(settings: Settings) -> None:
    settings.WEBHOOK_ADDRESS_LIMIT = 2
    for host in (1, 2):
        address_limit.check(f"2606:4700::{host}")
    with pytest.raises(address_limit.AddressBusy) as busy:
        address_limit.check("2606:4700::3")
    assert timedelta(0) < busy.value.wait <= timedelta(seconds=61)
    address_limit.check("2606:4700:0:1::3")


def test_limit_of_zero_is_no_limit(settings: Settings) -> None:
    settings.WEBHOOK_ADDRESS_LIMIT = 0
    for _ in range(5):
        address_limit.check("93.184.215.14")

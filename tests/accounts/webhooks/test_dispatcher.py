"""The pump: receivers that are slow, strange or many hold nobody up, and what came of a try is not lost."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Venue, WebhookDelivery
from accounts.webhooks import dispatcher, endpoints
from tests.accounts.webhook_receivers import Answer, Received, receiving
from tests.support import builders
from tests.support.live_stack import eventually

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _to_loopback(settings: Settings) -> None:
    """The receivers are here."""
    settings.WEBHOOKS_TO_LOOPBACK = True


def pumped(claim_s: float = dispatcher.CLAIM_S, timeout_s: float = 15.0) -> None:
    """A pump in a thread of its own."""
    try:
        dispatcher.run(clock=timezone.now, claim_s=claim_s, timeout_s=timeout_s)
    finally:
        connection.close()


@pytest.mark.exhaustive
def test_slow_receiver_does_not_delay_others(venue: Venue, other_venue: Venue) -> None:
    """It answers only when all that was sent elsewhere has arrived."""
    all_there = threading.Event()
    held = []

    def slowly(_: Received, before: int) -> Answer:
        all_there.wait(10)
        return Answer(200)

    def quickly(_: Received, before: int) -> Answer:
        if before == 14:
            held.append(len(slow.received))
            all_there.set()
        return Answer(200)

    with receiving(slowly) as slow, receiving(quickly) as quick:
        endpoints.create(venue, url=slow.url)
        endpoints.create(other_venue, url=quick.url)
        builders.event(venue, times=10, now=timezone.now() - timedelta(hours=1))
        builders.event(other_venue, times=15)
        dispatcher.run(clock=timezone.now, claim_s=8.0, timeout_s=15.0)
        assert (len(quick.received), len(slow.received)) == (15, 10)
    assert held == [4]
    assert WebhookDelivery.objects.filter(state="delivered").count() == 25


@pytest.mark.stack
def test_forty_hanging_receivers_do_not_delay_others(venue: Venue, other_venue: Venue) -> None:
    """With ten events each, from the first try on and while they are tried again."""
    over = threading.Event()
    # How many attempts to hanging receivers had begun when each event of the other venue was made, and when it came.
    made, arrived = [], []

    def hangs(_: Received, before: int) -> Answer:
        over.wait(10)
        return Answer(200)

    def quickly(_: Received, before: int) -> Answer:
        arrived.append(len(hanging.received))
        return Answer(200)

    with receiving(hangs) as hanging, receiving(quickly) as quick:
        venues = [venue, builders.venue()]
        for number in range(40):
            endpoints.create(venues[number % 2], url=f"{hanging.url}&number={number}")
        endpoints.create(other_venue, url=quick.url)
        for hanging_venue in venues:
            builders.event(hanging_venue, times=10, now=timezone.now() - timedelta(hours=1))
        pumping = threading.Thread(target=pumped, kwargs={"claim_s": 60.0, "timeout_s": 2.5})
        pumping.start()
        try:
            for number in range(12):
                made.append(len(hanging.received))
                builders.event(other_venue)
                assert eventually(lambda number=number: len(arrived) > number)  # type: ignore[misc]
                time.sleep(0.4)
        finally:
            over.set()
            pumping.join()
    # Behind the 400 that are older it would be more than 300.
    others = max(after - before for before, after in zip(made, arrived, strict=True))
    assert others <= dispatcher.MAX_THREADS


@pytest.mark.exhaustive
def test_what_comes_while_a_slow_try_is_under_way_is_sent_at_once_also_after_the_pump_takes_no_more_slow_ones(
    venue: Venue, other_venue: Venue
) -> None:
    over = threading.Event()

    def hangs(_: Received, before: int) -> Answer:
        over.wait(10)
        return Answer(200)

    with receiving(hangs) as hanging, receiving() as quick:
        endpoints.create(venue, url=hanging.url)
        endpoints.create(other_venue, url=quick.url)
        builders.event(venue)
        pumping = threading.Thread(target=pumped, kwargs={"claim_s": 0.1})
        pumping.start()
        time.sleep(1.0)
        builders.event(venue)
        builders.event(other_venue)
        assert eventually(lambda: len(quick.received) == 1)
        assert len(hanging.received) == 1
        over.set()
        pumping.join()


def test_one_pump_runs_at_a_time_and_a_worker_that_finds_it_is_free_at_once(venue: Venue) -> None:
    over = threading.Event()

    def hangs(_: Received, before: int) -> Answer:
        over.wait(10)
        return Answer(200)

    with receiving(hangs) as hanging:
        endpoints.create(venue, url=hanging.url)
        builders.event(venue)
        pumping = threading.Thread(target=pumped)
        pumping.start()
        while not hanging.received:
            time.sleep(0.01)
        builders.event(venue)
        assert dispatcher.run(clock=timezone.now) is False
        # It has not waited for the other one.
        assert pumping.is_alive()
        over.set()
        pumping.join()
        assert len(hanging.received) == 2


def bomb(_: Received, before: int) -> Answer:
    """A date in no year that there is."""
    return Answer(503, headers=(("Retry-After", "Mon, 01 Jan 99999999999999 00:00:00 GMT"),))


def test_receiver_with_an_invalid_header_affects_only_its_own_deliveries(venue: Venue, other_venue: Venue) -> None:
    with receiving(bomb) as faulty, receiving() as well:
        endpoint, _ = endpoints.create(venue, url=faulty.url)
        endpoints.create(other_venue, url=well.url)
        builders.event(venue)
        builders.event(other_venue, times=5)
        dispatcher.run(clock=timezone.now)
        assert len(well.received) == 5
    assert (endpoint.deliveries.get().last_status, endpoint.deliveries.get().leased_until) == (503, None)
    assert WebhookDelivery.objects.filter(state="delivered").count() == 5


def test_unexpected_exception_fails_only_that_delivery_attempt(
    venue: Venue, other_venue: Venue, caplog: pytest.LogCaptureFixture
) -> None:
    def resolver(host: str, port: int) -> list[str]:
        return ["no address"] if host == "strange.example.com" else ["127.0.0.1"]

    with receiving() as well:
        endpoint, _ = endpoints.create(venue, url="https://strange.example.com/")
        endpoints.create(other_venue, url=f"http://well.example.com:{well.server_port}/")
        builders.event(venue)
        builders.event(other_venue, times=5)
        dispatcher.run(clock=timezone.now, resolver=resolver)
        assert len(well.received) == 5
    delivery = endpoint.deliveries.get()
    assert (delivery.state, delivery.attempts, delivery.leased_until) == ("pending", 1, None)
    assert delivery.last_error == "an internal error occurred during the attempt"
    assert "could not be sent" in caplog.text
    assert WebhookDelivery.objects.filter(state="delivered").count() == 5


@pytest.mark.exhaustive
def test_results_of_attempts_are_stored_although_the_database_goes_away_in_between(venue: Venue) -> None:
    """Every connection of this database is ended while the answers are under way."""
    all_there = threading.Event()
    ended = threading.Event()

    def after_it(_: Received, before: int) -> Answer:
        if before == 3:
            all_there.set()
        ended.wait(10)
        return Answer(200)

    with receiving(after_it) as receiver:
        endpoints.create(venue, url=receiver.url)
        builders.event(venue, times=4)
        pumping = threading.Thread(target=pumped)
        pumping.start()
        assert all_there.wait(10)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        ended.set()
        pumping.join()
    assert len(receiver.received) == 4
    assert WebhookDelivery.objects.filter(state="delivered").count() == 4


def test_a_pump_that_ends_before_all_is_taken_says_so(venue: Venue) -> None:
    with receiving() as receiver:
        endpoints.create(venue, url=receiver.url)
        builders.event(venue, times=3)
        assert dispatcher.run(clock=timezone.now, claim_s=0) is True
        assert dispatcher.run(clock=timezone.now, claim_s=1) is False
        assert len(receiver.received) == 3


@pytest.mark.exhaustive
def test_a_run_for_one_venue_claims_nothing_after_its_time() -> None:
    """A client waits for the advance of a clock. Quick receivers do not go on while a slow one is awaited."""
    venue = builders.venue(is_sandbox=True)

    def slowly(_: Received, before: int) -> Answer:
        time.sleep(2)
        return Answer(200)

    def quickly(_: Received, before: int) -> Answer:
        time.sleep(0.1)
        return Answer(200)

    with receiving(slowly) as slow, receiving(quickly) as quick:
        endpoints.create(venue, url=slow.url)
        endpoints.create(venue, url=quick.url)
        builders.event(venue, times=30)
        more = dispatcher.run(clock=timezone.now, venue=venue.pk, claim_s=0.5, timeout_s=3.0)
        # Without the bound the quick one gets some twenty.
        assert len(quick.received) <= 6
        assert len(slow.received) == 1
    assert more is True

"""Who delivers what: claims that no two workers share, leases that are lost, and who comes first."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.conf import settings as project
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import Venue, WebhookDelivery, WebhookEndpoint
from accounts.tasks import sweep_webhooks
from accounts.webhooks import delivery_queue, dispatcher, endpoints
from accounts.webhooks.delivery_queue import Pace
from accounts.webhooks.http_client import Outcome
from config.celery import app
from tests.accounts.webhook_receivers import Answer, Received, receiving
from tests.support import builders
from tests.support.live_server import database_url

pytestmark = pytest.mark.django_db(transaction=True)

WELL = Outcome(status=200)
ILL = Outcome(status=500)


@pytest.fixture(autouse=True)
def _to_loopback(settings: Settings) -> None:
    """The receivers are here."""
    settings.WEBHOOKS_TO_LOOPBACK = True


def at_once(what: Callable[[], list[WebhookDelivery]], *, threads: int) -> list[list[WebhookDelivery]]:
    """What each of so many threads got, all begun together."""
    ready = threading.Barrier(threads)

    def run() -> list[WebhookDelivery]:
        ready.wait()
        try:
            return what()
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        return [begun.result() for begun in [pool.submit(run) for _ in range(threads)]]


@pytest.mark.exhaustive
def test_of_eight_workers_at_once_none_takes_what_another_has_nor_more_than_an_endpoint_bears(venue: Venue) -> None:
    well, _ = endpoints.create(venue, url="https://well.example.com/")
    failing, _ = endpoints.create(venue, url="https://failing.example.com/")
    now = timezone.now()
    WebhookEndpoint.objects.filter(pk=failing.pk).update(failing_since=now)
    builders.event(venue, times=10, now=now)

    def take() -> list[WebhookDelivery]:
        return [delivery for _ in range(6) for delivery in delivery_queue.claim_due(limit=16, now=now)]

    # A worker passes over an endpoint that another one holds: what is left after them is taken alone.
    taken = [delivery for some in [*at_once(take, threads=8), take()] for delivery in some]
    assert len({delivery.pk for delivery in taken}) == len(taken)
    assert Counter(delivery.endpoint_id for delivery in taken) == {well.pk: 4, failing.pk: 1}
    assert {delivery.attempts for delivery in taken} == {1}
    assert delivery_queue.claim_due(limit=16, now=now) == []
    delivery_queue.record_outcome(next(row for row in taken if row.endpoint_id == well.pk), WELL, now=now)
    assert [row.endpoint_id for row in delivery_queue.claim_due(limit=16, now=now)] == [well.pk]


def test_a_claim_leases_one_delivery_of_an_endpoint_whatever_the_planner_knows_of_the_tables(venue: Venue) -> None:
    endpoints.create(venue, url="https://well.example.com/")
    now = timezone.now()
    builders.event(venue, times=10, now=now)
    WebhookDelivery.objects.all().delete()
    with connection.cursor() as cursor:
        # As autovacuum does after the last row was deleted: the planner then reads the tables in another order.
        cursor.execute("ANALYZE accounts_webhookdelivery, accounts_webhookendpoint")
    builders.event(venue, times=10, now=now)
    assert [len(delivery_queue.claim_due(limit=16, now=now)) for _ in range(5)] == [1, 1, 1, 1, 0]


def test_a_claim_costs_the_same_for_one_and_for_fifteen(
    venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in (1, 14):
        for _ in range(number):
            endpoints.create(venue, url="https://hooks.example.com/")
        builders.event(venue)
        # BEGIN, endpoints, claim, rows, COMMIT.
        with django_assert_num_queries(5):
            taken = delivery_queue.claim_due(limit=100, now=timezone.now())
        assert len(taken) == WebhookEndpoint.objects.count()


@pytest.mark.exhaustive
def test_each_endpoint_is_served_before_any_is_served_twice(venue: Venue, other_venue: Venue) -> None:
    now = timezone.now()
    endpoints.create(venue, url="https://busy.example.com/")
    builders.event(venue, times=50, now=now - timedelta(hours=1))
    late, _ = endpoints.create(other_venue, url="https://late.example.com/")
    builders.event(other_venue, now=now)
    assert late.pk in [delivery.endpoint_id for delivery in delivery_queue.claim_due(limit=16, now=now)]


def test_a_lost_lease_is_taken_over_and_its_late_result_changes_nothing(venue: Venue) -> None:
    endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    builders.event(venue, now=now)
    (lost,) = delivery_queue.claim_due(limit=1, now=now)
    later = now + delivery_queue.LEASE + timedelta(seconds=1)
    (taken,) = delivery_queue.claim_due(limit=1, now=later)
    assert (taken.pk, taken.attempts) == (lost.pk, 2)
    assert delivery_queue.record_outcome(lost, ILL, now=later) is False
    assert WebhookEndpoint.objects.get().failing_since is None
    assert delivery_queue.record_outcome(taken, WELL, now=later) is True
    assert delivery_queue.record_outcome(lost, ILL, now=later) is False
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.last_status) == ("delivered", 2, 200)


def test_deliveries_of_a_clock_that_was_ahead_are_sent_when_it_is_right(venue: Venue) -> None:
    with receiving() as receiver:
        endpoints.create(venue, url=receiver.url)
        builders.event(venue, times=2)
        ahead = timezone.now() + timedelta(days=9)
        # The worker of one dies, the attempt of the other fails, and then the address is busy.
        delivery_queue.claim_due(limit=1, now=ahead)
        delivery_queue.record_outcome(delivery_queue.claim_due(limit=1, now=ahead)[0], ILL, now=ahead)
        WebhookEndpoint.objects.update(postponed_until=ahead)
        sweep_webhooks.run()
    assert len({received.headers["webhook-id"] for received in receiver.received}) == 2
    assert list(WebhookDelivery.objects.values_list("state", "attempts")) == [("delivered", 2)] * 2


def test_a_replay_does_not_take_a_late_result_for_its_own(venue: Venue) -> None:
    endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    builders.event(venue, now=now)
    (lost,) = delivery_queue.claim_due(limit=1, now=now)
    later = now + delivery_queue.LEASE + timedelta(seconds=1)
    assert endpoints.resend(lost, now=later) is True
    (taken,) = delivery_queue.claim_due(limit=1, now=later)
    assert (taken.attempts, lost.attempts) == (1, 1)
    assert delivery_queue.record_outcome(lost, WELL, now=later) is False
    assert WebhookDelivery.objects.get().state == "pending"


def test_what_is_lost_in_its_last_try_is_given_up_with_the_reason(venue: Venue) -> None:
    endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    builders.event(venue, now=now)
    WebhookDelivery.objects.update(attempts=9)
    delivery_queue.claim_due(limit=1, now=now)
    assert delivery_queue.fail_abandoned(now=now) == 0
    assert delivery_queue.fail_abandoned(now=now + delivery_queue.LEASE) == 1
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.last_error) == ("failed", "the worker stopped during the last attempt")


def test_an_event_written_while_its_endpoint_goes_off_does_not_wait_for_ever(venue: Venue) -> None:
    endpoint, _ = endpoints.create(venue, url="https://hooks.example.com/")
    builders.event(venue)
    now = timezone.now()
    WebhookEndpoint.objects.update(disabled_at=now, disabled_reason="staff")
    assert delivery_queue.claim_due(limit=1, now=now) == []
    assert delivery_queue.fail_abandoned(now=now) == 1
    assert endpoint.deliveries.get().last_error == "the endpoint was disabled"


def test_what_is_under_way_when_its_endpoint_goes_off_counts_and_is_not_tried_again(venue: Venue) -> None:
    endpoint, _ = endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    builders.event(venue, times=2, now=now)
    (first,) = delivery_queue.claim_due(limit=1, now=now)
    (second,) = delivery_queue.claim_due(limit=1, now=now)
    endpoints.disable(endpoint, now=now)
    assert delivery_queue.record_outcome(first, WELL, now=now) is True
    assert delivery_queue.record_outcome(second, ILL, now=now) is True
    assert sorted(WebhookDelivery.objects.values_list("state", flat=True)) == ["delivered", "failed"]


def test_an_endpoint_that_was_slow_gives_way_until_it_is_quick_again(venue: Venue) -> None:
    endpoint, _ = endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    builders.event(venue, times=3, now=now)
    (first,) = delivery_queue.claim_due(limit=1, now=now, pace=Pace.QUICK)
    delivery_queue.record_outcome(first, Outcome(status=200, is_slow=True), now=now)
    assert delivery_queue.claim_due(limit=1, now=now, pace=Pace.QUICK) == []
    (second,) = delivery_queue.claim_due(limit=1, now=now, pace=Pace.SLOW)
    delivery_queue.record_outcome(second, WELL, now=now)
    assert delivery_queue.claim_due(limit=1, now=now, pace=Pace.SLOW) == []
    assert len(delivery_queue.claim_due(limit=1, now=now, pace=Pace.QUICK)) == 1
    endpoint.refresh_from_db()
    assert (endpoint.is_slow, endpoint.failing_since) == (False, None)


def test_the_well_are_served_before_the_failing(venue: Venue) -> None:
    failing, _ = endpoints.create(venue, url="https://failing.example.com/")
    now = timezone.now()
    WebhookEndpoint.objects.update(failing_since=now)
    builders.event(venue, now=now - timedelta(hours=1))
    well, _ = endpoints.create(venue, url="https://well.example.com/")
    builders.event(venue, now=now)
    taken = [delivery_queue.claim_due(limit=1, now=now)[0].endpoint_id for _ in range(2)]
    assert taken == [well.pk, failing.pk]


@pytest.mark.parametrize("behind_s", [-30, -0.005, 0.005, 30])
def test_workers_whose_clocks_differ_send_no_more_to_an_endpoint_together(venue: Venue, behind_s: float) -> None:
    endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    builders.event(venue, times=10, now=now - timedelta(hours=1))
    assert sum(len(delivery_queue.claim_due(limit=1, now=now)) for _ in range(6)) == 4
    assert delivery_queue.claim_due(limit=16, now=now - timedelta(seconds=behind_s)) == []


WORKER = "from accounts.tasks import sweep_webhooks; sweep_webhooks()"


@pytest.mark.stack
def test_a_worker_that_is_killed_in_the_middle_of_a_try_is_made_up_for(venue: Venue) -> None:
    """kill -9 of a real process, after the receiver has the event and before it has answered."""
    has_it = threading.Event()

    def first_time_never(_: Received, before: int) -> Answer:
        if before == 0:
            has_it.set()
            time.sleep(0.5)
        return Answer(200)

    with receiving(first_time_never) as receiver:
        _, secret = endpoints.create(venue, url=receiver.url)
        builders.event(venue)
        worker = subprocess.Popen(
            [sys.executable, "manage.py", "shell", "-v", "0", "-c", WORKER],
            cwd=project.BASE_DIR,
            env={**os.environ, "DATABASE_URL": database_url(), "WEBHOOKS_TO_LOOPBACK": "true"},
        )
        assert has_it.wait(20)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        delivery = WebhookDelivery.objects.get()
        assert (delivery.state, delivery.attempts, delivery.last_status) == ("pending", 1, None)
        dispatcher.run(clock=timezone.now, claim_s=0.1)
        assert len(receiver.received) == 1
        dispatcher.run(clock=lambda: timezone.now() + delivery_queue.LEASE, claim_s=0.3)
    first, second = receiver.received
    assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])
    assert first.verified(secret)["type"] == "order.created"
    assert (WebhookDelivery.objects.get().state, WebhookDelivery.objects.get().attempts) == ("delivered", 2)


@pytest.mark.exhaustive
def test_the_beat_delivers_retires_and_purges_by_the_tasks_of_the_worker(venue: Venue) -> None:
    ours = {entry["task"] for entry in app.conf.beat_schedule.values() if "webhook" in entry["task"]}
    assert ours | {"accounts.tasks.purge_events"} <= set(app.tasks)
    assert ours == {"accounts.tasks.sweep_webhooks", "accounts.tasks.disable_failing_webhook_endpoints"}
    with receiving() as receiver:
        endpoints.create(venue, url=receiver.url)
        builders.event(venue)
        builders.event(venue, now=timezone.now() - timedelta(days=91))
        for task in (*sorted(ours), "accounts.tasks.purge_events"):
            app.tasks[task]()
        assert len(receiver.received) == 2
    # The old one went after it had arrived.
    assert WebhookDelivery.objects.get().state == "delivered"

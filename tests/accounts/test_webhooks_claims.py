"""Who delivers what: claims that no two workers share, leases that are lost, and receivers that hold nobody up."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from django.conf import settings as project
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts import events
from accounts.models import EventType, Venue, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import deliveries, endpoints, pump
from accounts.webhooks.deliveries import Pace
from accounts.webhooks.messages import Outcome
from config.celery import app
from tests.accounts.receivers import Answer, Received, receiving
from tests.served import database_url

pytestmark = pytest.mark.django_db(transaction=True)

WELL = Outcome(status=200)
ILL = Outcome(status=500)


@pytest.fixture(autouse=True)
def _to_loopback(settings: Settings) -> None:
    """The receivers are here."""
    settings.WEBHOOKS_TO_LOOPBACK = True


def happens(venue: Venue, *, times: int = 1, now: datetime | None = None) -> None:
    """Something happens at the venue."""
    for _ in range(times):
        events.record(
            venue,
            EventType.ORDER_CREATED,
            record={"id": "ord_1"},
            subject=None,
            actor="system",
            now=now or timezone.now(),
        )


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


def test_of_eight_workers_at_once_none_takes_what_another_has_nor_more_than_an_endpoint_bears(venue: Venue) -> None:
    well, _ = endpoints.create(venue, url="https://well.example.com/")
    failing, _ = endpoints.create(venue, url="https://failing.example.com/")
    now = timezone.now()
    WebhookEndpoint.objects.filter(pk=failing.pk).update(failing_since=now)
    happens(venue, times=10, now=now)

    def take() -> list[WebhookDelivery]:
        return [delivery for _ in range(6) for delivery in deliveries.claim(most=16, now=now)]

    taken = [delivery for some in at_once(take, threads=8) for delivery in some]
    assert len({delivery.pk for delivery in taken}) == len(taken)
    assert Counter(delivery.endpoint_id for delivery in taken) == {well.pk: 4, failing.pk: 1}
    assert {delivery.tries for delivery in taken} == {1}
    assert deliveries.claim(most=16, now=now) == []
    deliveries.settle(next(row for row in taken if row.endpoint_id == well.pk), WELL, now=now)
    assert [row.endpoint_id for row in deliveries.claim(most=16, now=now)] == [well.pk]


def test_a_claim_costs_the_same_for_one_and_for_forty(
    venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in (1, 40):
        for _ in range(number):
            endpoints.create(venue, url="https://hooks.example.com/")
        happens(venue)
        # BEGIN, endpoints, claim, rows, COMMIT.
        with django_assert_num_queries(5):
            taken = deliveries.claim(most=100, now=timezone.now())
        assert len(taken) == WebhookEndpoint.objects.count()


def test_each_endpoint_is_served_before_any_is_served_twice(venue: Venue, other_venue: Venue) -> None:
    now = timezone.now()
    endpoints.create(venue, url="https://busy.example.com/")
    happens(venue, times=50, now=now - timedelta(hours=1))
    late, _ = endpoints.create(other_venue, url="https://late.example.com/")
    happens(other_venue, now=now)
    assert late.pk in [delivery.endpoint_id for delivery in deliveries.claim(most=16, now=now)]


def test_a_lost_lease_is_taken_over_and_its_late_result_changes_nothing(venue: Venue) -> None:
    endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    happens(venue, now=now)
    (lost,) = deliveries.claim(most=1, now=now)
    later = now + deliveries.LEASE + timedelta(seconds=1)
    (taken,) = deliveries.claim(most=1, now=later)
    assert (taken.pk, taken.tries) == (lost.pk, 2)
    assert deliveries.settle(lost, ILL, now=later) is False
    assert WebhookEndpoint.objects.get().failing_since is None
    assert deliveries.settle(taken, WELL, now=later) is True
    assert deliveries.settle(lost, ILL, now=later) is False
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.tries, delivery.last_status) == ("delivered", 2, 200)


def test_a_replay_does_not_take_a_late_result_for_its_own(venue: Venue) -> None:
    endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    happens(venue, now=now)
    (lost,) = deliveries.claim(most=1, now=now)
    later = now + deliveries.LEASE + timedelta(seconds=1)
    assert endpoints.replay(lost, now=later) is True
    (taken,) = deliveries.claim(most=1, now=later)
    assert (taken.tries, lost.tries) == (1, 1)
    assert deliveries.settle(lost, WELL, now=later) is False
    assert WebhookDelivery.objects.get().state == "pending"


def test_what_is_lost_in_its_last_try_is_given_up_with_the_reason(venue: Venue) -> None:
    endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    happens(venue, now=now)
    WebhookDelivery.objects.update(tries=9)
    deliveries.claim(most=1, now=now)
    assert deliveries.tidy(now=now) == 0
    assert deliveries.tidy(now=now + deliveries.LEASE) == 1
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.last_error) == ("failed", "our worker stopped in the middle of the last try")


def test_an_event_written_while_its_endpoint_goes_off_does_not_wait_for_ever(venue: Venue) -> None:
    endpoint, _ = endpoints.create(venue, url="https://hooks.example.com/")
    happens(venue)
    now = timezone.now()
    WebhookEndpoint.objects.update(disabled_at=now, disabled_reason="staff")
    assert deliveries.claim(most=1, now=now) == []
    assert deliveries.tidy(now=now) == 1
    assert endpoint.deliveries.get().last_error == "the endpoint was switched off"


def test_what_is_under_way_when_its_endpoint_goes_off_counts_and_is_not_tried_again(venue: Venue) -> None:
    endpoint, _ = endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    happens(venue, times=2, now=now)
    (first,) = deliveries.claim(most=1, now=now)
    (second,) = deliveries.claim(most=1, now=now)
    endpoints.disable(endpoint, now=now)
    assert deliveries.settle(first, WELL, now=now) is True
    assert deliveries.settle(second, ILL, now=now) is True
    assert sorted(WebhookDelivery.objects.values_list("state", flat=True)) == ["delivered", "failed"]


def test_a_slow_receiver_holds_up_nobody_else(venue: Venue, other_venue: Venue) -> None:
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
        happens(venue, times=10, now=timezone.now() - timedelta(hours=1))
        happens(other_venue, times=15)
        pump.run(clock=timezone.now, takes_s=8.0, timeout_s=15.0)
        assert (len(quick.received), len(slow.received)) == (15, 10)
    assert held == [4]
    assert WebhookDelivery.objects.filter(state="delivered").count() == 25


def test_forty_receivers_that_hang_hold_up_nobody_else(venue: Venue, other_venue: Venue) -> None:
    """With ten events each, from the first try on and while they are tried again."""
    over = threading.Event()

    def hangs(_: Received, before: int) -> Answer:
        over.wait(10)
        return Answer(200)

    with receiving(hangs) as hanging, receiving() as quick:
        for number in range(40):
            endpoints.create(venue, url=f"{hanging.url}&number={number}")
        well, _ = endpoints.create(other_venue, url=quick.url)
        happens(venue, times=10, now=timezone.now() - timedelta(hours=1))
        pumping = threading.Thread(target=pumped, kwargs={"takes_s": 6.5, "timeout_s": 2.5})
        pumping.start()
        try:
            for _ in range(12):
                happens(other_venue)
                time.sleep(0.5)
        finally:
            over.set()
            pumping.join()
    waits = [
        (row.delivered_at - row.created_at).total_seconds()
        for row in WebhookDelivery.objects.filter(endpoint=well)
        if row.delivered_at is not None
    ]
    assert len(waits) == 12
    assert max(waits) < 2


def pumped(takes_s: float = pump.TAKES_S, timeout_s: float = 15.0) -> None:
    """A pump in a thread of its own."""
    try:
        pump.run(clock=timezone.now, takes_s=takes_s, timeout_s=timeout_s)
    finally:
        connection.close()


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
        happens(venue)
        pumping = threading.Thread(target=pumped, kwargs={"takes_s": 0.1})
        pumping.start()
        time.sleep(1.0)
        happens(other_venue)
        happens(venue)
        time.sleep(1.0)
        assert (len(hanging.received), len(quick.received)) == (1, 1)
        over.set()
        pumping.join()


def test_one_pump_runs_at_a_time_and_a_worker_that_finds_it_is_free_at_once(venue: Venue) -> None:
    over = threading.Event()

    def hangs(_: Received, before: int) -> Answer:
        over.wait(10)
        return Answer(200)

    with receiving(hangs) as hanging:
        endpoints.create(venue, url=hanging.url)
        happens(venue)
        pumping = threading.Thread(target=pumped)
        pumping.start()
        while not hanging.received:
            time.sleep(0.01)
        happens(venue)
        begun = time.monotonic()
        assert pump.run(clock=timezone.now) is False
        assert time.monotonic() - begun < 0.5
        over.set()
        pumping.join()
        assert len(hanging.received) == 2


def test_an_endpoint_that_was_slow_gives_way_until_it_is_quick_again(venue: Venue) -> None:
    endpoint, _ = endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    happens(venue, times=3, now=now)
    (first,) = deliveries.claim(most=1, now=now, pace=Pace.QUICK)
    deliveries.settle(first, Outcome(status=200, is_slow=True), now=now)
    assert deliveries.claim(most=1, now=now, pace=Pace.QUICK) == []
    (second,) = deliveries.claim(most=1, now=now, pace=Pace.SLOW)
    deliveries.settle(second, WELL, now=now)
    assert deliveries.claim(most=1, now=now, pace=Pace.SLOW) == []
    assert len(deliveries.claim(most=1, now=now, pace=Pace.QUICK)) == 1
    endpoint.refresh_from_db()
    assert (endpoint.is_slow, endpoint.failing_since) == (False, None)


def test_the_well_are_served_before_the_failing(venue: Venue) -> None:
    failing, _ = endpoints.create(venue, url="https://failing.example.com/")
    now = timezone.now()
    WebhookEndpoint.objects.update(failing_since=now)
    happens(venue, now=now - timedelta(hours=1))
    well, _ = endpoints.create(venue, url="https://well.example.com/")
    happens(venue, now=now)
    taken = [deliveries.claim(most=1, now=now)[0].endpoint_id for _ in range(2)]
    assert taken == [well.pk, failing.pk]


@pytest.mark.parametrize("behind_s", [-30, -0.005, 0.005, 30])
def test_workers_whose_clocks_differ_send_no_more_to_an_endpoint_together(venue: Venue, behind_s: float) -> None:
    endpoints.create(venue, url="https://hooks.example.com/")
    now = timezone.now()
    happens(venue, times=10, now=now - timedelta(hours=1))
    assert sum(len(deliveries.claim(most=1, now=now)) for _ in range(6)) == 4
    assert deliveries.claim(most=16, now=now - timedelta(seconds=behind_s)) == []


def bomb(_: Received, before: int) -> Answer:
    """A date in no year that there is."""
    return Answer(503, headers=(("Retry-After", "Mon, 01 Jan 99999999999999 00:00:00 GMT"),))


def test_a_receiver_with_a_strange_header_harms_nobody_but_itself(venue: Venue, other_venue: Venue) -> None:
    with receiving(bomb) as strange, receiving() as well:
        endpoint, _ = endpoints.create(venue, url=strange.url)
        endpoints.create(other_venue, url=well.url)
        happens(venue)
        happens(other_venue, times=5)
        pump.run(clock=timezone.now, takes_s=0.5)
        assert len(well.received) == 5
    assert (endpoint.deliveries.get().last_status, endpoint.deliveries.get().leased_until) == (503, None)
    assert WebhookDelivery.objects.filter(state="delivered").count() == 5


def test_a_try_that_ends_as_nobody_foresaw_is_a_failed_try_of_that_delivery_alone(
    venue: Venue, other_venue: Venue, caplog: pytest.LogCaptureFixture
) -> None:
    def resolver(host: str, port: int) -> list[str]:
        return ["no address"] if host == "strange.example.com" else ["127.0.0.1"]

    with receiving() as well:
        endpoint, _ = endpoints.create(venue, url="https://strange.example.com/")
        endpoints.create(other_venue, url=f"http://well.example.com:{well.server_port}/")
        happens(venue)
        happens(other_venue, times=5)
        pump.run(clock=timezone.now, takes_s=0.5, resolver=resolver)
        assert len(well.received) == 5
    delivery = endpoint.deliveries.get()
    assert (delivery.state, delivery.tries, delivery.leased_until) == ("pending", 1, None)
    assert delivery.last_error == "something of ours went wrong in the middle of the try"
    assert "could not be sent" in caplog.text
    assert WebhookDelivery.objects.filter(state="delivered").count() == 5


def test_what_came_of_tries_is_kept_where_the_database_goes_away_in_the_middle(venue: Venue) -> None:
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
        happens(venue, times=4)
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
        happens(venue, times=3)
        assert pump.run(clock=timezone.now, takes_s=0) is True
        assert pump.run(clock=timezone.now, takes_s=1) is False
        assert len(receiver.received) == 3


WORKER = "from accounts.tasks import sweep_webhooks; sweep_webhooks()"


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
        happens(venue)
        worker = subprocess.Popen(
            [sys.executable, "manage.py", "shell", "-v", "0", "-c", WORKER],
            cwd=project.BASE_DIR,
            env={**os.environ, "DATABASE_URL": database_url(), "WEBHOOKS_TO_LOOPBACK": "true"},
        )
        assert has_it.wait(20)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        delivery = WebhookDelivery.objects.get()
        assert (delivery.state, delivery.tries, delivery.last_status) == ("pending", 1, None)
        pump.run(clock=timezone.now, takes_s=0.1)
        assert len(receiver.received) == 1
        pump.run(clock=lambda: timezone.now() + deliveries.LEASE, takes_s=0.3)
    first, second = receiver.received
    assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])
    assert first.verified(secret)["type"] == "order.created"
    assert (WebhookDelivery.objects.get().state, WebhookDelivery.objects.get().tries) == ("delivered", 2)


def test_the_beat_delivers_retires_and_purges_by_the_tasks_of_the_worker(venue: Venue) -> None:
    ours = {entry["task"] for entry in app.conf.beat_schedule.values() if "webhook" in entry["task"]}
    assert ours | {"accounts.tasks.purge_events"} <= set(app.tasks)
    assert ours == {"accounts.tasks.sweep_webhooks", "accounts.tasks.retire_webhook_endpoints"}
    with receiving() as receiver:
        endpoints.create(venue, url=receiver.url)
        happens(venue)
        happens(venue, now=timezone.now() - timedelta(days=91))
        for task in (*sorted(ours), "accounts.tasks.purge_events"):
            app.tasks[task]()
        assert len(receiver.received) == 2
    # The old one went after it had arrived.
    assert WebhookDelivery.objects.get().state == "delivered"

"""Events: written in the transaction of what happens, told of after it, and deleted when their time is over."""

import threading
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
import redis
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from accounts.models import Event, EventType, Venue, WebhookDelivery, WebhookEndpoint
from accounts.tasks import purge_events
from accounts.webhooks import endpoints, outbox
from framework.db.batched_delete import delete_in_batches
from tests.support import builders

URL = "https://hooks.example.com/"


def happens(venue: Venue, kind: EventType = EventType.ORDER_CREATED, *, days_ago: int = 0) -> UUID:
    """Something happens at the venue."""
    now = timezone.now() - timedelta(days=days_ago)
    return outbox.record_event(venue, kind, record={"id": "ord_1"}, subject=uuid4(), actor="system", now=now)


def enqueued_tasks() -> int:
    """How many delivery tasks are enqueued; no worker runs in tests."""
    with redis.Redis.from_url(settings.CELERY_BROKER_URL) as broker:
        return int(broker.llen("webhooks"))


@pytest.mark.parametrize("wanted", [0, 1, 5])
def test_an_event_costs_one_statement_however_many_endpoints_hear_of_it(
    venue: Venue,
    wanted: int,
    django_assert_num_queries: DjangoAssertNumQueries,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    for _ in range(wanted):
        endpoints.create(venue, url=URL)
    with django_assert_num_queries(1), django_capture_on_commit_callbacks() as enqueued:
        happens(venue)
    assert WebhookDelivery.objects.filter(state="pending", attempts=0).count() == wanted
    assert len(enqueued) == (1 if wanted else 0)


def test_an_endpoint_that_is_off_or_wants_other_types_or_is_of_another_venue_hears_nothing(
    venue: Venue, other_venue: Venue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    off, _ = endpoints.create(venue, url=URL)
    endpoints.disable(off, now=timezone.now())
    endpoints.create(venue, url=URL, types=["reservation.created"])
    endpoints.create(other_venue, url=URL)
    with django_capture_on_commit_callbacks() as enqueued:
        happens(venue)
    assert (WebhookDelivery.objects.count(), enqueued) == (0, [])


def test_what_is_rolled_back_did_not_happen_and_enqueues_nothing(
    venue: Venue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    endpoints.create(venue, url=URL)

    def undone() -> None:
        with transaction.atomic():
            happens(venue)
            raise DatabaseError

    before = enqueued_tasks()
    with django_capture_on_commit_callbacks() as enqueued, pytest.raises(DatabaseError):
        undone()
    assert (Event.objects.count(), WebhookDelivery.objects.count(), enqueued) == (0, 0, [])
    assert enqueued_tasks() == before


@pytest.mark.django_db(transaction=True)
def test_an_order_does_not_wait_for_an_endpoint_that_is_being_deleted_and_does_not_fail_by_it(venue: Venue) -> None:
    gone, _ = endpoints.create(venue, url=URL)
    stays, _ = endpoints.create(venue, url=URL)
    locked, placed = threading.Event(), threading.Event()

    def delete() -> None:
        with transaction.atomic():
            WebhookEndpoint.objects.select_for_update().get(pk=gone.pk)
            locked.set()
            placed.wait(10)
            endpoints.delete(gone)
        connection.close()

    deleting = threading.Thread(target=delete)
    deleting.start()
    assert locked.wait(10)
    builders.order(venue)
    placed.set()
    deleting.join()
    assert [row.endpoint_id for row in WebhookDelivery.objects.all()] == [stays.pk]
    assert WebhookEndpoint.objects.get() == stays


@pytest.mark.django_db(transaction=True)
def test_an_endpoint_cannot_go_between_an_event_and_its_commit(venue: Venue) -> None:
    endpoint, _ = endpoints.create(venue, url=URL)

    def delete() -> None:
        endpoints.delete(endpoint)
        connection.close()

    with transaction.atomic():
        happens(venue)
        deleting = threading.Thread(target=delete)
        deleting.start()
        deleting.join(0.2)
        assert deleting.is_alive()
    deleting.join()
    assert (Event.objects.count(), WebhookDelivery.objects.count(), WebhookEndpoint.objects.count()) == (1, 0, 0)


def test_events_are_deleted_after_their_days_with_their_deliveries_unless_they_are_on_their_way(
    venue: Venue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint, _ = endpoints.create(venue, url=URL, types=["order.created"])
    old = happens(venue, days_ago=91)
    WebhookDelivery.objects.update(state="failed", next_attempt_at=None)
    on_its_way = happens(venue, days_ago=91)
    quiet = [happens(venue, EventType.ORDER_COMPLETED, days_ago=days) for days in (91, 92, 400)]
    young = happens(venue, days_ago=89)
    monkeypatch.setattr(delete_in_batches, "__kwdefaults__", {"batch": 2})
    purge_events()
    assert set(Event.objects.values_list("pk", flat=True)) == {on_its_way, young}
    assert set(WebhookDelivery.objects.values_list("event", flat=True)) == {on_its_way, young}
    assert old not in {on_its_way, young}
    assert len(quiet) == 3
    settings.EVENT_RETENTION_DAYS = 0
    Event.objects.filter(pk=young).update(created_at=timezone.now() - timedelta(days=31))
    purge_events()
    assert Event.objects.count() == 2
    settings.EVENT_RETENTION_DAYS = 30
    WebhookDelivery.objects.filter(event=young).update(state="failed", next_attempt_at=None)
    purge_events()
    assert Event.objects.get().pk == on_its_way
    assert endpoint.deliveries.count() == 1

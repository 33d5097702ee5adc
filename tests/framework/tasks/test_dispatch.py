"""Enqueuing a task costs a request next to nothing, also while the broker is away."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from celery import current_app
from django.conf import settings
from kombu import Connection

from catalogue.tasks import refresh_open_intervals
from config.celery import app
from framework.resilience.circuit_breaker import CircuitBreaker
from framework.tasks import dispatch
from framework.tasks.dispatch import enqueue


@pytest.fixture
def frozen_broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a broker that takes connections and never answers; tasks are sent there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        monkeypatch.setattr(app.conf, "broker_write_url", address)
        monkeypatch.setattr(dispatch, "breaker", CircuitBreaker("the message broker", fallback="work waits"))
        dispatch.broker_connection.cache_clear()
        yield address
        dispatch.broker_connection.cache_clear()


def test_a_frozen_broker_costs_one_caller_a_fifth_of_a_second_and_the_others_nothing(frozen_broker: str) -> None:
    began_at = time.perf_counter()
    for _ in range(100):
        enqueue(refresh_open_intervals)
    # A fifth of a second for each of them would be twenty seconds, and the client's own retries six.
    assert 0.2 <= time.perf_counter() - began_at < 5


def test_tasks_are_enqueued_again_once_the_broker_is_back(frozen_broker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    enqueue(refresh_open_intervals)
    monkeypatch.setattr(app.conf, "broker_write_url", settings.CELERY_BROKER_URL)
    dispatch.broker_connection.cache_clear()
    dispatch.breaker.next_probe_at = 0
    with Connection(settings.CELERY_BROKER_URL).SimpleQueue("dispatch", no_ack=True) as queue:
        queue.clear()
        enqueue(refresh_open_intervals, queue="dispatch")
        assert queue.get(timeout=5).headers["task"] == "catalogue.tasks.refresh_open_intervals"
        queue.clear()


def test_a_thread_of_the_web_server_enqueues_on_the_configured_broker() -> None:
    with Connection(settings.CELERY_BROKER_URL).SimpleQueue("dispatch", no_ack=True) as queue:
        queue.clear()
        thread = threading.Thread(target=lambda: enqueue(current_app.signature("some.task"), queue="dispatch"))
        thread.start()
        thread.join()
        assert queue.get(timeout=5).headers["task"] == "some.task"
        queue.clear()

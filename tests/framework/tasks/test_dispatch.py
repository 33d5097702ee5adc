"""The doorbell of the workers costs whoever rings it next to nothing."""

import socket
import time
from collections.abc import Iterator

import pytest
from django.conf import settings
from kombu import Connection

from catalogue.tasks import refresh_open_spans
from config.celery import app
from framework.resilience.circuit_breaker import Outage
from framework.tasks import dispatch


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a broker that takes connections and never answers, for which the bell rings."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        monkeypatch.setattr(app.conf, "broker_write_url", address)
        monkeypatch.setattr(dispatch, "outage", Outage("the broker", meanwhile="nobody is rung for"))
        dispatch.impatient.cache_clear()
        yield address
        dispatch.impatient.cache_clear()


def test_a_frozen_broker_costs_one_caller_a_fifth_of_a_second_and_the_others_nothing(frozen: str) -> None:
    began_at = time.perf_counter()
    for _ in range(20):
        dispatch.ring(refresh_open_spans, otherwise="the beat does")
    # The client's own retries alone would be six seconds.
    assert 0.2 <= time.perf_counter() - began_at < 2


def test_what_is_rung_for_again_once_the_broker_is_back_is_heard(frozen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dispatch.ring(refresh_open_spans, otherwise="the beat does")
    monkeypatch.setattr(app.conf, "broker_write_url", settings.CELERY_BROKER_URL)
    dispatch.impatient.cache_clear()
    dispatch.outage.rests_until = 0
    with Connection(settings.CELERY_BROKER_URL).SimpleQueue("bell", no_ack=True) as queue:
        queue.clear()
        dispatch.ring(refresh_open_spans, otherwise="the beat does", queue="bell")
        assert queue.get(timeout=5).headers["task"] == "catalogue.tasks.refresh_open_spans"
        queue.clear()

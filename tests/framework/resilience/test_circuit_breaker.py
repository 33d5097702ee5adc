"""The circuit breaker."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from framework.resilience.circuit_breaker import CircuitBreaker, State


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of the breakers, which the test moves."""
    now = [1000.0]
    monkeypatch.setattr("framework.resilience.circuit_breaker.time.monotonic", lambda: now[0])
    return now


def test_while_a_service_is_away_one_thread_probes_it_each_second(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    breaker = CircuitBreaker("the rate-limit store", fallback="each process counts for itself")
    assert [breaker.allow_request() for _ in range(3)] == [True] * 3
    breaker.record_failure(OSError("frozen"))
    states = [breaker.state]
    assert [breaker.allow_request() for _ in range(3)] == [False] * 3
    clock[0] = 1001.0
    with ThreadPoolExecutor(8) as threads:
        allowed = list(threads.map(lambda _: breaker.allow_request(), range(8)))
    assert sorted(allowed) == [False] * 7 + [True]
    states.append(breaker.state)
    breaker.record_success()
    assert [*states, breaker.state] == [State.OPEN, State.HALF_OPEN, State.CLOSED]
    assert [breaker.allow_request() for _ in range(3)] == [True] * 3
    assert [record.message for record in caplog.records] == [
        "circuit breaker open: the rate-limit store failed, each process counts for itself: frozen",
        "circuit breaker closed: the rate-limit store answers again",
    ]


def test_a_breaker_opens_after_its_threshold_of_failures_in_a_row(clock: list[float]) -> None:
    breaker = CircuitBreaker("a service", fallback="nothing", failure_threshold=2)
    breaker.record_failure("first")
    breaker.record_success()
    breaker.record_failure("first again")
    assert breaker.allow_request()
    breaker.record_failure("second")
    assert (breaker.state, breaker.allow_request()) == (State.OPEN, False)


def test_a_failed_probe_opens_the_breaker_for_another_recovery_time(clock: list[float]) -> None:
    breaker = CircuitBreaker("a service", fallback="nothing", recovery_s=5.0)
    breaker.record_failure("away")
    clock[0] += 5.0
    assert breaker.allow_request()
    breaker.record_failure("still away")
    clock[0] += 4.9
    assert not breaker.allow_request()
    clock[0] += 0.1
    assert breaker.allow_request()


def test_a_probe_that_never_returns_is_replaced_after_its_timeout(clock: list[float]) -> None:
    breaker = CircuitBreaker("a service", fallback="nothing", probe_timeout_s=8.0)
    breaker.record_failure("away")
    clock[0] += 1.0
    assert breaker.allow_request()
    clock[0] += 7.9
    assert not breaker.allow_request()
    clock[0] += 0.1
    assert breaker.allow_request()

"""Servers that are away."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from framework.resilience.circuit_breaker import Outage


def test_while_a_server_is_away_one_caller_a_second_finds_out_for_all_threads(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = [1000.0]
    monkeypatch.setattr("framework.resilience.circuit_breaker.time.monotonic", lambda: now[0])
    outage = Outage("the counters", meanwhile="each process counts for itself")
    assert [outage.may_ask() for _ in range(3)] == [True] * 3
    outage.begins(OSError("frozen"))
    assert [outage.may_ask() for _ in range(3)] == [False] * 3
    now[0] = 1001.0
    with ThreadPoolExecutor(8) as threads:
        asked = list(threads.map(lambda _: outage.may_ask(), range(8)))
    assert sorted(asked) == [False] * 7 + [True]
    outage.ends()
    assert [outage.may_ask() for _ in range(3)] == [True] * 3
    assert [record.message for record in caplog.records] == [
        "the counters: away, so each process counts for itself: frozen",
        "the counters: back",
    ]
